"""Event files of every version that was ever written check as on the day they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.log.entry import decode_entry
from referee.log.replay import Record
from referee.tournament.file import read
from referee.tournament.rules import TOURNAMENT
from tests.frozen.events import EVENTS, verdict_of
from tests.frozen.report import HERE

FILES = sorted(HERE.glob("*.eventlog"))


def test_there_are_frozen_events_of_this_version() -> None:
    """Each that the maker makes: Swiss with people who come and go, planned, by others, with byes, a knock-out."""
    assert {each.stem for each in FILES} >= set(EVENTS)
    assert all(name.startswith(f"event-{TOURNAMENT.version}-") for name in EVENTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_frozen_event_checks_as_it_did(path: Path) -> None:
    """The verdict, rounds, figures and standings are the same, to the last fraction. A later report may have more."""
    then, now = json.loads(path.with_suffix(".json").read_text()), verdict_of(path)
    assert then["check"]["verdict"] == "COMPLETE"
    assert _as_told_then(now, then) == then


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_act_leads_to_the_same_state(path: Path) -> None:
    """Each entry has the digest of the state after it, which the rules of today give as well."""
    _, entries, _ = read(path)
    record = Record(decode_entry(entries[0]).open)
    for data in entries:
        record.read(data)
        assert record.game.position.digest() == decode_entry(data).state_digest
    assert record.game.is_over


def _as_told_then(now: Any, then: Any) -> Any:
    if isinstance(then, dict):
        return {key: _as_told_then(now.get(key), value) for key, value in then.items()}
    if isinstance(then, list) and then and "layer" in then[0]:
        layers = {each["layer"]: each for each in now}
        return [_as_told_then(layers[each["layer"]], each) for each in then]
    return now
