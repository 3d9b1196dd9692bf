"""Logs of every version that was ever written audit as on the day they were made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.frozen.report import HERE, report_of

LOGS = sorted(HERE.glob("*.gamelog"))


def test_there_are_frozen_logs() -> None:
    assert len(LOGS) >= 5


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_frozen_log_audits_as_it_did(log: Path) -> None:
    """A later report may tell more; what it told then it still tells."""
    then, now = json.loads(log.with_suffix(".json").read_text()), json.loads(report_of(log))
    layers = {layer["layer"]: layer for layer in now.pop("layers")}
    assert all(layers.get(layer["layer"]) == layer for layer in then.pop("layers"))
    assert {key: now.get(key) for key in then} == then
