#!/usr/bin/env bash
# Writes shared/book/fixtures/docusaurus_pages.jsonl: generated pages, and what Docusaurus shows of them.
#
# Run it after a change of the generator or of Docusaurus's version, and after tests/docusaurus.sh, which installs Docusaurus. A build takes some
# minutes.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools/docusaurus"
site="$cache/work/combinations"
rm -rf "$site"
mkdir -p "$cache/work"
cp -R "$here/site" "$site"
cp "$here"/*.mjs "$cache/"
cd "$cache"
export DOCUSAURUS_NO_PERSISTENT_CACHE=true BROWSERSLIST_IGNORE_OLD_DATA=1 NO_UPDATE_NOTIFIER=1
node generate.mjs "$site"
(cd "$site" && node "$cache/node_modules/@docusaurus/core/bin/docusaurus.mjs" build --no-minify)
node expected.mjs "$site" "$here/../../../shared/book/fixtures/docusaurus_pages.jsonl"
