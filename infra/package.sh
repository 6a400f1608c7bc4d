#!/usr/bin/env bash
# Builds the functions' packages as template.yaml deploys them: target/lambda/FUNCTION/bootstrap.zip.
#
# usage: infra/package.sh [--arm64] [--local-models [MODEL...]]
#
# Needs Rust and cargo-lambda (`pip install cargo-lambda ziglang`). Without --arm64 for this machine's architecture; with it the Rust target
# aarch64-unknown-linux-gnu must be there. With --local-models the functions hold models in themselves, in models/ (of `bookrag models`;
# bge-small unless told), so that nothing is embedded elsewhere. A package has at most 50 MB: an embedder and nothing else, or minilm with
# cross-encoder.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MAX_BYTES=$((50 * 1000 * 1000))
target=(--skip-target-check)
features=()
models=()
while [ $# -gt 0 ]; do
  case $1 in
    --arm64) target=(--arm64) ;;
    --local-models)
      features=(--features local-models)
      while [ $# -gt 1 ] && [[ $2 != --* ]]; do
        models+=("$2")
        shift
      done
      [ ${#models[@]} -gt 0 ] || models=(bge-small)
      ;;
    *)
      echo "error: $1 is not known; usage: infra/package.sh [--arm64] [--local-models [MODEL...]]" >&2
      exit 2
      ;;
  esac
  shift
done

folders=()
if [ ${#models[@]} -gt 0 ]; then
  mapfile -t folders < <(cargo run --quiet -- models "${models[@]}")
  # A failed command's output is not its exit code's.
  [ ${#folders[@]} -eq ${#models[@]} ] || exit 1
fi

for function in query search health ingest; do
  cargo lambda build --quiet --release "${target[@]}" "${features[@]}" -p "$function"
  python3 - "target/lambda/$function" "$MAX_BYTES" "${folders[@]}" <<'PY'
import pathlib, sys, zipfile

folder, limit, models = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
package = folder / "bootstrap.zip"
files = [(folder / "bootstrap", "bootstrap")]
for model in map(pathlib.Path, models):
    files += [(file, f"models/{model.name}/{file.name}") for file in sorted(model.iterdir())]
with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for file, name in files:
        # One time for all: the same build makes the same package, and a deployment of it changes nothing.
        entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o755 if name == "bootstrap" else 0o644) << 16
        archive.writestr(entry, file.read_bytes())
size = package.stat().st_size
print(f"{package}: {size / 1e6:.1f} MB")
if size > limit:
    sys.exit(f"error: {package} has {size} bytes, more than {limit}")
PY
done
