"""Whole games of all registered rules through the log: dealt, declared, scribed; audited, tampered with."""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
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
from tests.log.games import Played, abort, join_and_reveal, play, step
from tests.log.registered import KINDS, at_random, codec, header, opened, play_with_attempts
from tests.sizes import sample_of

NAMES = registry.names()
DOCS = Path(__file__).parent.parent.parent / "docs"
_GAMES: dict[str, Played] = {}


def dealt(rules_id: str) -> Played:
    """Return a dealt game of two, played to its end; made once."""
    if rules_id not in _GAMES:
        _GAMES[rules_id] = play(opened(rules_id), at_random(2))
    return _GAMES[rules_id]


def seat_counts() -> list[tuple[str, int]]:
    return [
        (name, seats)
        for name in NAMES
        for game in (registry.get(name),)
        for seats in sorted({game.min_seats, 3, game.max_seats})
    ]


@pytest.mark.parametrize(
    ("rules_id", "seats", "kind"), sample_of([(*table, kind) for table in seat_counts() for kind in KINDS], 16)
)
def test_whole_games(rules_id: str, seats: int, kind: str) -> None:
    terms = dict(KINDS[kind])
    if "scribed" in terms:
        terms["scribed"] = tuple(seat for seat in terms["scribed"] if seat < seats)
        if terms["scribed"] == ():
            terms["scribed"] = (0,) if "dealt" in terms else ()
    played = play(opened(rules_id, seats=seats, **terms), at_random(1))
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.ending in ("ENDING_RULES", "ENDING_STALLED")
    assert report.deck_checked == (report.chance == "dealt")
    assert report.remarks == tuple(map(str, played.record.game.position.about_opening()))
    assert len(report.scores) == len(report.places) == seats
    assert Record.replay(played.entries).head == played.record.head


@pytest.mark.parametrize("rules_id", NAMES)
def test_attempts_are_recorded(rules_id: str) -> None:
    played = play_with_attempts(opened(rules_id, recorded=True), seed=3)
    refused = [entry for entry in evil.entries(played) if entry.HasField("refused")]
    assert len(refused) >= 5
    known = {rule.id for rule in registry.get(rules_id).catalogue}
    assert all(entry.refused.rule_ids and known.issuperset(entry.refused.rule_ids) for entry in refused)
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()

    def lie(changed: list[log_pb2.Entry]) -> None:
        """The first refusal names another rule than is broken."""
        at = next(i for i, entry in enumerate(changed) if entry.HasField("refused"))
        other = next(rule for rule in sorted(known) if rule not in changed[at].refused.rule_ids)
        changed[at].refused.rule_ids[:] = [other]

    assert played.audit(evil.forged(played, lie, players=True)).verdict is Verdict.RULES


@pytest.mark.parametrize("acts", [0, 1, 7, 20])
@pytest.mark.parametrize("rules_id", NAMES)
def test_a_game_can_be_aborted_at_any_time(rules_id: str, acts: int) -> None:
    for is_dealt in (True, False):
        played = opened(rules_id, dealt=is_dealt)
        if acts:
            join_and_reveal(played)
        for _ in range(acts):
            assert step(played, at_random(acts))
        report = abort(played).audit()
        assert (report.verdict, report.ending) == (Verdict.COMPLETE, "ENDING_ABORTED"), report.as_text()
        assert report.scores == ()


