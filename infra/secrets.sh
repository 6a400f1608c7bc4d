#!/usr/bin/env bash
# Searches the files tracked by git, or about to be, for keys and passwords, and fails if it finds one.
#
# usage: infra/secrets.sh [FOLDER]
#
# Needs Python with pip and git. Kingfisher is installed from PyPI; its findings are never validated at their providers. A text that must
# look like a key, for example in a test, is allowed by a comment `kingfisher:ignore` on its line, with the reason.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

scanner="kingfisher-bin==2.14.0"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/secrets"
if [ "$(cat "$tools/installed" 2>/dev/null)" != "$scanner" ]; then
  echo "installing $scanner from PyPI"
  mkdir -p "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$scanner"
  echo "$scanner" >"$tools/installed"
fi

# Files instead of the folder, which also contains gigabytes of build output. Deleted files are still listed.
files=()
while IFS= read -r -d '' file; do
  if [ -f "$file" ]; then files+=("./$file"); fi
done < <(git ls-files -z --cached --others --exclude-standard)
if [ ${#files[@]} -eq 0 ]; then
  echo "error: git lists no file in $PWD" >&2
  exit 1
fi

found=0
report=$("$tools/bin/kingfisher" scan --no-validate --no-update-check --redact --git-history none --format pretty \
  --rule-cache-dir "$tools/rules" "${files[@]}" 2>&1) || found=$?
case $found in
  0) echo "no secret in ${#files[@]} files" ;;
  200 | 205)
    echo "$report" | grep -E '=>|Path\.|Line Num|Description'
    echo "error: there are secrets in the files above; take them out, and make new ones" >&2
    exit 1
    ;;
  *)
    echo "$report" >&2
    exit "$found"
    ;;
esac
