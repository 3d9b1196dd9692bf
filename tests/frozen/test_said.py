"""English reports, score sheets and adjudications are byte for byte as they were before there were other languages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.frozen.said import FROZEN, LANGUAGE, digests


def test_what_is_said_in_english_has_not_changed(tmp_path: Path) -> None:
    """With ``--language en``: that this is the default is in every other test of these commands."""
    assert digests(tmp_path, *LANGUAGE) == json.loads(FROZEN.read_text(encoding="ascii"))