@needs_source
@pytest.mark.parametrize("rules_id", NAMES)
def test_labels_in_use(rules_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every label that the deck is asked for is asked for once, and documented; numbers in it may be any."""
    played, asked, words = dealt(rules_id), list[str](), Deck.words

    def spy(deck: Deck, label: str) -> Any:
        asked.append(label)
        return words(deck, label)

    monkeypatch.setattr(Deck, "words", spy)
    record = Record.replay(played.entries, secret=games.SECRET)
    assert record.head == played.record.head
    assert asked
    assert len(asked) == len(set(asked))
    pages = [DOCS / "log-format.md", DOCS / f"{rules_id}-state.md"]
    named = {label for page in pages for label in re.findall(r"`([a-z0-9/-]+)`", page.read_text(encoding="utf-8"))}
    assert {numbered(label) for label in asked} <= {numbered(label) for label in named}


def numbered(label: str) -> str:
    return re.sub(r"\b(\d+|n)\b", "0", label)


@pytest.mark.parametrize("rules_id", NAMES)
def test_no_outcome_but_the_decks(rules_id: str) -> None:
    """Another outcome that the rules allow, everything signed again: the deck shows it at the entry."""
    played = dealt(rules_id)
    record = Record(decode_entry(played.entries[0]).open)
    others: list[tuple[int, bytes]] = []
    for at, data in enumerate(played.entries):
        entry = decode_entry(data)
        if entry.HasField("chance"):
            course = record.game
            listed = (outcome for outcome, _ in islice(course.position.state.chance_outcomes(), 50))
            encoded = (course.position.codec.encode_outcome(outcome, course.position.components) for outcome in listed)
            others += [(at, other) for other in encoded if other != entry.chance.outcome][:1]
        record.read(data)
    assert len(others) >= 3
    for at, other in (others[0], others[len(others) // 2], others[-1]):

        def edit(changed: list[log_pb2.Entry], at: int = at, other: bytes = other) -> None:
            changed[at].chance.outcome = other

        report = played.audit(evil.forged(played, edit, players=True))
        assert report.verdict is Verdict.RULES
        deck = next(finding for finding in report.findings if finding.layer is Layer.DECK)
        assert (deck.code, deck.entry) == (Code.DECK, at)


@pytest.mark.parametrize("rules_id", NAMES)
def test_no_move_but_the_seats(rules_id: str) -> None:
    """A legal move put in the place of a legal one: the position is as good, the signature is not."""
    played = dealt(rules_id)
    record = Record(decode_entry(played.entries[0]).open)
    choices: list[tuple[int, bytes]] = []
    for at, data in enumerate(played.entries):
        entry = decode_entry(data)
        if entry.HasField("signed") and (act := decode_intent(entry.signed.intent)).HasField("move"):
            course = record.game
            moves = (
                course.position.codec.encode_move(move, course.position.components)
                for move in course.position.state.legal_moves()
            )
            choices += [(at, move) for move in moves if move != act.move][:1]
        record.read(data)
    at, other = choices[len(choices) // 2]

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = decode_intent(changed[at].signed.intent)
        act.move = other
        changed[at].signed.intent = act.SerializeToString(deterministic=True)

    report = played.audit(evil.forged(played, edit))
    assert report.verdict is Verdict.CORRUPT
    authors = next(finding for finding in report.findings if finding.layer is Layer.AUTHORS)
    assert (authors.code, authors.entry) == (Code.AUTHOR_SIGNATURE, at)


@pytest.mark.parametrize("rules_id", NAMES)
def test_no_other_components_unseen(rules_id: str) -> None:
    """A change of any bit is refused or, where a table may declare its own components, named in the report."""
    game, tables = registry.get(rules_id), codec(rules_id).encode_components(None)
    refused: set[Code] = set()
    for at in range(0, len(tables), max(1, len(tables) // 25)):
        changed = tables[:at] + bytes([tables[at] ^ 1]) + tables[at + 1 :]
        terms = games.game_open(header(rules_id), rules=(rules_id, game.version), tables=changed)
        try:
            played = games.start(terms, header=header(rules_id), engines=installed())
        except LogError as error:
            refused.add(error.code)
            continue
        assert game.declares_components
        report = abort(played).audit()
        assert report.verdict is Verdict.COMPLETE
        assert any(sha256(changed).hexdigest() in remark for remark in report.remarks)
    assert refused
    assert refused <= {Code.RULES, Code.MALFORMED}
