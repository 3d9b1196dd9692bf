"""What a referee without scruples can do: it signs every head itself. Of some seats it may know the keys as well.

Where "everybody" signs again, all that the case is about is left: the layers before it have nothing to object to.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from referee.log.audit import Policy
from referee.log.errors import Code
from referee.log.frames import FrameType, encode_frame
from referee.log.header import header_hash
from referee.log.note import Checkpoint
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from tests.attacks.corpus import TABLES, other_course, other_game
from tests.attacks.forge import (
    FORGER,
    Attacks,
    Forgery,
    Signer,
    act_in,
    acts,
    edited,
    events,
    put_act,
    relinked,
    reopened,
    split,
    under_header,
    whole,
)
from tests.attacks.rigged import misruled, stacked
from tests.log import evil, games, toy
from tests.log.games import SIGNER, Played, build_file

BETTER_R = games.seed("a better r")
REFEREES = Attacks()
attack = REFEREES.by("referee")


def corrupt(data: bytes, code: Code, entry: int | None) -> Forgery:
    return Forgery(data, Verdict.CORRUPT, code, entry)


def against_rules(data: bytes, code: Code, entry: int | None) -> Forgery:
    return Forgery(data, Verdict.RULES, code, entry)


def next_act(played: Played, at: int) -> int:
    """The first act from this entry on, an attempt included."""
    return min(i for i in events(played, "signed", "refused") if i >= at)


# --- seats' acts ----------------------------------------------------------------------------------------------


@attack
def act_signed_by_somebody_else(table: str, played: Played) -> Forgery:
    """The last act has a signature of another key; everybody signs for what comes before."""
    at = acts(played, "move", "reveal", "join")[-1]
    data = edited(played, lambda entries: None, forged=[at])
    return corrupt(data, Code.AUTHOR_SIGNATURE, at)


@attack
def history_rewritten(table: str, played: Played) -> Forgery | None:
    """From the first choice on the referee plays itself, by the rules, and signs as it can."""
    other = other_course(table)
    at = split(played, other)
    forged = [i for i in events(other, "signed", "refused") if i >= at]
    return corrupt(edited(other, lambda entries: None, forged=forged), Code.AUTHOR_SIGNATURE, at)


@attack
def act_altered(table: str, played: Played) -> Forgery | None:
    """A seat's move replaced by another of its moves; its signature stays."""
    entries = evil.entries(played)
    moves = {i: act_in(entries[i]).move for i in acts(played, "move")}
    at = max(moves, default=0)
    other = next((move for move in moves.values() if move != moves[at]), None)
    if other is None:
        return None
    act = act_in(entries[at])
    act.move = other
    put_act(entries[at], act)
    later = [i for i in events(played, "signed", "refused") if i > at]
    found = (Code.STALE_HEAD, min(later)) if later else (Code.AUTHOR_SIGNATURE, at)
    return corrupt(evil.signed_file(played, evil.relinked(entries)), *found)


@attack
def act_dropped(table: str, played: Played) -> Forgery:
    """The chain is linked again; the next act still names what is gone."""
    at = acts(played, "join", "reveal", "move")[0]
    entries = evil.entries(played)
    named = next_act(played, at + 1) - 1
    del entries[at]
    return corrupt(evil.signed_file(played, evil.relinked(entries)), Code.STALE_HEAD, named)


@attack
def attempt_dropped(table: str, played: Played) -> Forgery | None:
    """An attempt changes no position, so that nothing but the chain can miss it."""
    attempts = [i for i in events(played, "refused") if i < acts(played, "move")[-1]]
    if not attempts:
        return None
    entries = evil.entries(played)
    del entries[attempts[0]]
    named = next_act(played, attempts[0] + 1) - 1
    return corrupt(evil.signed_file(played, evil.relinked(entries)), Code.STALE_HEAD, named)


