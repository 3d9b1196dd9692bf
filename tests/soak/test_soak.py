"""A short soak: with no client, the referee holds what it held after its first games."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.soak import LIVES, Soak

SECONDS = 24


@pytest.mark.long
async def test_nothing_is_lost_and_nothing_stays(tmp_path: Path) -> None:
    soak = Soak(tmp_path, 1, SECONDS)
    await soak.run()
    print(soak.report())
    assert soak.kills == len(LIVES) - 1
    assert soak.games > 0
    assert soak.audited > 0
    assert soak.tokens > 0
    assert not [str(finding) for finding in soak.findings() if finding.is_broken]
