#!/usr/bin/env bash
# Tests `bookrag serve` and `bookrag mcp` against the Model Context Protocol: its official conformance suite, for both revisions, over HTTP; and
# a session of each revision over standard input and output.
#
# usage: tests/mcp.sh
#
# BOOKRAG names the binary; otherwise it is built. Needs Rust, Python, Node and npm. The suite is installed once, with a newer Node if the
# installed one is older than 22.
set -euo pipefail
cd "$(dirname "$0")/.."

SUITE=@modelcontextprotocol/conformance@0.2.0-alpha.12
NODE=node@22.23.3
cache="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools/mcp"
if [ "$(cat "$cache/installed" 2>/dev/null)" != "$SUITE $NODE" ]; then
  echo "installing the conformance suite from npm"
  # Moved into place when complete, so that a broken installation is never used.
  rm -rf "$cache.new"
  mkdir -p "$cache.new"
  echo '{"private": true}' >"$cache.new/package.json"
  quietly=(--loglevel=error --no-audit --no-fund --no-package-lock --no-update-notifier)
  (cd "$cache.new" && npm install "${quietly[@]}" --ignore-scripts "$SUITE" >/dev/null)
  if [ "$(node --print 'process.versions.node.split(".")[0] >= 22')" != true ]; then
    # The package's install script downloads the binary for this platform, also from npm.
    (cd "$cache.new" && npm install "${quietly[@]}" "$NODE" >/dev/null)
  fi
  echo "$SUITE $NODE" >"$cache.new/installed"
  rm -rf "$cache"
  mv "$cache.new" "$cache"
fi
node="$cache/node_modules/.bin/node"
[ -x "$node" ] || node=$(command -v node)

if [ -z "${BOOKRAG:-}" ]; then
  tests/build.sh
  BOOKRAG=target/debug/bookrag
fi
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
export BOOKRAG_DATA="$work/data" BOOKRAG_RERANKER=none
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
exec 3< <(exec "$BOOKRAG" serve tests/fixtures/book --listen "127.0.0.1:$port" 2>&1)
server=$!
line=
until [[ $line == "ask at "* ]]; do
  read -r -t 300 line <&3 || { echo "error: $BOOKRAG did not start" >&2; exit 1; }
done

# Everything that a revision requires of servers; tests/mcp/REVISION.yml lists the exceptions with reasons.
failed=0
for revision in 2025-11-25 2026-07-28; do
  if "$node" "$cache/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "http://127.0.0.1:$port/mcp" \
    --requirements "$revision" --expected-failures "tests/mcp/$revision.yml" --output-dir "$work/results" >"$work/log" 2>&1; then
    echo "$revision: passed"
  else
    echo "$revision: failed"
    sed -n '/=== SUMMARY/,$p' "$work/log"
    failed=1
  fi
done

python3 tests/mcp/stdio.py "$BOOKRAG" tests/fixtures/book || failed=1
exit "$failed"
