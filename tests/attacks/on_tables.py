"""Attacks of a referee, an arbiter or a scribe on the rules of the table: time, forfeits, protests, rulings.

The games are by the same rules as the table's: dealt ones are ``contested``, declared ones ``corrected``. All sign
again, so that nothing but the rules of the table is left to object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.log.errors import Code
from referee.log.file import FrameType, encode_frame
from referee.log.remarks import commitment, encode_remark
from referee.log.v1 import log_pb2
from tests.attacks.corpus import TABLES
from tests.attacks.forge import (
    Attacks,
    Forgery,
    act_in,
    acts,
    against_rules,
    corrupt,
    edited,
    events,
    put_act,
    relinked,
    whole,
)
from tests.log import evil, seated
from tests.log.games import Played

ON_TABLES = Attacks()
by_referee = ON_TABLES.by("referee")
by_arbiter = ON_TABLES.by("arbiter")
by_scribe = ON_TABLES.by("scribe")


def contested(table: str) -> Played | None:
    """The game by the rules of the table that belongs to a dealt one."""
    return seated.of(TABLES[table].rules_id, "contested") if table.endswith("dealt") else None


def corrected(table: str) -> Played | None:
    """That which belongs to a declared one."""
    return seated.of(TABLES[table].rules_id, "corrected") if table.endswith("declared") else None


def undealt(table: str) -> Played | None:
    """That in which a seat keeps its share of the deck, by version 2 of the rules of the table."""
    return seated.of(TABLES[table].rules_id, "undealt") if table.endswith("dealt") else None


def changed(played: Played | None, at: Callable[[Played], int], change: Callable[[Any], object]) -> Forgery | None:
    """One entry altered, for which the rules of the table have to be what objects."""
    if played is None:
        return None
    index = at(played)

    def edit(entries: list[log_pb2.Entry]) -> None:
        change(entries[index])

    return against_rules(edited(played, edit), Code.NOT_AWAITED, index)


def inserted(played: Played | None, at: Callable[[Played], int], event: Any) -> Forgery | None:
    """One entry more, dated as the one before it; what comes after it does not matter any more."""
    if played is None:
        return None
    index = at(played)
    before = evil.entries(played)[index - 1]
    entry = log_pb2.Entry(
        game_id=before.game_id, referee_ms=before.referee_ms, state_digest=before.state_digest, seq=index
    )
    if isinstance(event, log_pb2.Intent):
        event.game_id, event.seq, event.prev = before.game_id, index, bytes(32)
        entry.signed.intent = event.SerializeToString(deterministic=True)
    else:
        name = next(f.name for f in entry.DESCRIPTOR.fields if f.message_type is event.DESCRIPTOR)
        getattr(entry, name).CopyFrom(event)
    return against_rules(edited(played, lambda entries: entries.insert(index, entry)), Code.NOT_AWAITED, index)


def ruling_at(played: Played, kind: str) -> int:
    """The first ruling of the kind."""
    entries = evil.entries(played)
    return next(i for i in acts(played, "rule") if act_in(entries[i]).rule.WhichOneof("ruling") == kind)


def end_of(played: Played) -> int:
    return events(played, "end")[0]


# --- by the referee ---------------------------------------------------------------------------------------------


@by_referee
def flag_a_millisecond_early(table: str, played: Played) -> Forgery | None:
    """The seat has as much time as it is charged."""

    def early(entry: log_pb2.Entry) -> None:
        entry.referee_ms -= 1
        entry.charged_ms -= 1

    return changed(contested(table), lambda game: events(game, "timeout")[0], early)


@by_referee
def flag_without_the_network(table: str, played: Played) -> Forgery | None:
    """The seat is charged for what the terms allow for the network."""

    def slow(entry: log_pb2.Entry) -> None:
        entry.charged_ms += entry.lag_ms
        entry.lag_ms = 0

    return changed(contested(table), lambda game: events(game, "timeout")[0], slow)


@by_referee
def charged_more_than_passed(table: str, played: Played) -> Forgery | None:
    """A millisecond that never was."""

    def more(entry: log_pb2.Entry) -> None:
        entry.charged_ms += 1

    return changed(contested(table), lambda game: acts(game, "move")[-1], more)


@by_referee
def lag_beyond_the_terms(table: str, played: Played) -> Forgery | None:
    """A friend's move costs less time than others'."""

    def kind(entry: log_pb2.Entry) -> None:
        entry.charged_ms -= 200
        entry.lag_ms += 200

    return changed(contested(table), lambda game: acts(game, "move")[-1], kind)


@by_referee
def entry_dated_back(table: str, played: Played) -> Forgery | None:
    """A protest is dated a millisecond before the entry before."""

    def back(entry: log_pb2.Entry) -> None:
        entry.referee_ms -= 1

    return changed(contested(table), lambda game: acts(game, "protest")[0], back)


@by_referee
def stop_that_began_too_early(table: str, played: Played) -> Forgery | None:
    """The referee was last seen before the newest entry, so that time is given away that had been used."""

    def early(entry: log_pb2.Entry) -> None:
        entry.interrupted.alive_ms = 1

    return changed(contested(table), lambda game: events(game, "interrupted")[0], early)


@by_referee
def another_stand_in(table: str, played: Played) -> Forgery | None:
    """Another move is entered for the seat that left than the one that the rules lay down."""

    game = corrected(table)
    if game is None:
        return None
    entries = evil.entries(game)
    moves = [act_in(entries[seq]).move for seq in acts(game, "move")]

    def other(entry: log_pb2.Entry) -> None:
        entry.stand_in.move = next(move for move in moves if move != entry.stand_in.move)

    return changed(game, lambda game: events(game, "stand_in")[0], other)


@by_referee
def result_before_the_time_to_protest(table: str, played: Played) -> Forgery | None:
    """A protest was possible for another millisecond."""

    def early(entry: log_pb2.Entry) -> None:
        entry.referee_ms -= 1

    return changed(corrected(table), end_of, early)


@by_referee
def open_protest_ignored(table: str, played: Played) -> Forgery | None:
    """The result is entered before a ruling on a protest."""
    game = corrected(table)
    if game is None:
        return None
    protest = log_pb2.Intent(seat=1, protest=log_pb2.Protest(against_seq=1, rule_id="TBL-36"))
    end = end_of(game)
    forgery = inserted(game, lambda _: end, protest)
    assert forgery is not None
    return against_rules(forgery.data, Code.NOT_AWAITED, end + 1)


@by_referee
def ending_that_nobody_brought_about(table: str, played: Played) -> Forgery | None:
    """A flag ends a game that has not ended."""
    game = contested(table)
    if game is None:
        return None
    end = log_pb2.GameEnd(ending=log_pb2.ENDING_FLAG)
    forgery = inserted(game, lambda _: acts(game, "rule")[0], end)
    assert forgery is not None
    return against_rules(forgery.data, Code.RESULT, forgery.entry)


@by_referee
def scribed_seat_absent(table: str, played: Played) -> Forgery | None:
    """A seat that never connects is put out for not being there."""
    game = corrected(table)
    if game is None or game.record.opened.rules_id == "kingdomino":
        return None
    at = next(i for i in acts(game, "move") if act_in(evil.entries(game)[i]).WhichOneof("author") == "scribe")
    return inserted(game, lambda _: at, log_pb2.Absent(seat=0))


@by_referee
def missed_from_before_it_was_awaited(table: str, played: Played) -> Forgery | None:
    """A seat has to reveal from the last Join on, not from before it."""

    def earlier(entry: log_pb2.Entry) -> None:
        entry.absent.since_ms -= 1

    return changed(undealt(table), lambda game: events(game, "absent")[0], earlier)


@by_referee
def missed_a_millisecond_too_early(table: str, played: Played) -> Forgery | None:
    """The terms give the seat as long to come as it may be away."""

    def early(entry: log_pb2.Entry) -> None:
        entry.referee_ms -= 1

    return changed(undealt(table), lambda game: events(game, "absent")[0], early)


# --- by an arbiter ---------------------------------------------------------------------------------------------


@by_arbiter
def arbiter_of_no_game(table: str, played: Played) -> Forgery | None:
    """A third arbiter, whom GameOpen does not name, rules."""
    game = contested(table)
    if game is None:
        return None
    at = ruling_at(game, "penalty")

    def stranger(entries: list[log_pb2.Entry]) -> None:
        act = act_in(entries[at])
        act.arbiter = 2
        put_act(entries[at], act)

    return corrupt(edited(game, stranger), Code.AUTHOR, at)


@by_arbiter
def ruling_signed_by_another(table: str, played: Played) -> Forgery | None:
    """Somebody else's signature under a ruling."""
    game = contested(table)
    if game is None:
        return None
    at = ruling_at(game, "penalty")
    return corrupt(edited(game, lambda entries: None, forged=[at]), Code.AUTHOR_SIGNATURE, at)


