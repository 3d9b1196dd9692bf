"""Whole games of Alhambra through the log: dealt, declared and scribed; played at random, audited, tampered with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.games.alhambra import Options, tile_set
from referee.games.alhambra.money import Currency
from referee.log.deck import Deck
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.intent import decode_intent
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Layer, Verdict
from tests.core import needs_source
from tests.log import evil, games
from tests.log.alhambra import CODEC, COMPONENTS, HEADER, alhambra, at_random
from tests.log.games import Played, play


@pytest.fixture(scope="module")
def dealt() -> Played:
    return play(alhambra(), at_random(2))


@pytest.mark.parametrize(
    "kind",
    [{}, {"seats": 3, "scribed": (1,)}, {"dealt": False}, {"dealt": False, "seats": 4, "scribed": (0, 1, 2, 3)}],
    ids=str,
)
def test_whole_games(kind: dict[str, Any]) -> None:
    played = play(alhambra(**kind), at_random(1))
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.ending in ("ENDING_RULES", "ENDING_STALLED")
    assert report.deck_checked == (report.chance == "dealt")
    assert report.remarks == ()
    assert Record.replay(played.entries).head == played.record.head


def test_cheap_towers() -> None:
    """25: 54 well-formed names that are not the version's own tiles."""
    names = list(COMPONENTS.names)
    names[names.index("tower-13-E")] = "tower-1-E"
    for changed in (names, COMPONENTS.names[::-1]):
        components = CODEC.encode_components(tile_set(tuple(changed)))
        opened = games.game_open(HEADER, rules=("alhambra", 2), tables=components)
        with pytest.raises(LogError) as caught:
            games.start(opened, header=HEADER, engines=installed())
        assert (caught.value.code, caught.value.entry) == (Code.RULES, 0)


def test_descriptors_without_the_game() -> None:
    header = games.small_header("alhambra")
    opened = games.game_open(header, rules=("alhambra", 2), tables=CODEC.encode_components(None))
    played = games.abort(games.start(opened, header=header, engines=installed()))
    report = played.audit()
    assert report.decisive is not None
    assert (report.decisive.code, report.decisive.entry) == (Code.HEADER, 0)


def test_chosen_options_are_in_the_report() -> None:
    options = CODEC.encode_options(Options(max_turns=1, slot_currencies=tuple(reversed(Currency))))
    report = play(alhambra(options=options), at_random(3)).audit()
    assert report.verdict is Verdict.COMPLETE
    assert "options: max_turns 1, slot_currencies guilder ducat dirham denar\n" in report.as_text()
    assert json.loads(report.as_json())["options"] == {
        "max_turns": 1,
        "slot_currencies": ["guilder", "ducat", "dirham", "denar"],
    }


@needs_source
def test_labels_in_use(dealt: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every label that a game of Alhambra asks for is one that docs/log-format.md names, and is asked for once."""
    asked: list[str] = []
    words = Deck.words

    def spy(deck: Deck, label: str) -> Any:
        asked.append(label)
        return words(deck, label)

    monkeypatch.setattr(Deck, "words", spy)
    Record.replay(dealt.entries, secret=games.SECRET)
    fixed = {"shuffle/tiles/0", "shuffle/money/0", "pile/2", "pile/4"}
    assert fixed <= set(asked)
    assert all(label in fixed or label.startswith("shuffle/money/") for label in asked)
    assert len(asked) == len(set(asked))


def test_an_outcome_dealt_out_of_order(dealt: Played) -> None:
    """22: market tiles that come later are dealt now; everything is signed again, by players as well."""
    entries = evil.entries(dealt)
    market = [i for i, e in enumerate(entries) if e.HasField("chance") and e.chance.outcome.startswith(b"\x12")]
    at, later = market[0], market[5]

    def edit(changed: list[log_pb2.Entry]) -> None:
        changed[at].chance.outcome = entries[later].chance.outcome

    report = dealt.audit(evil.forged(dealt, edit, players=True))
    assert report.exit_code == 8
    first = report.decisive
    assert first is not None
    assert first.entry == at
    assert first.code in (Code.DECK, Code.RULES)


def test_a_legal_move_replaced_by_a_legal_one(dealt: Played) -> None:
    """11: the position is as good, the signature is not."""
    at, other = first_choice(dealt)

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = decode_intent(changed[at].signed.intent)
        act.move = other
        changed[at].signed.intent = act.SerializeToString(deterministic=True)

    report = dealt.audit(evil.forged(dealt, edit))
    assert report.verdict is Verdict.CORRUPT
    authors = next(finding for finding in report.findings if finding.layer is Layer.AUTHORS)
    assert (authors.code, authors.entry) == (Code.AUTHOR_SIGNATURE, at)


def first_choice(played: Played) -> tuple[int, bytes]:
    """Where a seat had a choice, and what it could have done instead."""
    record = Record(decode_entry(played.entries[0]).open)
    for at, data in enumerate(played.entries):
        entry = decode_entry(data)
        if entry.HasField("signed"):
            act = decode_intent(entry.signed.intent)
            if act.HasField("move"):
                moves = (CODEC.encode_move(move, COMPONENTS) for move in record.game.position.state.legal_moves())
                if (other := next((move for move in moves if move != act.move), None)) is not None:
                    return at, other
        record.read(data)
    pytest.fail("no choice in the whole game")
