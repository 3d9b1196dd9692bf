"""The record: what may follow what, by whom; and that writing and reading decide alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.log import intent
from referee.log.entry import Clock, decode_entry, decode_open
from referee.log.errors import Code, LogError, RulesError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from tests.log import games
from tests.log.games import Played, key, play, seat_key, seed, start
from tests.log.record import KINDS
from tests.log.toy import ENGINES, engines


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_replay_gives_the_same_record(kind: dict[str, Any]) -> None:
    played = play(start(**kind))
    record = Record.replay(played.entries, engines=ENGINES)
    assert (record.head, record.root(), record.size) == (
        played.record.head,
        played.record.root(),
        len(played.entries),
    )
    assert record.phase is Phase.CLOSED
    assert record.due(0) is None


@given(st.data())
@settings(max_examples=30)
def test_any_play_replays(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    played = play(start(**kind), lambda _, options: data.draw(st.sampled_from(options)))
    Record.replay(played.entries, engines=ENGINES)


def test_a_table_can_take_over_at_any_entry() -> None:
    played = play(start())
    for size in range(1, len(played.entries)):
        record = Record.replay(played.entries[:size], engines=ENGINES, secret=games.SECRET)
        if (event := record.due(0)) is not None:
            clock = decode_entry(played.entries[size])
            written = record.write(event, Clock(clock.referee_ms, clock.charged_ms))
            assert written.data == played.entries[size]


def test_digest_is_of_the_position_after_the_entry() -> None:
    played = play(start())
    digests = [decode_entry(data).state_digest for data in played.entries]
    assert len(set(digests[:5])) == 1, "GameOpen, Joins and Reveals leave the first position"
    assert digests[5] != digests[4]
    assert digests[-1] == digests[-2] == digests[-3], "nor do the end and the seed change it"


# --- admission ---------------------------------------------------------------------------------------------


def refused(played: Played, signed: intent.SignedIntent, code: Code) -> LogError:
    """The intent is refused with this code, and nothing has changed."""
    before = (played.record.place, played.record.root(), played.record.game.position.digest(), played.record.phase)
    with pytest.raises(LogError) as caught:
        played.record.admit(signed, Clock(0))
    after = (played.record.place, played.record.root(), played.record.game.position.digest(), played.record.phase)
    assert caught.value.code is code, caught.value
    assert before == after
    return caught.value


def test_joins() -> None:
    played = start()
    place = played.record.place
    refused(played, intent.join(place, 0, seat_key(0), None), Code.MALFORMED)
    refused(played, intent.join(place, 2, seat_key(2), seed("p 2")), Code.AUTHOR)
    refused(played, intent.reveal(place, 0, seat_key(0), seed("p 0")), Code.AUTHOR)
    played.admit(intent.join(place, 0, seat_key(0), seed("p 0")))
    refused(played, intent.join(place, 1, seat_key(1), seed("p 1")), Code.STALE_HEAD)
    place = played.record.place
    refused(played, intent.join(place, 0, seat_key(1), seed("p 1")), Code.NOT_AWAITED)
    error = refused(played, intent.join(place, 1, seat_key(0), seed("p 1")), Code.NOT_AWAITED)
    assert "key of player 1" in error.what
    refused(played, intent.reveal(place, 0, seat_key(0), seed("p 0")), Code.NOT_AWAITED)


def test_join_proves_possession() -> None:
    """Attack 4: taking a seat with another's key, or with a key that has no holder."""
    played = start()
    signed = intent.join(played.record.place, 0, seat_key(0), seed("p 0"))
    stolen = log_pb2.Intent.FromString(signed.intent)
    stolen.join.key = seat_key(5).public.raw
    resigned = intent.sign(stolen, seat_key(0))
    refused(played, resigned, Code.AUTHOR_SIGNATURE)
    stolen.join.key = bytes([1]) + bytes(31)
    refused(played, intent.sign(stolen, seat_key(0)), Code.KEY)