def ruled(change: Callable[[log_pb2.Intent], object]) -> Callable[[log_pb2.Entry], None]:
    """The act in the entry altered."""

    def edit(entry: log_pb2.Entry) -> None:
        act = act_in(entry)
        change(act)
        put_act(entry, act)

    return edit


@by_arbiter
def appeal_judged_by_the_same(table: str, played: Played) -> Forgery | None:
    """The arbiter whose ruling it is against dismisses the appeal."""
    last = ruled(lambda act: setattr(act, "arbiter", 0))
    return changed(contested(table), lambda game: acts(game, "rule")[-1], last)


@by_arbiter
def draw_taken_back_in_a_dealt_game(table: str, played: Played) -> Forgery | None:
    """A position is restored from before what the deck gave."""
    game = contested(table)
    if game is None:
        return None
    rule = log_pb2.Rule(rule_id="TBL-22", restore=log_pb2.Restore(to_seq=events(game, "chance")[0] - 1))
    return inserted(game, lambda _: acts(game, "protest")[0], log_pb2.Intent(arbiter=0, rule=rule))


@by_arbiter
def move_accepted_that_cannot_stand(table: str, played: Played) -> Forgery | None:
    """An accepted move is said to break a rule that none can stand against."""
    game = corrected(table)
    if game is None or not any(act_in(evil.entries(game)[i]).rule.HasField("accept") for i in acts(game, "rule")):
        return None

    def worse(act: log_pb2.Intent) -> None:
        act.rule.accept.move = b"\x63" if game.record.opened.rules_id == "toy" else b"\x12\x02\x08\x01"
        del act.rule.accept.rule_ids[:]
        act.rule.accept.rule_ids.extend(["TOY-2", "TOY-3"])

    return changed(game, lambda _: ruling_at(game, "accept"), ruled(worse))


