#!/usr/bin/env bash
# Builds the functions' packages for template.yaml: target/lambda/FUNCTION/bootstrap.zip.
#
# usage: infra/package.sh [--x86_64 | --arm64] [--local-models MODEL... | --hosted-models] [--database-ca FILE]
#
# Needs Rust and cargo-lambda (`pip install cargo-lambda ziglang`). Builds for arm64, the template's default, on any machine; with --x86_64
# for the template's Architecture=x86_64. The Rust target must be installed (`rustup target add aarch64-unknown-linux-gnu`).
# target/lambda/ARCHITECTURE records what was built.
#
# The packages include the model of the template's default Embedder, bge-small, in models/; --local-models names others (those of
# `bookrag models`). With --hosted-models they include none and are smaller, and Embedder must be openai or cohere. Lambda's limit is 250 MB
# unzipped; `sam deploy` uploads packages through S3, which has no lower limit. --database-ca adds the certificate authority of a database, for
# DatabaseCa=/var/task/database-ca.pem.
set -euo pipefail
from=$PWD
cd "$(dirname "$0")/.."

readonly MAX_UNZIPPED_BYTES=$((250 * 1024 * 1024))
architecture=arm64
features=(--features local-models)
models=()
database_ca=()
while [ $# -gt 0 ]; do
  case $1 in
    --arm64 | --x86_64) architecture=${1#--} ;;
    --hosted-models) features=() ;;
    --database-ca)
      file=${2:-}
      [[ $file == /* ]] || file=$from/$file
      [ -f "$file" ] || { echo "error: --database-ca needs a file; there is no $file" >&2; exit 2; }
      database_ca=(--database-ca "$file")
      shift
      ;;
    --local-models)
      while [ $# -gt 1 ] && [[ $2 != --* ]]; do
        models+=("$2")
        shift
      done
      ;;
    *)
      echo "error: $1 is not known; usage: infra/package.sh [--x86_64 | --arm64] [--local-models MODEL... | --hosted-models] [--database-ca FILE]" >&2
      exit 2
      ;;
  esac
  shift
done
if [ ${#features[@]} -eq 0 ] && [ ${#models[@]} -gt 0 ]; then
  echo "error: --local-models and --hosted-models exclude each other; choose one" >&2
  exit 2
fi
if [ ${#features[@]} -gt 0 ] && [ ${#models[@]} -eq 0 ]; then models=(bge-small); fi

# If the machine has the target architecture, nothing is cross-compiled.
case $(uname -m)-$architecture in
  aarch64-arm64 | arm64-arm64 | x86_64-x86_64) target=(--skip-target-check) ;;
  *-arm64) target=(--arm64) ;;
  *) target=(--x86-64) ;;
esac

folders=()
if [ ${#models[@]} -gt 0 ]; then
  mapfile -t folders < <(cargo run --quiet -- models "${models[@]}")
  # `folders` is filled from a command's output, which hides the command's exit code.
  [ ${#folders[@]} -eq ${#models[@]} ] || exit 1
fi

mkdir -p target/lambda
rm -f target/lambda/ARCHITECTURE
for function in query search health ingest; do
  cargo lambda build --quiet --release "${target[@]}" "${features[@]}" -p "$function"
  python3 infra/package.py "target/lambda/$function" "$architecture" "$MAX_UNZIPPED_BYTES" "${database_ca[@]}" "${folders[@]}"
done
echo "$architecture" >target/lambda/ARCHITECTURE
echo "for Architecture=$architecture (the template's default is arm64); models in the packages: ${models[*]:-none, so Embedder is openai or cohere}"