def test_reveals() -> None:
    """Attack 7: a seed that was not committed to."""
    played = start()
    for i in (0, 1):
        played.admit(intent.join(played.record.place, i, seat_key(i), seed(f"p {i}")))
    place = played.record.place
    refused(played, intent.reveal(place, 0, seat_key(0), seed("p 1")), Code.DECK)
    refused(played, intent.join(place, 0, seat_key(0), seed("p 0")), Code.NOT_AWAITED)
    played.admit(intent.reveal(place, 0, seat_key(0), seed("p 0")))
    refused(played, intent.reveal(played.record.place, 0, seat_key(0), seed("p 0")), Code.NOT_AWAITED)
    move = intent.move(played.record.place, Author(Role.SEAT, 0), seat_key(0), b"\x01")
    refused(played, move, Code.NOT_AWAITED)


def in_play(**kind: Any) -> Played:
    played = start(**kind)
    games.join_and_reveal(played)
    return played


def on_turn(played: Played) -> int:
    awaited = played.record.game.position.pending()[0]
    assert hasattr(awaited, "seat")
    return int(awaited.seat)


def test_moves() -> None:
    played = in_play()
    seat = on_turn(played)
    place = played.record.place
    good = intent.move(place, Author(Role.SEAT, seat), seat_key(seat), b"\x01")
    refused(played, intent.move(place, Author(Role.SEAT, 1 - seat), seat_key(1 - seat), b"\x01"), Code.NOT_AWAITED)
    refused(played, intent.move(place, Author(Role.SEAT, seat), seat_key(1 - seat), b"\x01"), Code.AUTHOR_SIGNATURE)
    refused(played, intent.move(place, Author(Role.SEAT, 9), seat_key(9), b"\x01"), Code.AUTHOR)
    refused(played, intent.move(place, Author(Role.SCRIBE, 0), key("scribe 0"), b"\x01"), Code.AUTHOR)
    refused(played, intent.move(place, Author(Role.ARBITER, 0), key("arbiter 0"), b"\x01"), Code.NOT_AWAITED)
    refused(played, intent.move(place, Author(Role.SEAT, seat), seat_key(seat), b"no"), Code.MALFORMED)
    error = refused(played, intent.move(place, Author(Role.SEAT, seat), seat_key(seat), b"\x63"), Code.RULES)
    assert isinstance(error, RulesError)
    assert error.rule_ids == ("TOY-2", "TOY-3")
    broken = intent.SignedIntent(good.intent, bytes(64), good.key_id)
    refused(played, broken, Code.AUTHOR_SIGNATURE)
    refused(played, intent.SignedIntent(good.intent, good.signature, bytes(8)), Code.AUTHOR_SIGNATURE)
    refused(played, intent.SignedIntent(good.intent, good.signature[:-1], good.key_id), Code.MALFORMED)
    refused(played, intent.SignedIntent(good.intent + b"\x08\x01", good.signature, good.key_id), Code.MALFORMED)
    played.admit(good)
    refused(played, good, Code.STALE_HEAD)


def test_intents_of_other_games_and_branches() -> None:
    """Attacks 2 and 3: the same keys in a second game, and the same game with another past."""
    played = in_play()
    seat = on_turn(played)
    other = in_play(seats=3)
    author = Author(Role.SEAT, seat)
    place = played.record.place
    foreign = intent.move(other.record.place, author, seat_key(seat), b"\x01")
    refused(played, foreign, Code.WRONG_GAME)
    forced = intent.move(intent.Place(place.game_id, place.seq, other.record.head), author, seat_key(seat), b"\x01")
    refused(played, forced, Code.STALE_HEAD)
    early = intent.move(intent.Place(place.game_id, place.seq - 1, place.prev), author, seat_key(seat), b"\x01")
    refused(played, early, Code.STALE_HEAD)