@by_arbiter
def protest_ruled_on_twice(table: str, played: Played) -> Forgery | None:
    """A second ruling on the same protest, another one."""
    game = contested(table)
    if game is None:
        return None
    rule = log_pb2.Rule(rule_id="TBL-34", decides=acts(game, "protest")[0], dismiss=log_pb2.Dismiss())
    return inserted(game, lambda _: ruling_at(game, "set_clock"), log_pb2.Intent(arbiter=1, rule=rule))


# --- by a scribe, and by the holder of a copy ---------------------------------------------------------------------


@by_scribe
def players_move_corrected(table: str, played: Played) -> Forgery | None:
    """A scribe takes back what a seat signed."""
    game = corrected(table)
    if game is None:
        return None
    entries = evil.entries(game)
    at = [i for i in acts(game, "move") if act_in(entries[i]).WhichOneof("author") == "seat"][-1]
    correct = log_pb2.Intent(scribe=0, correct=log_pb2.Correct(to_seq=at - 1))
    return inserted(game, lambda _: at + 1, correct)


@ON_TABLES.by("copy")
def words_put_in_a_mouth(table: str, played: Played) -> Forgery | None:
    """A text is added that the ruling does not commit to."""
    game = contested(table)
    if game is None:
        return None
    at = ruling_at(game, "penalty")
    salt, text = bytes(16), "for cheating"

    def bind(entries: list[log_pb2.Entry]) -> None:
        act = act_in(entries[at])
        act.rule.remark = commitment(salt, "for coming late")
        put_act(entries[at], act)

    entries = evil.entries(game)
    bind(entries)
    leaves = relinked(entries)
    frames = evil.frames(evil.signed_file(game, leaves))
    remark = encode_frame(FrameType.REMARK, encode_remark(log_pb2.Remark(seq=at, salt=salt, text=text)))
    return corrupt(whole([*frames[: at + 2], remark, *frames[at + 2 :]]), Code.REMARK, at)
