"""Games that declare components of their own: which may, and that every report says so."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from referee.games import registry
from referee.log.engines import installed
from referee.log.errors import Code, LogError
from referee.log.header import build_header
from referee.log.verdict import Policy, Verdict
from referee.wire.registry import codec
from tests.log.alhambra import at_random
from tests.log.games import SIGNER, Played, game_open, play, start


def a_game(rules_id: str, components: bytes, seats: int = 2) -> Played:
    """Whole, by anybody's moves. Raises ``LogError``."""
    game, wire = registry.get(rules_id), codec(rules_id, 1)
    header = build_header(rules_id, 1, game.catalogue, wire.signed_file(), "tests")
    opened = game_open(header, rules=(rules_id, 1), tables=components, seats=seats)
    return play(start(opened, header=header, engines=installed()), at_random(1))


def others(rules_id: str) -> Any:
    """Components that are not the default's: a mine with a crown less, a sheet with another track."""
    wire = codec(rules_id, 1)
    components = wire.decode_components(wire.encode_components(None))
    if rules_id == "rollwrite":
        return dataclasses.replace(components, name="mine", coin_track=30)
    return wire.decode_components(wire.encode_components(None).replace(b"\x08\x06\x10\x03", b"\x08\x06\x10\x02"))


@pytest.mark.parametrize(
    ("rules_id", "told"), [("kingdomino", "declared components"), ("rollwrite", "declared components mine")]
)
def test_declared_components_are_played_and_told(rules_id: str, told: str) -> None:
    wire = codec(rules_id, 1)
    components = wire.encode_components(others(rules_id))
    assert components != wire.encode_components(None)
    report = a_game(rules_id, components).audit(policy=Policy(SIGNER.verifier))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert f"comment: {told}, SHA-256 " in report.as_text()
    assert json.loads(report.as_json())["comments"][0].startswith(f"{told}, SHA-256 ")


def test_the_default_sheet_is_told_to_be_ours() -> None:
    report = a_game("rollwrite", codec("rollwrite", 1).encode_components(None)).audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert "not the printed one" in report.as_text()
    assert "declared components" not in report.as_text()


def test_alhambra_has_the_components_of_its_version() -> None:
    wire = codec("alhambra", 2)
    names = wire.decode_components(wire.encode_components(None)).names
    other = wire.encode_components(type(wire.decode_components(wire.encode_components(None)))(names[::-1]))
    with pytest.raises(LogError) as raised:
        a_game("alhambra", other)
    assert raised.value.code is Code.RULES
