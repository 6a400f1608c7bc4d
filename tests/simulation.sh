#!/usr/bin/env bash
# Runs the simulation of ingest with new seeds until a number of minutes has passed. Prints the commit and the seeds, so that a failure can be
# replayed.
#
# usage: tests/simulation.sh MINUTES [FIRST_SEED]
#
# The first seed is the number of milliseconds since 1970, unless it is given.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:?usage: tests/simulation.sh MINUTES [FIRST_SEED]}
seed=${2:-$(date +%s)000}
# Histories between two looks at the clock.
at_once=500
simulation=(test --quiet --locked -p indexer --features embedded --lib)

cargo "${simulation[@]}" --no-run
commit=$(git rev-parse HEAD)
echo "commit $commit, from seed $seed"
SECONDS=0
first=$seed
while [ $SECONDS -lt $((minutes * 60)) ]; do
  if ! output=$(BOOKRAG_TEST_SEED=$seed BOOKRAG_TEST_HISTORIES=$at_once cargo "${simulation[@]}" -- simulation --skip missed 2>&1); then
    echo "$output"
    echo "error: at commit $commit a history from seed $seed fails; the output names its seed. To replay it:" >&2
    echo "  BOOKRAG_TEST_SEED=N cargo test -p indexer --features embedded --lib simulation" >&2
    exit 1
  fi
  seed=$((seed + at_once))
  echo "seeds $first to $((seed - 1)): no difference after $SECONDS s"
done
