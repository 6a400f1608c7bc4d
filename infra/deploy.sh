#!/usr/bin/env bash
# Deploys a stack of samconfig.toml with the packages in target/lambda, after checking what `sam deploy` does not.
#
# usage: infra/deploy.sh STAGE [OPTION OF `sam deploy`]…
#
# STAGE is a name of samconfig.toml: default, staging, prod. Fails if a value is still FILL-IN or would be cut, or if a package is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
stage=${1:?usage: infra/deploy.sh STAGE [OPTION OF sam deploy]…}
shift

infra/samconfig.py --stage "$stage"
for function in query search health ingest; do
  package=target/lambda/$function/bootstrap.zip
  [ -f "$package" ] || { echo "error: there is no $package; run infra/package.sh, or unpack a release's archive" >&2; exit 1; }
done
# `sam deploy` would take the copy that `sam build` has left here in place of template.yaml.
rm -rf .aws-sam
exec sam deploy --config-env "$stage" "$@"
