"""Parameters with spaces, as SAM reads them."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent / "samconfig.py"
sys.path.insert(0, str(SCRIPT.parent))
from samconfig import overrides, parsed, problems  # noqa: E402


class Parsed(unittest.TestCase):
    def test_a_quoted_value_arrives_whole(self):
        self.assertEqual(parsed('SiteName="My Book"'), {"SiteName": "My Book"})
        self.assertEqual(parsed(r"SiteName=My\ Book Secret=bookrag"), {"SiteName": "My Book", "Secret": "bookrag"})
        pem = r"-----BEGIN PUBLIC KEY-----\nMCow+/=\n-----END PUBLIC KEY-----\n"
        self.assertEqual(parsed(f'AuthPublicKey="{pem}"'), {"AuthPublicKey": pem})

    def test_what_would_be_cut_is_named(self):
        for override, dropped in [("SiteName=My Book", "`Book` of SiteName"), ("AuthPublicKey=-----BEGIN PUBLIC KEY-----", "PUBLIC")]:
            with self.assertRaisesRegex(ValueError, dropped):
                parsed(override)

    def test_one_text_of_all_parameters_is_read_as_sam_writes_it(self):
        stage = {"parameter_overrides": 'QdrantUrl="https://q.example.org" SiteName="My Book"'}
        self.assertEqual(overrides(stage), {"QdrantUrl": "https://q.example.org", "SiteName": "My Book"})

    def test_a_stage_that_is_deployed_is_filled_in(self):
        config = {"prod": {"deploy": {"parameters": {"parameter_overrides": ["QdrantUrl=FILL-IN", "Secret=book"]}}}}
        self.assertEqual(list(problems(config, ["prod"], filled=False)), [])
        self.assertEqual(list(problems(config, ["prod"], filled=True)), ["[prod]: QdrantUrl is still FILL-IN"])
        self.assertEqual(list(problems(config, ["test"], filled=True)), ["there is no [test.deploy.parameters]"])

    def test_the_command_names_the_stage(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('version = 0.1\n[prod.deploy.parameters]\nparameter_overrides = ["SiteName=My Book"]\n')
            file.flush()
            ran = subprocess.run([sys.executable, SCRIPT, file.name], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("[prod]: SAM drops `Book` of SiteName", ran.stderr)
        self.assertEqual(subprocess.run([sys.executable, SCRIPT]).returncode, 0)
        ran = subprocess.run([sys.executable, SCRIPT, "--stage", "prod"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("[prod]: AlarmEmail is still FILL-IN", ran.stderr)


if __name__ == "__main__":
    unittest.main()
