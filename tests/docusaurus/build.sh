#!/usr/bin/env bash
# Builds the sites in this folder with Docusaurus: `build.sh OUT`
#
# Writes OUT/site.jsonl and OUT/<variant>.jsonl (format: truth.mjs), the built sites as OUT/<variant>.build, and OUT/slugs.txt (format:
# slugs.mjs).
# Needs Node 20 and npm. Packages are installed once, in the cache; after that nothing uses the network.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "${1:?usage: build.sh OUT}"
out="$(cd "$1" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools/docusaurus"

if [ ! -d "$cache/node_modules" ] || ! cmp -s "$here/package.json" "$cache/package.json"; then
  echo "installing Docusaurus from npm"
  # Moved into place when complete, so that a broken installation is never used.
  rm -rf "$cache.new"
  mkdir -p "$cache.new"
  cp "$here/package.json" "$cache.new/"
  (cd "$cache.new" && npm install --loglevel=error --no-audit --no-fund --no-package-lock --ignore-scripts --no-update-notifier >/dev/null)
  rm -rf "$cache"
  mv "$cache.new" "$cache"
fi

# Sites share node_modules, where the bundler would keep a single cache for all of them.
export DOCUSAURUS_NO_PERSISTENT_CACHE=true
export BROWSERSLIST_IGNORE_OLD_DATA=1 NO_UPDATE_NOTIFIER=1
cp "$here/truth.mjs" "$here/slugs.mjs" "$cache/"
cd "$cache"

# Node searches for packages in the parents of a site's folder.
build() {
  local folder=$1 name
  name="$(basename "$folder")"
  rm -rf "work/$name" "$out/$name.jsonl"
  mkdir -p work
  cp -R "$folder" "work/$name"
  if ! node truth.mjs "work/$name" "$out/$name.jsonl" >"work/$name.log" 2>&1; then
    cat "work/$name.log" >&2
    return 1
  fi
  rm -rf "$out/$name.build"
  mv "work/$name/build" "$out/$name.build"
}

failed=0
build "$here/site" &
site=$!
node slugs.mjs "$out/slugs.txt"
for variant in "$here"/variants/*/; do
  build "$variant" || failed=1
done
wait "$site" || failed=1
exit "$failed"
