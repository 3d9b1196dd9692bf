"""Each protection of the auditor, and how to take it away: to see what gets through without it.

What is patched is the auditor alone; forgeries are made before.
"""

from tests.attacks.protections import of_files, of_trust, of_games  # noqa: F401, I001 - each puts its own into the table
from tests.attacks.protections.table import PROTECTIONS

__all__ = ["PROTECTIONS"]
