"""Taking each protection of the auditor away in turn: something gets through, or another is named that notices it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.attacks import removal
from tests.attacks.everything import ATTACKS
from tests.attacks.protections import PROTECTIONS
from tests.core import needs_source
from tests.sizes import sample_of

PAGE = Path(__file__).parents[2] / "docs" / "security.md"


@needs_source
@pytest.mark.parametrize("protection", sample_of([*PROTECTIONS], 8))
def test_no_protection_is_for_nothing(protection: str) -> None:
    """The page has the row as it is: what gets through, and what else would notice."""
    found = removal.without(protection)
    assert found.through or found.doubled, "nothing notices that it is gone"
    assert removal.honest_games_broken(protection) == [], "more than the protection is gone"
    rows = PAGE.read_text().splitlines()
    assert found.row() in rows, f"docs/security.md is not up to date; run: make attack ARGS=--table\n{found.row()}"


@needs_source
def test_every_attack_meets_a_protection() -> None:
    """None is refused by something that this table does not know; that its rows are right is tested above."""
    rows = [line.split("|")[1:-1] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    table = [row for row in rows if row[0].strip() in PROTECTIONS]
    assert len(table) == len(PROTECTIONS)
    met = {re.sub(r" \(\w+\)$", "", name.strip()) for row in table for name in ",".join(row[2:]).split(",")}
    assert set(ATTACKS) == met - {"nothing", "-"}
