"""What infra/rollback.py keeps of a stack, and what it deploys again, with a stand-in for the AWS CLI."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent / "rollback.py"
TEMPLATE = "Transform: AWS::Serverless-2016-10-31\nResources: {}\n"
STACK = {"Parameters": [{"ParameterKey": "SiteName", "ParameterValue": "My = Book"}, {"ParameterKey": "SecretRevision", "ParameterValue": "1"}]}
AWS = f"""#!{sys.executable}
import json, sys
answers = {{"get-template": {{"TemplateBody": {TEMPLATE!r}}}, "describe-stacks": {{"Stacks": [{STACK!r}]}}}}
with open("LOG", "a") as log:
    print(json.dumps(sys.argv[1:]), file=log)
if sys.argv[2] in answers:
    print(json.dumps(answers[sys.argv[2]]))
sys.exit(int("gone" in sys.argv))
"""


class Rollback(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"
        program = self.folder / "bin" / "aws"
        program.parent.mkdir()
        program.write_text(AWS.replace("LOG", str(self.log)))
        program.chmod(0o755)

    def run_script(self, *arguments):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run([sys.executable, SCRIPT, *arguments], env=os.environ | {"PATH": path}, capture_output=True, text=True)

    def test_what_was_saved_is_deployed_at_once_as_new_versions(self):
        before = str(self.folder / "before")
        self.assertEqual(self.run_script("save", "book", before).returncode, 0)
        restored = self.run_script("restore", "book", before, "packages", "arn:role")
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertEqual((Path(before) / "template.yaml").read_text(), TEMPLATE)
        overrides = dict(one.split("=", 1) for one in json.loads((Path(before) / "overrides.json").read_text()))
        self.assertEqual((overrides["SiteName"], overrides["DeploymentStrategy"]), ("My = Book", "AllAtOnce"))
        self.assertRegex(overrides["SecretRevision"], r"^back-\d{4}-\d{4}$")
        self.assertLessEqual(len(overrides["SecretRevision"]), 16)
        deployed = json.loads(self.log.read_text().splitlines()[-1])
        for pair in (["--s3-bucket", "packages"], ["--role-arn", "arn:role"], ["--stack-name", "book"]):
            self.assertIn(pair, [deployed[place : place + 2] for place in range(len(deployed))])

    def test_a_stack_that_does_not_exist_is_not_saved(self):
        self.assertNotEqual(self.run_script("save", "gone", str(self.folder / "before")).returncode, 0)


if __name__ == "__main__":
    unittest.main()