def test_scribes() -> None:
    played = in_play(dealt=False, scribed=(1,))
    place = played.record.place
    refused(played, intent.declare(place, 0, key("scribe 0"), b"\x03"), Code.NOT_AWAITED)
    refused(played, intent.declare(place, 1, key("scribe 0"), b"\x03"), Code.AUTHOR_SIGNATURE)
    refused(played, intent.declare(place, 1, key("scribe 1"), b"\x09"), Code.RULES)
    refused(played, intent.join(place, 1, seat_key(1), None), Code.NOT_AWAITED)
    played.admit(intent.declare(place, 1, key("scribe 1"), b"\x03"))
    place = played.record.place
    refused(played, intent.declare(place, 1, key("scribe 1"), b"\x02"), Code.NOT_AWAITED)
    refused(played, intent.move(place, Author(Role.SCRIBE, 0), key("scribe 0"), b"\x01"), Code.NOT_AWAITED)
    played.admit(intent.move(place, Author(Role.SEAT, 0), seat_key(0), b"\x01"))
    played.admit(intent.declare(played.record.place, 1, key("scribe 1"), b"\x02"))
    place = played.record.place
    refused(played, intent.move(place, Author(Role.SEAT, 1), seat_key(1), b"\x01"), Code.AUTHOR)
    played.admit(intent.move(place, Author(Role.SCRIBE, 0), key("scribe 0"), b"\x01"))


def test_a_dealt_game_has_no_declared_chance() -> None:
    played = in_play(scribed=(1,))
    refused(played, intent.declare(played.record.place, 1, key("scribe 1"), b"\x03"), Code.NOT_AWAITED)
    declared = in_play(dealt=False)
    with pytest.raises(LogError) as caught:
        declared.record.write(log_pb2.Chance(outcome=b"\x03"), Clock(0))
    assert caught.value.code is Code.NOT_AWAITED


def test_acts_that_are_not_offered() -> None:
    played = in_play()
    for field in ("resign", "consent", "protest", "rule", "change_key", "take_back", "correct", "appeal"):
        act = log_pb2.Intent(game_id=played.record.game_id, seq=played.record.size, prev=played.record.head, seat=0)
        getattr(act, field).SetInParent()
        if field == "rule":
            act.rule.pause.SetInParent()
        refused(played, intent.sign(act, seat_key(0)), Code.UNSUPPORTED)


def test_refused_moves_are_recorded_where_the_terms_say_so() -> None:
    for recorded in (False, True):
        played = in_play(recorded=recorded)
        seat = on_turn(played)
        signed = intent.move(played.record.place, Author(Role.SEAT, seat), seat_key(seat), b"\x63")
        with pytest.raises(RulesError) as caught:
            played.record.admit(signed, Clock(0))
        if not recorded:
            with pytest.raises(LogError, match="terms"):
                played.record.refuse(signed, caught.value, Clock(0))
            continue
        digest = played.record.game.position.digest()
        played.keep(played.record.refuse(signed, caught.value, Clock(0)))
        entry = decode_entry(played.entries[-1])
        assert list(entry.refused.rule_ids) == ["TOY-2", "TOY-3"]
        assert entry.state_digest == digest
        while games.step(played):
            pass
        Record.replay(played.entries, engines=ENGINES)
        assert played.audit().exit_code == 0


# --- the referee's own events ------------------------------------------------------------------------------


def cannot_write(played: Played, event: Any, code: Code) -> None:
    with pytest.raises(LogError) as caught:
        played.record.write(event, Clock(0))
    assert caught.value.code is code, caught.value


def test_the_referee_cannot_enter_what_is_not_due() -> None:
    played = in_play()
    cannot_write(played, log_pb2.Chance(outcome=b"\x01"), Code.NOT_AWAITED)
    cannot_write(played, log_pb2.ForcedPass(seat=0), Code.NOT_AWAITED)
    cannot_write(played, log_pb2.Timeout(seat=0), Code.UNSUPPORTED)
    cannot_write(played, log_pb2.SeedDisclose(seed=games.SECRET), Code.NOT_AWAITED)
    for ending, code in (
        (log_pb2.ENDING_UNSPECIFIED, Code.MALFORMED),
        (log_pb2.ENDING_RULES, Code.RESULT),
        (log_pb2.ENDING_STALLED, Code.NOT_AWAITED),
        (log_pb2.ENDING_RESIGNED, Code.RESULT),
        (log_pb2.ENDING_FLAG, Code.RESULT),
        (log_pb2.ENDING_DISCONNECTED, Code.RESULT),
        (log_pb2.ENDING_ILLEGAL_MOVES, Code.RESULT),
        (log_pb2.ENDING_ADJUDICATED, Code.RESULT),
        (log_pb2.ENDING_VOIDED, Code.RESULT),
    ):
        cannot_write(played, log_pb2.GameEnd(ending=ending), code)
    cannot_write(played, log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED, scores=[1, 2]), Code.RESULT)
    with pytest.raises(TypeError):
        played.record.write(log_pb2.Signed(), Clock(0))


