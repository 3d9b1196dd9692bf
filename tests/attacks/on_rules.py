"""Attacks of an unscrupulous referee on the game itself: its terms, its deck, its rules, its result.

All sign again here, so that the layers before it have nothing to object to.
"""

from __future__ import annotations

from referee import core
from referee.log.errors import Code
from referee.log.header import header_hash
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
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
    reopened,
    split,
    under_header,
)
from tests.attacks.rigged import misruled, stacked
from tests.log import evil, games, toy
from tests.log.games import Played

BETTER_R = games.seed("a better r")
RULES = Attacks()
attack = RULES.by("referee")


# --- rules, options, components, header ----------------------------------------------------------------------------


@attack
def rules_version_swapped(table: str, played: Played) -> Forgery:
    """GameOpen names another version than the header."""
    return corrupt(
        reopened(played, lambda opened: setattr(opened, "rules_version", opened.rules_version + 1)), Code.HEADER, 0
    )


@attack
def terms_swapped(table: str, played: Played) -> Forgery:
    """Options or terms in entry 0, after the seats have signed: the game's id is the hash of what stood there."""
    entries = evil.entries(played)
    opened = log_pb2.GameOpen.FromString(entries[0].open)
    if opened.options:
        opened.options = b""
    else:
        opened.terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_UNSPECIFIED
        opened.terms.proofs = log_pb2.PROOF_POLICY_REFUSALS
    entries[0].open = opened.SerializeToString(deterministic=True)
    data = evil.signed_file(played, evil.relinked(entries))
    return corrupt(data, Code.WRONG_GAME, 0)


@attack
def components_of_ones_own(table: str, played: Played) -> Forgery | None:
    """A game with other cards under the name of the rules, that everybody signs for."""
    if TABLES[table].rules_id != "toy":
        return None  # the same with real tiles: see tests/log/test_registered.py
    cards = bytes([*toy.CARDS[:-1], 9])
    other = TABLES[table].play(TABLES[table].open(tables=cards, engines=toy.engines(cards)))
    return against_rules(other.file(), Code.RULES, 0)


@attack
def descriptors_of_something_else(table: str, played: Played) -> Forgery:
    """The header that GameOpen names does not describe the signed messages."""
    header = log_pb2.Header.FromString(played.header)
    header.descriptors = games.described("another.proto")
    other = header.SerializeToString(deterministic=True)
    data = reopened(played, lambda opened: setattr(opened, "header_hash", header_hash(other)), header=other)
    return corrupt(data, Code.HEADER, 0)


@attack
def header_swapped(table: str, played: Played) -> Forgery:
    """The hash of the rules in it is another."""
    header = log_pb2.Header.FromString(played.header)
    header.rules_hash = bytes(32)
    return corrupt(under_header(played, header.SerializeToString(deterministic=True)), Code.HEADER, 0)


@attack
def later_format(table: str, played: Played) -> Forgery:
    """GameOpen has version 2, whose meaning is unknown."""
    data = reopened(played, lambda opened: setattr(opened, "format_version", 2))
    return Forgery(data, Verdict.UNSUPPORTED, Code.UNSUPPORTED, 0)


@attack
def short_nonce(table: str, played: Played) -> Forgery:
    """The nonce has 15 bytes."""
    return corrupt(reopened(played, lambda opened: setattr(opened, "nonce", bytes(15))), Code.MALFORMED, 0)


@attack
def game_open_of_17_kib(table: str, played: Played) -> Forgery:
    """Good for nothing but work."""
    keys = [games.key(f"arbiter {i}").public.raw for i in range(512)]
    return corrupt(reopened(played, lambda opened: opened.arbiter_keys.extend(keys[1:])), Code.MALFORMED, 0)


@attack
def entry_with_an_unknown_field(table: str, played: Played) -> Forgery:
    """The field's meaning is unknown to others."""
    leaves = [*played.entries[:-1], played.entries[-1] + b"\xf8\x07\x01"]
    return corrupt(evil.signed_file(played, leaves), Code.MALFORMED, len(leaves) - 1)


# --- the deck ---------------------------------------------------------------------------------------------------------


@attack
def other_cards_dealt(table: str, played: Played) -> Forgery | None:
    """From a deck that the referee likes better, by the rules, and everybody signs."""
    if (rigged := stacked(table)) is None:
        return None
    at = split(played, rigged)
    return against_rules(rigged.file(), Code.DECK, at)


@attack
def r_chosen_after_the_reveals(table: str, played: Played) -> Forgery | None:
    """Deck and r fit each other; r does not open what the referee had committed to."""
    if (rigged := stacked(table, BETTER_R)) is None:
        return None
    at = len(rigged.entries) - 1

    def disclose(entries: list[log_pb2.Entry]) -> None:
        entries[at].disclose.seed = BETTER_R

    return against_rules(edited(rigged, disclose), Code.DECK, at)


@attack
def r_withheld(table: str, played: Played) -> Forgery | None:
    """The game is over and closed, and the deck cannot be recomputed."""
    if not events(played, "disclose"):
        return None
    data = evil.signed_file(played, played.entries[:-1])
    return Forgery(data, Verdict.UNDISCLOSED, Code.UNDISCLOSED, None)


# --- rules -----------------------------------------------------------------------------------------------------------


def illegal_move_let_through(table: str, played: Played) -> Forgery | None:
    """The seat signs it, the referee enters the position that it leads to, and then ends the game."""
    if (found := misruled(table)) is None:
        return None
    rigged, at = found
    return against_rules(rigged.file(), Code.RULES, at)


if not core.is_compiled():  # a compiled referee cannot be made to overlook it
    attack(illegal_move_let_through)


