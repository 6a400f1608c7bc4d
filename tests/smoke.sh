#!/usr/bin/env bash
# Runs infra/smoke_test.py, ordinary.py and hostile_questions.py against `bookrag serve` with the book of the tests.
#
# usage: tests/smoke.sh
#
# BOOKRAG names the binary; otherwise it is built. Needs Rust, Python and the local embedding model, which is downloaded once.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${BOOKRAG:-}" ]; then
  tests/build.sh
  BOOKRAG=target/debug/bookrag
fi
data=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$data"' EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
exec 3< <(BOOKRAG_DATA="$data" BOOKRAG_RERANKER=none BOOKRAG_CHAT_PER_MINUTE=1000 exec "$BOOKRAG" serve tests/fixtures/book --listen "127.0.0.1:$port" 2>&1)
server=$!
# The server prints its address once the book is indexed.
line=
until [[ $line == "ask at "* ]]; do
  read -r -t 300 line <&3 || { echo "error: $BOOKRAG did not start" >&2; exit 1; }
  echo "$line"
done
python3 infra/smoke_test.py "http://127.0.0.1:$port" --question "How do I install the wheels?"
python3 tests/ordinary.py "http://127.0.0.1:$port"
python3 tests/hostile_questions.py "http://127.0.0.1:$port" "$server"
