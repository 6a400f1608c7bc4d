#!/usr/bin/env bash
# Installs the dependencies of the widget's tests, then runs all of them. Needs Node 20, npm, Chromium, and bookrag: `cargo build -p bookrag-cli`.
#
# `tests/widget.sh --no-browser` skips the tests that need a browser, and `tests/widget.sh --install` all tests.
set -euo pipefail
cd "$(dirname "$0")/../widget"

fail() {
  echo "error: $1" >&2
  exit 1
}
for command in node npm tar; do
  command -v "$command" >/dev/null || fail "no $command; install it"
done
[ "$(node --print 'process.versions.node.split(".")[0] >= 20')" = true ] || fail "Node $(node --version) is too old; the widget's tests need 20"

# Reinstalls packages if the lock file has changed since the last time.
install() {
  (
    cd "$1"
    cmp -s package-lock.json node_modules/.installed && exit
    echo "installing the packages of widget/${1#.} from npm"
    npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >/dev/null
    cp package-lock.json node_modules/.installed
  )
}

for lock in package-lock.json e2e/package-lock.json; do
  ! grep -q '"resolved"' "$lock" || fail "widget/$lock names hosts that packages come from; npm writes none with omit-lockfile-registry-resolved=true"
done

install .
if [ "${1:-}" = --install ]; then
  install e2e
  exit
fi
npm test --silent -- --test-reporter=dot
npm run --silent types
npm run --silent size
npm run --silent page -- --check
npm run --silent build
npm publish --dry-run --ignore-scripts --loglevel=error >/dev/null

[ "${1:-}" = --no-browser ] && exit

export BOOKRAG="${BOOKRAG:-$PWD/../target/debug/bookrag}"
[ -x "$BOOKRAG" ] || fail "no $BOOKRAG; run cargo build, or name the command in BOOKRAG"
for name in "${BOOKRAG_TEST_CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && command -v "$name" >/dev/null; then chromium=$name && break; fi
done
[ -n "${chromium:-}" ] || fail "no Chromium; install it or name it in BOOKRAG_TEST_CHROMIUM"

install e2e
cd e2e
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npx --no-install tsc
BOOKRAG_TEST_CHROMIUM=$chromium npx --no-install playwright test
