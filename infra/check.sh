#!/usr/bin/env bash
# Checks the workflows, also those that other repositories copy (check_workflows.py). Checks template.yaml and those in infra/ without AWS:
# translates them like CloudFormation, tests their promises (check_template.py and checks/), and runs cfn-lint and checkov
# (.checkov.yaml lists accepted findings with reasons).
#
# usage: infra/check.sh
#
# Needs Python 3.11 or newer with pip. The first run installs infra/requirements.txt; later runs need no network. cfn-lint and checkov
# check the translated template, since they support SAM templates poorly.
set -euo pipefail
cd "$(dirname "$0")/.."
# cfn-lint and checkov read standard input, which may be closed.
exec </dev/null

tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/template-tools"
if ! cmp -s infra/requirements.txt "$tools/installed"; then
  echo "installing cfn-lint and checkov from PyPI"
  rm -rf "$tools"
  mkdir -p "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check -r infra/requirements.txt
  cp infra/requirements.txt "$tools/installed"
fi

# The machine's region and credentials must not affect the result.
export AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true PYTHONDONTWRITEBYTECODE=1
translated=$(mktemp -d)
trap 'rm -rf "$translated"' EXIT

"$tools/bin/python" infra/check_workflows.py infra/*-workflow.yml .github/workflows/*.yml

"$tools/bin/python" infra/check_template.py --self-test "$translated/template.json"

"$tools/bin/cfn-lint" "$translated/template.json"
"$tools/bin/cfn-lint" infra/monitoring.yaml infra/deployer.yaml infra/cloudfront.yaml
echo "cfn-lint: nothing to say"

cp infra/monitoring.yaml infra/deployer.yaml infra/cloudfront.yaml "$translated"
"$tools/bin/checkov" --config-file .checkov.yaml --directory "$translated"
echo "checkov: nothing to say"
