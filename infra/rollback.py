#!/usr/bin/env python3
"""Keeps a stack's template and parameters, and deploys them again: the way back after a deployment that readers should not have.

    infra/rollback.py save STACK FOLDER
    infra/rollback.py restore STACK FOLDER BUCKET [EXECUTION_ROLE]

BUCKET is that of the packages: the template is uploaded there, and the packages that it names are still there. Traffic moves back at once. The
catalog's tables stay as they are, since migrations only add. Needs the AWS CLI.
"""

import json
import subprocess
import sys
import time
from pathlib import Path


def aws(*arguments):
    """What the AWS CLI prints. Raises CalledProcessError if it fails."""
    return subprocess.run(["aws", "cloudformation", *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout


def save(stack, folder):
    folder.mkdir(parents=True, exist_ok=True)
    template = json.loads(aws("get-template", "--stack-name", stack, "--template-stage", "Original", "--output", "json"))["TemplateBody"]
    # A template in JSON is an object here.
    (folder / "template.yaml").write_text(template if isinstance(template, str) else json.dumps(template))
    found = json.loads(aws("describe-stacks", "--stack-name", stack, "--output", "json"))["Stacks"][0]
    parameters = {it["ParameterKey"]: it["ParameterValue"] for it in found.get("Parameters", [])}
    (folder / "parameters.json").write_text(json.dumps(parameters, indent=1))


def restore(stack, folder, bucket, role=None):
    parameters = json.loads((folder / "parameters.json").read_text())
    # Without another SecretRevision, Lambda might refuse to publish a version that it has already published.
    parameters |= {"DeploymentStrategy": "AllAtOnce", "SecretRevision": time.strftime("back-%m%d-%H%M", time.gmtime())}
    overrides = folder / "overrides.json"
    overrides.write_text(json.dumps([f"{name}={value}" for name, value in parameters.items()]))
    deploy = ["deploy", "--stack-name", stack, "--template-file", str(folder / "template.yaml"), "--s3-bucket", bucket, "--s3-prefix", stack]
    deploy += ["--capabilities", "CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND", "--parameter-overrides", f"file://{overrides}"]
    print(aws(*deploy, *(["--role-arn", role] if role else [])), end="")


def main():
    match sys.argv[1:]:
        case ["save", stack, folder]:
            save(stack, Path(folder))
        case ["restore", stack, folder, bucket, *role] if len(role) < 2:
            restore(stack, Path(folder), bucket, *role)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