def test_a_dealt_card_is_the_decks() -> None:
    played = start()
    for i in (0, 1):
        played.admit(intent.join(played.record.place, i, seat_key(i), seed(f"p {i}")))
    for i in (0, 1):
        played.admit(intent.reveal(played.record.place, i, seat_key(i), seed(f"p {i}")))
    due = played.record.due(0)
    assert isinstance(due, log_pb2.Chance)
    assert played.record.due(0) == due, "asking again does not deal again"
    cannot_write(played, log_pb2.Chance(outcome=bytes([(due.outcome[0] + 1) % 8])), Code.DECK)
    played.write(due)


def test_endings() -> None:
    for ending in (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT):
        played = in_play()
        played.write(log_pb2.GameEnd(ending=ending))
        assert played.record.due(0) is not None
        move = intent.move(played.record.place, Author(Role.SEAT, 0), seat_key(0), b"\x01")
        refused(played, move, Code.NOT_AWAITED)
        cannot_write(played, log_pb2.GameEnd(ending=ending), Code.NOT_AWAITED)
        cannot_write(played, log_pb2.SeedDisclose(seed=seed("other")), Code.DECK)
        played.settle()
        assert played.record.phase is Phase.CLOSED
        cannot_write(played, log_pb2.SeedDisclose(seed=games.SECRET), Code.NOT_AWAITED)


def test_the_result_is_that_of_the_rules() -> None:
    played = play(start())
    at = len(played.entries) - 2
    record = Record.replay(played.entries[:at], engines=ENGINES, secret=games.SECRET)
    due = record.due(0)
    assert isinstance(due, log_pb2.GameEnd)
    for wrong in (
        log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED),
        log_pb2.GameEnd(ending=due.ending, scores=[score + 1 for score in due.scores], places=due.places),
        log_pb2.GameEnd(ending=due.ending, scores=due.scores, places=[place + 1 for place in due.places]),
        log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED, scores=due.scores, places=due.places),
    ):
        with pytest.raises(LogError) as caught:
            record.write(wrong, Clock(0))
        assert caught.value.code is Code.RESULT


@pytest.mark.parametrize("kind", [{}, {"dealt": False}], ids=str)
def test_the_entry_limit_stalls_the_game(kind: dict[str, Any]) -> None:
    played = start(**kind, max_entries=10)
    games.join_and_reveal(played)
    while played.record.phase is Phase.PLAYING and games.step(played):
        pass
    assert played.record.phase is Phase.CLOSED
    end = next(entry.end for entry in map(decode_entry, played.entries) if entry.HasField("end"))
    assert end == log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED)
    assert decode_entry(played.entries[8]).HasField("end")
    assert len(played.entries) == (10 if played.record.game.deal.is_dealt else 9)


def test_a_broken_engine_is_told_from_a_broken_log() -> None:
    cards = bytes([70, 80, 90, 100, 110, 120])
    played = in_play(options=b"\x06", tables=cards, engines=engines(cards))
    seat = on_turn(played)
    with pytest.raises(LogError) as caught:
        played.record.admit(
            intent.move(played.record.place, Author(Role.SEAT, seat), seat_key(seat), bytes([66])), Clock(0)
        )
    assert caught.value.code is Code.ENGINE


# --- GameOpen ----------------------------------------------------------------------------------------------

