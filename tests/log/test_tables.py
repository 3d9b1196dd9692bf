"""Games that declare tables of their own: which may, and that every report says so."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from referee.games import registry
from referee.log.audit import Policy
from referee.log.engines import installed
from referee.log.errors import Code, LogError
from referee.log.header import build_header
from referee.log.verdict import Verdict
from referee.wire.registry import codec
from tests.log.alhambra import at_random
from tests.log.games import SIGNER, Played, game_open, play, start


def a_game(rules_id: str, tables: bytes, seats: int = 2) -> Played:
    """Whole, by anybody's moves. Raises ``LogError``."""
    game, wire = registry.get(rules_id), codec(rules_id, 1)
    header = build_header(rules_id, 1, game.catalogue, wire.signed_file(), "tests")
    opened = game_open(header, rules=(rules_id, 1), tables=tables, seats=seats)
    return play(start(opened, header=header, engines=installed()), at_random(1))


def others(rules_id: str) -> Any:
    """Tables that are not the default's: a mine with a crown less, a sheet with another track."""
    wire = codec(rules_id, 1)
    tables = wire.decode_tables(wire.encode_tables(None))
    if rules_id == "rollwrite":
        return dataclasses.replace(tables, name="mine", coin_track=30)
    return wire.decode_tables(wire.encode_tables(None).replace(b"\x08\x06\x10\x03", b"\x08\x06\x10\x02"))


@pytest.mark.parametrize(
    ("rules_id", "told"), [("kingdomino", "declared tables"), ("rollwrite", "declared tables mine")]
)
def test_declared_tables_are_played_and_told(rules_id: str, told: str) -> None:
    wire = codec(rules_id, 1)
    tables = wire.encode_tables(others(rules_id))
    assert tables != wire.encode_tables(None)
    report = a_game(rules_id, tables).audit(policy=Policy(SIGNER.verifier))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert f"remark: {told}, SHA-256 " in report.as_text()
    assert json.loads(report.as_json())["remarks"][0].startswith(f"{told}, SHA-256 ")


def test_the_default_sheet_is_told_to_be_ours() -> None:
    report = a_game("rollwrite", codec("rollwrite", 1).encode_tables(None)).audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert "not the printed one" in report.as_text()
    assert "declared tables" not in report.as_text()


def test_alhambra_has_the_tables_of_its_version() -> None:
    wire = codec("alhambra", 1)
    names = wire.decode_tables(wire.encode_tables(None)).names
    other = wire.encode_tables(type(wire.decode_tables(wire.encode_tables(None)))(names[::-1]))
    with pytest.raises(LogError) as raised:
        a_game("alhambra", other)
    assert raised.value.code is Code.RULES
