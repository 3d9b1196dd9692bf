"""Every attack on every game that it can be made on: the verdict, the reason, the entry and the exit code."""

from __future__ import annotations

import pytest

from referee.log.verdict import Verdict
from tests.attacks.corpus import TABLES, game
from tests.attacks.everything import ATTACKS
from tests.sizes import Part, in_parts


def test_the_games_are_complete() -> None:
    for name in TABLES:
        report = game(name).audit()
        assert report.verdict is Verdict.COMPLETE, (name, report.as_text())


@in_parts(3)
@pytest.mark.parametrize("name", ATTACKS)
def test_what_an_attack_comes_to(name: str, part: Part) -> None:
    """On a third of the games, each attack on another third; if it can be made on none of these, on the first other."""
    first = [*ATTACKS].index(name) % part.parts
    tables = [*TABLES][first:] + [*TABLES][:first]
    of_part = part.of(tables)
    made = 0
    for number, table in enumerate([*of_part, *(table for table in tables if table not in of_part)]):
        if made and number >= len(of_part):
            break
        played = game(table)
        forgery = ATTACKS[name](table, played)
        if forgery is None:
            continue
        made += 1
        report = forgery.audit(played)
        found = report.decisive
        assert found is not None, (table, "COMPLETE")
        told = (report.verdict, found.code, found.entry)
        assert told == (forgery.verdict, forgery.code, forgery.entry), (table, report.as_text())
        assert report.exit_code == int(forgery.verdict) != 0
    assert made, "there is no game for it"