HEADER = b"header"
BAD_OPENS: dict[str, tuple[Any, Code]] = {
    "version": (lambda o: setattr(o, "format_version", 2), Code.UNSUPPORTED),
    "no version": (lambda o: o.ClearField("format_version"), Code.UNSUPPORTED),
    "rules id": (lambda o: o.ClearField("rules_id"), Code.MALFORMED),
    "rules version": (lambda o: o.ClearField("rules_version"), Code.MALFORMED),
    "tables": (lambda o: o.ClearField("tables"), Code.MALFORMED),
    "no seats": (lambda o: o.ClearField("seats"), Code.MALFORMED),
    "256 seats": (lambda o: o.seats.extend([log_pb2.Seat()] * 256), Code.MALFORMED),
    "player": (lambda o: setattr(o.seats[0], "player", b"x"), Code.MALFORMED),
    "chance": (lambda o: o.ClearField("dealt"), Code.MALFORMED),
    "commitment": (lambda o: setattr(o.dealt, "commitment", b"x"), Code.MALFORMED),
    "header hash": (lambda o: o.ClearField("header_hash"), Code.MALFORMED),
    "nonce": (lambda o: setattr(o, "nonce", bytes(15)), Code.MALFORMED),
    "arbiter key": (lambda o: o.arbiter_keys.append(bytes([1]) + bytes(31)), Code.KEY),
    "arbiter twice": (lambda o: o.arbiter_keys.append(o.arbiter_keys[0]), Code.MALFORMED),
    "scribe key": (lambda o: o.scribe_keys.append(b"x"), Code.MALFORMED),
    "no scribe": (lambda o: setattr(o.seats[0], "scribed", True), Code.MALFORMED),
    "declared without scribe": (lambda o: o.declared.SetInParent(), Code.MALFORMED),
    "declared by nobody": (lambda o: setattr(o.declared, "scribe", 3), Code.MALFORMED),
    "series id": (lambda o: setattr(o.series, "index", 0), Code.MALFORMED),
    "series index": (lambda o: setattr(o.series, "id", bytes(16)), Code.MALFORMED),
    "series head": (lambda o: o.series.MergeFrom(log_pb2.Series(id=bytes(16), index=1)), Code.MALFORMED),
    "first of a series": (
        lambda o: o.series.MergeFrom(log_pb2.Series(id=bytes(16), index=0, previous_head=bytes(32))),
        Code.MALFORMED,
    ),
    "policy": (lambda o: setattr(o.terms, "illegal_moves", 7), Code.MALFORMED),
}


@pytest.mark.parametrize("name", BAD_OPENS)
def test_bad_game_opens(name: str) -> None:
    change, code = BAD_OPENS[name]
    opened = games.game_open(HEADER)
    decode_open(opened.SerializeToString(deterministic=True))
    change(opened)
    with pytest.raises(LogError) as caught:
        decode_open(opened.SerializeToString(deterministic=True))
    assert caught.value.code is code


def test_a_dealt_game_needs_a_seat_that_joins() -> None:
    with pytest.raises(LogError, match="a seat that joins"):
        start(scribed=(0, 1))


def test_a_later_format_is_unsupported_even_with_unknown_fields() -> None:
    opened = games.game_open(HEADER)
    opened.format_version = 2
    with pytest.raises(LogError) as caught:
        decode_open(opened.SerializeToString(deterministic=True) + b"\xf2\x07\x01x")
    assert caught.value.code is Code.UNSUPPORTED


def test_set_up() -> None:
    for kind, code in (
        ({"seats": 5}, Code.RULES),
        ({"options": b"xx"}, Code.MALFORMED),
        ({"rules": ("toy", 2)}, Code.UNSUPPORTED),
    ):
        with pytest.raises(LogError) as caught:
            start(**kind)
        assert caught.value.code is code


def test_the_secret_is_the_committed_one() -> None:
    data = games.game_open(HEADER).SerializeToString(deterministic=True)
    for secret in (None, seed("other")):
        with pytest.raises(LogError) as caught:
            Record.start(data, Clock(0), engines=ENGINES, secret=secret)
        assert caught.value.code is Code.DECK


def test_an_oversize_entry_changes_nothing() -> None:
    played = in_play(recorded=True)
    seat = on_turn(played)
    signed = intent.move(played.record.place, Author(Role.SEAT, seat), seat_key(seat), bytes(17_000))
    refused(played, signed, Code.MALFORMED)


def test_replay_names_the_entry() -> None:
    played = play(start())
    for at in range(len(played.entries)):
        entries = list(played.entries)
        entries[at] = entries[at][:-1] + bytes([entries[at][-1] ^ 1])
        with pytest.raises(LogError) as caught:
            Record.replay(entries, engines=ENGINES)
        assert caught.value.entry is not None
        assert at <= caught.value.entry <= at + 1
    with pytest.raises(LogError):
        Record.replay([], engines=ENGINES)
