"""What template.yaml promises, one file a subject."""

from checks import api, book, deployer, deployment, functions, monitoring, parameters, permissions  # noqa: F401 (they register their checks)
from checks.stack import BREAKAGES, CHECKS, NEEDED, ROOT, Stack

__all__ = ["BREAKAGES", "CHECKS", "NEEDED", "ROOT", "Stack"]
