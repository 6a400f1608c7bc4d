# Shorthands for `just` (https://just.systems); nothing needs them. `just` lists them.

_list:
    @just --list --unsorted

# Index a book and answer on http://127.0.0.1:8080/
serve site="tests/fixtures/book" *options:
    cargo run -- serve "{{ site }}" {{ options }}

# Install what the tests need, and run them: all, or those of `cargo test`'s options
test *options:
    tests/run.sh {{ options }}

# Formatting, lints, dependencies, secrets
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --quiet -- -D warnings
    cargo deny --log-level error check
    infra/secrets.sh

# Check the deployment's template, the docs workflow's script and the page of costs
check:
    infra/check.sh
    infra/check_docker.sh
    python3 -m unittest infra/test_*.py tests/bench/test_*.py
    python3 infra/costs.py --check

# Build the functions' packages: --x86_64, --hosted-models
package *options:
    infra/package.sh {{ options }}

# Deploy the packages that were built, as samconfig.toml says: --config-env prod
deploy *options:
    sam deploy {{ options }}

# Ask a deployed API what a reader's browser asks: URL --origin ORIGIN
smoke url *options:
    infra/smoke_test.py "{{ url }}" {{ options }}

# Write what it costs into infra/costs.md
costs:
    python3 infra/costs.py --write

# Write docs/openapi.json from the types
openapi:
    BOOKRAG_TEST_UPDATE=1 cargo test --quiet -p bookrag-cli --lib --features openapi openapi
