"""Logs of every version that was ever written audit as on the day they were made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.text.notation.options import written
from tests.frozen.make import GAMES
from tests.frozen.report import LOGS, report_of

_YES_OR_NO = {"no": "false", "yes": "true"}


def _switch(name: str, off: str, on: str) -> tuple[str, Mapping[str, str]]:
    """Return what was ``yes`` or ``no`` in a header, ``true`` or ``false`` in a question."""
    return name, {"no": off, "false": off, "yes": on, "true": on}


_OPTIONS: Mapping[str, Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "alhambra": {
        "loop_one_less": _switch("loop_rule", "full", "one_less"),
        "end_when_bag_empty": _switch("end_rule", "market_unfilled", "bag_empty"),
        "slot_currencies": ("slot_currencies", {"0": "denar", "1": "dirham", "2": "ducat", "3": "guilder"}),
    },
    "kingdomino": {name: (name, _YES_OR_NO) for name in ("harmony", "mighty_duel", "wider_offer", "dynasty")},
    "rollwrite": {"against": _switch("solo", "points", "against")},
}
"""Options by their old names: each one's name today, and today's words for its old ones."""


def option_today(rules_id: str, name: str, value: Any) -> tuple[str, Any]:
    """Return an option and its value in a report, as they are written today."""
    today, words = _OPTIONS[rules_id].get(name, (name, {}))
    if not isinstance(value, str | bool):
        return today, value
    before = written(value)
    after = " ".join(words.get(word, word) for word in before.split(" "))
    return today, value if after == before else after


@pytest.mark.parametrize("game", registry.games(), ids=lambda game: f"{game.rules_id}-{game.version}")
def test_there_are_frozen_logs_of_every_version(game: Any) -> None:
    """Dealt, declared, with attempts, aborted: each that the maker makes, and they are what they are named."""
    name = f"{game.rules_id}-{game.version}-"
    own = [log.stem for log in LOGS if log.stem.startswith(name)]
    assert set(own) >= {made for made in GAMES if made.startswith(name)}
    for kind in ("dealt", "declared", "scribed", "attempts", "aborted", "contested", "corrected"):
        assert any(kind in stem for stem in own), kind


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_frozen_log_audits_as_it_did(log: Path) -> None:
    """A later report may have more; what it had then it still has, by today's names of options and layers."""
    kept = log.with_suffix(".json").read_text().replace('"proofs"', '"certificates"')
    then, now = json.loads(kept), json.loads(report_of(log))
    then["options"] = dict(option_today(then["rules"]["id"], *chosen) for chosen in then["options"].items())
    if result := then.get("result"):
        result["outcome"] = by_players(result["outcome"])
    layers = {layer["layer"]: layer for layer in now.pop("layers")}
    assert all(layers.get(layer["layer"]) == layer for layer in then.pop("layers"))
    assert _as_told_then(now, then) == then


def by_players(words: str) -> str:
    """Return an outcome in words that named seats, from 0, with players, from 1."""
    return re.sub(r"\bseat (\d+)", lambda seat: f"player {int(seat[1]) + 1}", words)


def _as_told_then(now: Any, then: Any) -> Any:
    """Return the report of today, reduced to the members that it had then."""
    return {key: _as_told_then(now.get(key), value) for key, value in then.items()} if isinstance(then, dict) else now
