"""The second verifier on games by the rules of the table, and on attacks that it can see without the rules."""

from __future__ import annotations

import pytest

from referee.games import registry
from tests.attacks.corpus import TABLES, game
from tests.attacks.on_tables import ON_TABLES
from tests.log import seated
from tests.log.games import SIGNER
from tests.log.second import Refused, Verifier

SEEN = (
    "entry dated back",
    "stop that began too early",
    "result before the time to protest",
    "ruling signed by another",
    "words put in a mouth",
)


@pytest.mark.parametrize("rules_id", registry.names())
@pytest.mark.parametrize("name", ["contested", "corrected", "changed", "undealt"])
def test_whole_games(rules_id: str, name: str) -> None:
    played = seated.of(rules_id, name)
    assert len(Verifier(played.file(), str(SIGNER.verifier)).entries) == len(played.entries)


@pytest.mark.parametrize("name", SEEN)
def test_what_it_sees(name: str) -> None:
    """At the entry that the auditor names."""
    forgeries = [forgery for table in TABLES if (forgery := ON_TABLES[name](table, game(table))) is not None]
    assert forgeries
    for forgery in forgeries:
        with pytest.raises(Refused) as found:
            Verifier(forgery.data, str(SIGNER.verifier))
        assert found.value.entry == forgery.entry