@attack
def acts_swapped(table: str, played: Played) -> Forgery | None:
    """Two seats join in the other order: to the game it is all the same."""
    joins = acts(played, "join")
    if len(joins) < 2:
        return None
    entries = evil.entries(played)
    a, b = joins[:2]
    entries[a], entries[b] = entries[b], entries[a]
    return corrupt(evil.signed_file(played, evil.relinked(entries)), Code.STALE_HEAD, a)


@attack
def act_entered_again(table: str, played: Played) -> Forgery:
    """An old act with its old signature, in a new entry before the end of the game."""
    end = events(played, "end")[0]

    entries = evil.entries(played)
    copy = log_pb2.Entry()
    copy.CopyFrom(entries[acts(played, "move", "join")[-1]])
    entries.insert(end, copy)
    return corrupt(evil.signed_file(played, evil.relinked(entries)), Code.STALE_HEAD, end)


@attack
def act_of_another_game(table: str, played: Played) -> Forgery | None:
    """The seat signed it, at this place, in another game."""
    at = acts(played, "join")[0]
    entries = evil.entries(played)
    entries[at].signed.CopyFrom(evil.entries(other_game(table))[at].signed)
    return corrupt(evil.signed_file(played, evil.relinked(entries)), Code.WRONG_GAME, at)


@attack
def entry_out_of_the_chain(table: str, played: Played) -> Forgery:
    """The last entry names nothing before it: after the last act only the referee's entries are linked."""
    entries = evil.entries(played)
    entries[-1].prev = bytes(32)
    leaves = [entry.SerializeToString(deterministic=True) for entry in entries]
    return corrupt(evil.signed_file(played, leaves), Code.STALE_HEAD, len(leaves) - 1)


@attack
def seat_joins_again(table: str, played: Played) -> Forgery | None:
    """With a key of the referee's, to take the seat over."""
    joins = acts(played, "join")
    if len(joins) < 2:
        return None

    def edit(entries: list[log_pb2.Entry]) -> None:
        copy = log_pb2.Entry()
        copy.CopyFrom(entries[joins[0]])
        entries.insert(joins[1], copy)

    return against_rules(edited(played, edit), Code.NOT_AWAITED, joins[1])


# --- heads --------------------------------------------------------------------------------------------------------


@attack
def tail_cut(table: str, played: Played) -> Forgery:
    """At an older checkpoint, and closed: the file alone says that the game has not ended, and no more."""
    size = len(played.entries) // 2
    data = build_file(played.header, played.entries[:size], played.notes[size - 1])
    return Forgery(data, Verdict.PREFIX, Code.INCOMPLETE, None)


@attack
def tail_cut_against_a_receipt(table: str, played: Played) -> Forgery:
    """The seat that made the last act was given a checkpoint with the answer."""
    size = len(played.entries) // 2
    data = build_file(played.header, played.entries[:size], played.notes[size - 1])
    receipt = Policy(SIGNER.verifier, receipts=(played.notes[size],))
    return Forgery(data, Verdict.STALE, Code.STALE, None, receipt)


@attack
def fork(table: str, played: Played) -> Forgery:
    """Another history of the game, that everybody signed for, against a receipt of the first."""
    other = other_course(table)
    at = split(played, other)
    receipt = Policy(SIGNER.verifier, receipts=(played.notes[at],))
    return Forgery(other.file(), Verdict.FORK, Code.FORK, at, receipt)


@attack
def fork_inside_the_file(table: str, played: Played) -> Forgery:
    """The file of the one history holds an older checkpoint of the other."""
    other = other_course(table)
    at = split(played, other)
    frames = evil.frames(other.file())
    old = encode_frame(FrameType.OLD_CHECKPOINT, played.notes[at])
    data = whole([*frames[: at + 1], old, *frames[at + 1 :]])
    return Forgery(data, Verdict.FORK, Code.FORK, at)


@attack
def checkpoint_of_another_root(table: str, played: Played) -> Forgery:
    """Signed by the referee."""
    note = SIGNER.sign(played.record.game_id, len(played.entries), bytes(32))
    return corrupt(played.file(note=note), Code.CHECKPOINT, None)


