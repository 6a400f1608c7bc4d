#!/usr/bin/env bash
# Runs all of a deployment that needs no account: translates and checks the templates, tests the scripts, starts each function as Lambda does, uploads a
# book with the docs workflow's script to S3, and asks the whole (moto for S3 and SQS, Postgres, Qdrant's engine).
#
# usage: infra/dry_run.sh
#
# Needs what tests/run.sh needs. docs/deploy.md says what only an account shows.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== templates"
infra/check.sh
echo "== scripts"
python3 -m unittest --quiet infra/test_*.py
infra/check_docker.sh
python3 infra/costs.py --check
echo "== functions, upload and the whole"
tests/run.sh --test suite -- lambda_functions linked_crates docs_workflow local_cloud
echo "== smoke test"
tests/smoke.sh