@attack
def move_of_the_wrong_seat(table: str, played: Played) -> Forgery | None:
    """The move is good, its author is not the one on turn; it signs."""
    moves = acts(played, "move")
    if not moves or len(played.record.opened.seats) < 2:
        return None

    def edit(entries: list[log_pb2.Entry]) -> None:
        act = act_in(entries[moves[-1]])
        act.seat = 1 - act.seat
        put_act(entries[moves[-1]], act)

    return against_rules(edited(played, edit), Code.NOT_AWAITED, moves[-1])


@attack
def chance_declared_by_another_scribe(table: str, played: Played) -> Forgery | None:
    """A scribe of the game, but not the one that declares."""
    declared = acts(played, "declare")
    if not declared:
        return None

    def edit(entries: list[log_pb2.Entry]) -> None:
        act = act_in(entries[declared[-1]])
        act.scribe = 0
        put_act(entries[declared[-1]], act)

    return against_rules(edited(played, edit), Code.NOT_AWAITED, declared[-1])


@attack
def legal_move_refused(table: str, played: Played) -> Forgery | None:
    """An attempt that was none, to count against the seat; the game is ended then."""
    moves = acts(played, "move")
    if not moves or played.record.opened.terms.illegal_moves != log_pb2.ILLEGAL_MOVE_POLICY_RECORDED:
        return None
    at = moves[-1]

    def edit(entries: list[log_pb2.Entry]) -> None:
        part = entries[at].signed
        refused = log_pb2.Refused(intent=part.intent, signature=part.signature, key_id=part.key_id, rule_ids=["X-1"])
        entries[at].refused.CopyFrom(refused)
        entries[at].state_digest = entries[at - 1].state_digest
        last = entries[at].state_digest
        del entries[at + 1 :]
        entries += ended_by(entries[0].game_id, last, disclose=bool(events(played, "disclose")))

    return against_rules(edited(played, edit), Code.RULES, at)


def ended_by(game_id: bytes, digest: bytes, *, disclose: bool) -> list[log_pb2.Entry]:
    """The entries with which a referee ends a game before its time."""
    common = {"game_id": game_id, "state_digest": digest, "referee_ms": 1_800_000_000_000}
    end = log_pb2.Entry(**common, end=log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED))  # type: ignore[arg-type]
    seed = log_pb2.Entry(**common, disclose=log_pb2.SeedDisclose(seed=games.SECRET))  # type: ignore[arg-type]
    return [end, seed] if disclose else [end]


@attack
def wrong_position(table: str, played: Played) -> Forgery:
    """The digest of another position in the last entry."""

    def edit(entries: list[log_pb2.Entry]) -> None:
        entries[-1].state_digest = bytes(32)

    return against_rules(edited(played, edit), Code.DIGEST, len(played.entries) - 1)


@attack
def wrong_points(table: str, played: Played) -> Forgery | None:
    """A point more for the first seat."""
    at = events(played, "end")[0]
    if not evil.entries(played)[at].end.scores:
        return None

    def edit(entries: list[log_pb2.Entry]) -> None:
        entries[at].end.scores[0] += 1

    return against_rules(edited(played, edit), Code.RESULT, at)


@attack
def result_denied(table: str, played: Played) -> Forgery | None:
    """The rules have ended the game; the referee calls it aborted."""
    at = events(played, "end")[0]
    if not evil.entries(played)[at].end.scores:
        return None

    def edit(entries: list[log_pb2.Entry]) -> None:
        entries[at].end.CopyFrom(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED))

    return against_rules(edited(played, edit), Code.RESULT, at)


@attack
def early_result(table: str, played: Played) -> Forgery | None:
    """By its rules the game continues; the referee ends it with points."""
    at = events(played, "end")[0]
    if evil.entries(played)[at].end.scores:
        return None
    seats = len(played.record.opened.seats)
    end = log_pb2.GameEnd(ending=log_pb2.ENDING_RULES, scores=[1] * seats, places=[1] * seats)
    return against_rules(edited(played, lambda entries: entries[at].end.CopyFrom(end)), Code.RESULT, at)


@attack
def invented_pass(table: str, played: Played) -> Forgery | None:
    """A pass that the rules do not force, in a seat's turn; the position is said to be the same."""
    moves = acts(played, "move")
    if not moves:
        return None
    at = moves[-1]

    def edit(entries: list[log_pb2.Entry]) -> None:
        digest = entries[at - 1].state_digest
        common = log_pb2.Entry(game_id=entries[0].game_id, state_digest=digest)
        common.forced_pass.seat = 0
        entries.insert(at, common)

    return against_rules(edited(played, edit), Code.NOT_AWAITED, at)


@attack
def timeout(table: str, played: Played) -> Forgery:
    """An entry by the rules of the table, in a game without them."""
    at = events(played, "end")[0]

    def edit(entries: list[log_pb2.Entry]) -> None:
        entry = log_pb2.Entry(game_id=entries[0].game_id, state_digest=entries[at - 1].state_digest)
        entry.timeout.seat = 0
        entries.insert(at, entry)

    return Forgery(edited(played, edit), Verdict.UNSUPPORTED, Code.UNSUPPORTED, at)


@attack
def loss_that_is_none(table: str, played: Played) -> Forgery:
    """Recovered, with a lost head that this very log reaches."""
    at = events(played, "end")[0]

    def edit(entries: list[log_pb2.Entry]) -> None:
        entry = log_pb2.Entry(game_id=entries[0].game_id, state_digest=entries[at - 1].state_digest)
        entry.recovered.CopyFrom(log_pb2.Recovered(lost_size=at, lost_root=bytes(32)))
        entries.insert(at, entry)

    return against_rules(edited(played, edit), Code.NOT_AWAITED, at)
