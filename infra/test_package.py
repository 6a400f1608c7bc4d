"""What infra/package.py puts into a function's package, and what it refuses."""

import struct
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from package import package

ENOUGH = 10_000


def binary(machine):
    return b"\x7fELF" + bytes(14) + struct.pack("<H", machine) + bytes(100)


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def package(self, content, architecture="arm64", limit=ENOUGH, models=()):
        (self.folder / "bootstrap").write_bytes(content)
        return package(self.folder, architecture, limit, models)

    def test_a_binary_for_another_processor_is_refused_by_its_name(self):
        self.package(binary(183))
        self.package(binary(62), "x86_64")
        with self.assertRaisesRegex(ValueError, "is for x86_64, not for arm64"):
            self.package(binary(62))
        with self.assertRaisesRegex(ValueError, "no Linux binary"):
            self.package(b"MZ" + bytes(30))

    def test_a_binary_for_a_newer_c_library_is_refused(self):
        self.package(binary(183) + b"\0GLIBC_2.17\0GLIBC_2.34\0")
        with self.assertRaisesRegex(ValueError, "needs glibc 2.39"):
            self.package(binary(183) + b"\0GLIBC_2.17\0GLIBC_2.39\0GLIBC_2.4\0")

    def test_what_lambda_would_not_unzip_is_refused(self):
        self.package(binary(183), limit=120)
        with self.assertRaisesRegex(ValueError, "fewer models"):
            self.package(binary(183), limit=119)

    def test_models_lie_below_their_names_and_the_same_build_makes_the_same_package(self):
        model = self.folder / "bge-small"
        model.mkdir()
        (model / "model.rten").write_bytes(b"weights")
        target, _ = self.package(binary(183), models=[model])
        first = target.read_bytes()
        with zipfile.ZipFile(target) as archive:
            self.assertEqual(archive.namelist(), ["bootstrap", "models/bge-small/model.rten"])
            self.assertEqual(archive.getinfo("bootstrap").external_attr >> 16, 0o755)
        (model / "model.rten").touch()
        self.assertEqual(self.package(binary(183), models=[model])[0].read_bytes(), first)

    def test_a_certificate_authority_has_a_fixed_name_and_something_else_is_refused(self):
        authority = self.folder / "eu-central-1.pem"
        authority.write_text("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
        (self.folder / "bootstrap").write_bytes(binary(183))
        target, _ = package(self.folder, "arm64", ENOUGH, [], authority)
        with zipfile.ZipFile(target) as archive:
            self.assertEqual(archive.namelist(), ["bootstrap", "database-ca.pem"])
        authority.write_text("-----BEGIN PRIVATE KEY-----")
        with self.assertRaisesRegex(ValueError, "no certificate"):
            package(self.folder, "arm64", ENOUGH, [], authority)


if __name__ == "__main__":
    unittest.main()
