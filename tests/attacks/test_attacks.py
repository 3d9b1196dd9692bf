"""Every attack on every game that it can be made on: the verdict, the reason, the entry and the exit code."""

from __future__ import annotations

import pytest

from referee.log.verdict import Verdict
from tests.attacks.corpus import TABLES, game
from tests.attacks.everything import ATTACKS


def test_the_games_are_complete() -> None:
    for name in TABLES:
        report = game(name).audit()
        assert report.verdict is Verdict.COMPLETE, (name, report.as_text())


@pytest.mark.parametrize("name", ATTACKS)
def test_what_an_attack_comes_to(name: str) -> None:
    made = 0
    for table in TABLES:
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
