"""docs/exec-bots.schema.json: real traffic keeps to it, to the last member, and so does what the client understands."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.text.notation.questions import QueryError
from referee_clients.bots import Ending, Happening, Proposal, Table, load, protocol
from referee_clients.match import play_game
from tests.docs.shell import ROOT

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema, of the development tools")
SCHEMA = json.loads((ROOT / "docs" / "exec-bots.schema.json").read_text(encoding="utf-8"))
HEARS = """
import json, sys
with open({path!r}, "w") as out:
    for line in sys.stdin:
        print(line, end="", file=out, flush=True)
        ((kind, told),) = json.loads(line).items()
        if kind == "hello":
            print('{{"name":"x"}}', flush=True)
        elif kind == "turn":
            print('{{"move":0}}', flush=True)
"""


def strict(schema: Any) -> Any:
    """Return the schema with members that it does not name made wrong."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return closed | {name: strict(each) for name, each in schema.items()}


def valid(line: Any, kind: str, schema: Any = SCHEMA) -> bool:
    """Return True if the line keeps to this definition."""
    root = {**schema, "$ref": f"#/$defs/{kind}"}
    del root["oneOf"]
    return bool(jsonschema.Draft202012Validator(root).is_valid(line))


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert f'"protocol": {{ "const": {protocol.PROTOCOL} }}' in (ROOT / "docs" / "exec-bots.schema.json").read_text()


@pytest.mark.parametrize("game", registry.names())
def test_what_a_program_is_told_keeps_to_it_to_the_last_member(game: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(HEARS.format(path=str(tmp_path / "heard")))
    program = f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}"
    play_game([load(program, game), load("random", game, 1)], 1, game)
    told = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    closed = strict(SCHEMA)
    assert {kind for line in told for kind in line} == {"hello", "new", "turn", "end"}
    for line in told:
        assert valid(line, "told", closed), line


def test_what_a_program_is_told_only_at_a_referee_keeps_to_it() -> None:
    """Terms, a clock, and a proposal."""
    game = registry.get("kingdomino")
    state = game.new(2, None, None)
    since = (
        Happening(14, None, "chance", None, lambda: "line"),
        Happening(15, 1, "move", None, lambda: "seat 1: choose"),
    )
    table = Table(
        "kingdomino", 1, 0, 2, state.options, game.default_components(), "0" * 32, lambda: 5_000, since=lambda: since
    )
    told = [
        protocol.new(table),
        protocol.take_back(Proposal(15, 1, 12)),
        protocol.end(table, Ending("RESIGNED", (), (2, 1))),
    ]
    for line in told:
        assert valid(json.loads(line), "told", strict(SCHEMA)), line


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ({"move": 0}, True),
        ({"move": -1}, False),
        ({"move": "0"}, False),
        ({"move": True}, False),
        ({"move": 0, "resign": True}, False),
        ({"resign": True}, True),
        ({"resign": False}, False),
        ({"take_back": {"to": 3}}, True),
        ({"take_back": {"to": "3"}}, False),
        ({"protest": {"entry": 3, "rule": "KDO-6"}}, True),
        ({"protest": {"entry": 3}}, False),
        ({}, False),
    ],
)
def test_choices_are_understood_as_the_schema_has_them(said: dict[str, Any], is_right: bool) -> None:
    game = registry.get("kingdomino")
    table = Table("kingdomino", 1, 0, 2, None, game.default_components())
    try:
        protocol.choice_of(table, said, ("the only move",))
    except QueryError:
        understood = False
    else:
        understood = True
    assert understood == is_right == valid(said, "choice")


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ({"name": "x"}, True),
        ({"name": "x", "games": ["kingdomino"], "take_backs": True, "author": "me"}, True),
        ({"name": 7}, False),
        ({"games": []}, False),
        ({"name": "x", "games": "all"}, False),
        ({"name": "x", "take_backs": 1}, False),
    ],
)
def test_names_are_understood_as_the_schema_has_them(said: dict[str, Any], is_right: bool) -> None:
    try:
        protocol.games_of(said)
        protocol.answers_take_backs(said)
    except QueryError:
        understood = False
    else:
        understood = True
    assert understood == is_right == valid(said, "name")
