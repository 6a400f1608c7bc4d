"""Parameters with spaces, as SAM reads them."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent / "samconfig.py"
sys.path.insert(0, str(SCRIPT.parent))
from samconfig import parsed  # noqa: E402


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

    def test_the_command_names_the_stage(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('version = 0.1\n[prod.deploy.parameters]\nparameter_overrides = ["SiteName=My Book"]\n')
            file.flush()
            ran = subprocess.run([sys.executable, SCRIPT, file.name], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("[prod]: SAM drops `Book` of SiteName", ran.stderr)
        self.assertEqual(subprocess.run([sys.executable, SCRIPT]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
