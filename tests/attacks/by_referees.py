"""Attacks of an unscrupulous referee: it signs every head itself. Of some seats it may know the keys as well.

Where "everybody" signs again, only the subject of the case is left: the layers before it have nothing to object to.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from referee.log.errors import Code
from referee.log.file import FrameType, encode_frame
from referee.log.note import Checkpoint
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from tests.attacks.corpus import TABLES, other_course, other_game
from tests.attacks.forge import (
    FORGER,
    Attacks,
    Forgery,
    Signer,
    act_in,
    acts,
    against_rules,
    corrupt,
    edited,
    events,
    put_act,
    relinked,
    split,
    whole,
)
from tests.log import evil, games
from tests.log.games import SIGNER, Played, build_file

REFEREES = Attacks()
attack = REFEREES.by("referee")


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


@attack
def pinned_seat_scribed(table: str, played: Played) -> Forgery | None:
    """The referee opens the game so that a scribe of its own acts for the seat."""
    if TABLES[table].kind.get("dealt", True):
        return None
    other = TABLES[table].play(TABLES[table].open(scribed=(0,)))
    return Forgery(other.file(), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, 0, ROSTER)


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
