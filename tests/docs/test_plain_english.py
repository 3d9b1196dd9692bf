"""The pages avoid turns of phrase that a native reader has to decode."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.shell import ROOT

MADE = {ROOT / "docs" / "theorems.md", *(ROOT / "docs" / "rules").glob("*.md")}
"""Made from texts in the code."""
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "clients").glob("*/README.md")} - MADE)
SAY_INSTEAD = {
    r"\bso (?:many|much|long)\b(?! as)": "this many, this much, this long",
    r"(?:^|[.:;] )Of (?!course)": "a sentence with a subject and a verb",
    r"(?:^|\. )Whoever\b|\b(?:by|for|of|to) whoever\b": "anyone who …, the player who …",
    r"\btells of\b": "reports",
    r"\bLikewise\b": "a sentence of its own",
    r"\bheld against\b": "compared with",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_it_reads_without_decoding(page: Path) -> None:
    prose = re.sub(r"^```.*?^```|^    .*?$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for pattern, better in SAY_INSTEAD.items():
        found = [match[0] for match in re.finditer(pattern, prose, re.MULTILINE)]
        assert found == [], f"say {better}"