@attack
def checkpoint_with_a_leading_zero(table: str, played: Played) -> Forgery:
    """The right head, in a text that others read otherwise or not at all."""
    text = Checkpoint(SIGNER.verifier.name, played.record.game_id, played.record.size, played.record.root()).text()
    lines = text.split("\n")
    odd = "\n".join([lines[0], f"0{lines[1]}", *lines[2:]])
    return corrupt(played.file(note=signed_text(odd)), Code.NOTE, None)


def signed_text(text: str) -> bytes:
    """A note of any text, by the referee."""
    signature = b64encode(SIGNER.verifier.id + games.key("referee").sign(text.encode())).decode()
    return f"{text}\n\u2014 {SIGNER.verifier.name} {signature}\n".encode()


# --- keys --------------------------------------------------------------------------------------------------------


ROSTER = Policy(SIGNER.verifier, seat_keys={0: games.seat_key(0).public.raw})


@attack
def seats_key_swapped(table: str, played: Played) -> Forgery:
    """The referee joins for a seat whose key is pinned, and plays for it."""
    data, at = taken_over(played, {0: FORGER})
    return Forgery(data, Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, at, ROSTER)


@attack
def game_invented(table: str, played: Played) -> Forgery:
    """A whole game with keys of the referee's, against a roster with a seat's key."""
    seats = range(len(played.record.opened.seats))
    data, at = taken_over(played, {seat: games.key(f"invented {seat}") for seat in seats})
    return Forgery(data, Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, at, ROSTER)


def taken_over(played: Played, keys: Mapping[int, Signer]) -> tuple[bytes, int]:
    """The file with other keys for seats from their Joins on, and where the first seat joins."""
    entries = evil.entries(played)
    at = 0
    for i in acts(played, "join"):
        act = act_in(entries[i])
        at = i if act.seat == 0 else at
        if act.seat in keys:
            act.join.key = keys[act.seat].public.raw
            put_act(entries[i], act)
    return evil.signed_file(played, relinked(entries, keys=keys)), at


# --- rules, options, tables, header --------------------------------------------------------------------------------


@attack
def rules_version_swapped(table: str, played: Played) -> Forgery:
    """GameOpen names another version than the header."""
    return corrupt(reopened(played, lambda opened: setattr(opened, "rules_version", 2)), Code.HEADER, 0)


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
def tables_of_ones_own(table: str, played: Played) -> Forgery | None:
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
    """Version 2 in GameOpen, whose meaning nobody knows."""
    data = reopened(played, lambda opened: setattr(opened, "format_version", 2))
    return Forgery(data, Verdict.UNSUPPORTED, Code.UNSUPPORTED, 0)


@attack
def short_nonce(table: str, played: Played) -> Forgery:
    """Of 15 bytes."""
    return corrupt(reopened(played, lambda opened: setattr(opened, "nonce", bytes(15))), Code.MALFORMED, 0)


@attack
def game_open_of_17_kib(table: str, played: Played) -> Forgery:
    """Good for nothing but work."""
    keys = [games.key(f"arbiter {i}").public.raw for i in range(512)]
    return corrupt(reopened(played, lambda opened: opened.arbiter_keys.extend(keys[1:])), Code.MALFORMED, 0)


@attack
def entry_with_an_unknown_field(table: str, played: Played) -> Forgery:
    """What it says is for those who know it."""
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
    """The game is over and closed, and nobody can recompute the deck."""
    if not events(played, "disclose"):
        return None
    data = evil.signed_file(played, played.entries[:-1])
    return Forgery(data, Verdict.UNDISCLOSED, Code.UNDISCLOSED, None)


# --- rules -----------------------------------------------------------------------------------------------------------


@attack
def illegal_move_let_through(table: str, played: Played) -> Forgery | None:
    """The seat signs it, the referee enters the position that it leads to, and then ends the game."""
    if (found := misruled(table)) is None:
        return None
    rigged, at = found
    return against_rules(rigged.file(), Code.RULES, at)


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
    """The game goes on by its rules; the referee ends it with points."""
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
    """An entry that the format has and this version does not offer."""
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
