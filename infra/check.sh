#!/usr/bin/env bash
# Checks the workflows that other repositories copy (check_workflows.py), and template.yaml, infra/monitoring.yaml and infra/deployer.yaml
# without AWS: translated as CloudFormation would, held to what they
# promise (check_template.py and checks/), linted (cfn-lint), looked through for what is not safe (checkov; .checkov.yaml has what it may not find, and why).
#
# usage: infra/check.sh
#
# Needs Python 3.11 or newer with pip. The first run installs infra/requirements.txt; from then on nothing is fetched. cfn-lint and checkov
# look at the translated template: of the other they understand little.
set -euo pipefail
cd "$(dirname "$0")/.."
# cfn-lint and checkov look at it, and may find it closed.
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

# No region and no credentials of the machine's: nothing here may depend on them.
export AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true PYTHONDONTWRITEBYTECODE=1
translated=$(mktemp -d)
trap 'rm -rf "$translated"' EXIT

"$tools/bin/python" infra/check_workflows.py infra/*-workflow.yml

"$tools/bin/python" infra/check_template.py --self-test "$translated/template.json"

# W2001: the translator has put DeploymentStrategy's value in its place. check_template.py looks for parameters that nothing uses.
# W3011: what is replaced is kept for the requests that still reach it, and goes with the stack all the same.
"$tools/bin/cfn-lint" --ignore-checks W2001 W3011 -- "$translated/template.json"
"$tools/bin/cfn-lint" infra/monitoring.yaml infra/deployer.yaml
echo "cfn-lint: nothing to say"

cp infra/monitoring.yaml "$translated"
"$tools/bin/checkov" --config-file .checkov.yaml --directory "$translated"
echo "checkov: nothing to say"
