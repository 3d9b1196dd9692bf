"""A gateway that lies to the browser about a live game, and each of its lies."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from referee.log import merkle
from referee.log.entry import decode_entry
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from tests.log import evil, seated
from tests.log.games import ORIGIN, SIGNER, Played, key
from tests.log.verify_js import dealt, flipped
from tests.web.described import described

OTHER = CheckpointSigner(ORIGIN, key("another referee"))


STRANGER = CheckpointSigner("elsewhere.example", key("referee"))


def b64(data: bytes) -> str:
    return b64encode(data).decode()


@dataclass
class Commit:
    """A gateway's messages of one commit; a liar changes them."""

    entries: list[bytes]
    checkpoint: bytes
    positions: list[bytes]

    def step(self) -> dict[str, Any]:
        commit = {"entries": list(map(b64, self.entries)), "checkpoint": b64(self.checkpoint)}
        return {"commit": commit, "positions": list(map(b64, self.positions))}


def opening(log: bytes, positions: list[bytes] | None = None) -> dict[str, Any]:
    return {"open": b64(log), "positions": None if positions is None else list(map(b64, positions))}


class Gateway:
    """An honest one, with all that it has to hand on."""

    def __init__(self, played: Played) -> None:
        self.played, self.entries, self.notes = played, played.entries, played.notes
        self.size = len(self.entries)
        self.positions: list[bytes] = []
        self.told: list[Any] = []
        record = Record(decode_entry(self.entries[0]).open)
        for entry in self.entries:
            record.reread(entry)
            state: Any = record.game.position.state
            self.positions.append(state.encode())
            self.told.append(described(record.opened.rules_id, state))

    def running(self, size: int, note: bytes | None = None) -> bytes:
        """Return the file of the game when it had ``size`` entries, as the referee hands it out."""
        frames = evil.frames(self.played.file())[: 1 + size]
        return MAGIC + b"".join(frames) + encode_frame(FrameType.OLD_CHECKPOINT, note or self.notes[size - 1])

    def opening(self, size: int) -> dict[str, Any]:
        return opening(self.running(size), self.positions[:size])

    def commit(self, first: int, last: int) -> Commit:
        return Commit(self.entries[first:last], self.notes[last - 1], self.positions[first:last])


@cache
def gateway(rules_id: str, name: str = "dealt") -> Gateway:
    return Gateway(dealt(rules_id) if name == "dealt" else seated.of(rules_id, name))


def root(entries: list[bytes]) -> bytes:
    return merkle.root([merkle.leaf_hash(entry) for entry in entries])


def signed(entries: list[bytes], signer: CheckpointSigner = SIGNER) -> bytes:
    """Return a checkpoint over these entries."""
    return signer.sign(sha256(decode_entry(entries[0]).open).digest()[:16], len(entries), root(entries))


@cache
def other() -> Gateway:
    """Return another game by the same rules."""
    return gateway("alhambra", "contested")


LieOf = Callable[[Gateway, int, Commit], object]


def _replaced(position: Callable[[Gateway, int], bytes]) -> LieOf:
    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        commit.positions[0] = position(honest, n)

    return lie


def _edited(at: int, edit: Callable[[log_pb2.Entry], object]) -> LieOf:
    """One entry is altered, and those after it are linked to what it now is."""

    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        entries = [decode_entry(entry) for entry in [*honest.entries[:n], *commit.entries]]
        edit(entries[n + at])
        commit.entries[:] = evil.relinked(entries)[n:]

    return lie


def _noted(note: Callable[[Gateway, int, Commit], bytes]) -> LieOf:
    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        commit.checkpoint = note(honest, n, commit)

    return lie


def _forked(honest: Gateway, size: int) -> list[bytes]:
    """Another history, in which the clock ran otherwise from entry 1 on, and everybody signed."""
    entries = [decode_entry(entry) for entry in honest.entries[:size]]
    for entry in entries[1:]:
        entry.referee_ms += 1
    return evil.relinked(entries, players=True)


def _dishonest(at: int, edit: Callable[[log_pb2.Entry], object], position: bytes | None = None) -> LieOf:
    """With the referee's key and everybody's: only what the rules need no rules for can still be wrong."""

    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        entries = [decode_entry(entry) for entry in [*honest.entries[:n], *commit.entries]]
        edit(entries[n + at])
        leaves = evil.relinked(entries, players=True)
        commit.entries[:], commit.checkpoint = leaves[n:], signed(leaves)
        if position is not None:
            commit.positions[at] = position

    return lie


def _fork_goes_on(honest: Gateway, n: int, commit: Commit) -> None:
    leaves = _forked(honest, n + len(commit.entries))
    commit.entries[:], commit.checkpoint = leaves[n:], signed(leaves)


def _added(honest: Gateway, n: int, commit: Commit) -> None:
    last = commit.entries[-1]
    entry = decode_entry(last)
    ended = log_pb2.Entry(
        game_id=entry.game_id,
        seq=entry.seq + 1,
        prev=merkle.leaf_hash(last),
        referee_ms=entry.referee_ms,
        state_digest=entry.state_digest,
        end=log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED),
    )
    commit.entries.append(ended.SerializeToString(deterministic=True))
    commit.positions.append(commit.positions[-1])


def _cut(at: int) -> LieOf:
    def lie(honest: Gateway, n: int, commit: Commit) -> None:
        del commit.entries[at], commit.positions[at]

    return lie


def _swapped(items: list[bytes]) -> None:
    items[:2] = items[1::-1]


def _emptied(honest: Gateway, n: int, commit: Commit) -> None:
    commit.entries, commit.positions = [], []


def _seats_exchanged(honest: Gateway, n: int, commit: Commit) -> None:
    """Exchange the changes of the first two seats; both have no tiles yet."""
    data, head, each = commit.positions[2], 156, 36 + 2 + 8 + 8 + 1
    first, second, rest = data[head : head + each], data[head + each : head + 2 * each], data[head + 2 * each :]
    assert first != second
    assert first[-1] == second[-1] == 0
    commit.positions[2] = data[:head] + second + first + rest


_GARBAGE = b"ALH\x01 but no position"


# The change, on top of an honest feed of n entries, of the commit of the next three; the fault's name; and at which of
# the three it is (None: at none; below 0: before them). The three are moves and draws of a dealt game.
LIES: dict[str, tuple[LieOf, str, int | None]] = {
    "the position before": (_replaced(lambda g, n: g.positions[n - 1]), "DIGEST", 0),
    "the position after": (_replaced(lambda g, n: g.positions[n + 1]), "DIGEST", 0),
    "the first position": (_replaced(lambda g, n: g.positions[0]), "DIGEST", 0),
    "another seat on turn": (_replaced(lambda g, n: flipped(g.positions[n], 6 * 8)), "DIGEST", 0),
    "seats exchanged": (_seats_exchanged, "DIGEST", 2),
    "one bit of a position": (
        _replaced(lambda g, n: flipped(g.positions[n], len(g.positions[n]) * 8 - 1)),
        "DIGEST",
        0,
    ),
    "a position cut": (_replaced(lambda g, n: g.positions[n][:-1]), "DIGEST", 0),
    "no bytes": (_replaced(lambda g, n: b""), "DIGEST", 0),
    "positions swapped": (lambda g, n, c: _swapped(c.positions), "DIGEST", 0),
    "the last position altered": (lambda g, n, c: c.positions.__setitem__(2, c.positions[1]), "DIGEST", 2),
    "a position left out": (lambda g, n, c: c.positions.pop(), "DIGEST", None),
    "a position too many": (lambda g, n, c: c.positions.append(c.positions[-1]), "DIGEST", None),
    "the first entry left out": (_cut(0), "STALE_HEAD", 0),
    "an entry left out between": (_cut(1), "STALE_HEAD", 1),
    "the last entry left out": (_cut(2), "CHECKPOINT", None),
    "no entries": (_emptied, "CHECKPOINT", None),
    "entries swapped": (lambda g, n, c: _swapped(c.entries), "STALE_HEAD", 0),
    "an entry twice": (lambda g, n, c: c.entries.insert(1, c.entries[0]), "STALE_HEAD", 1),
    "an entry of before": (lambda g, n, c: c.entries.insert(0, g.entries[n - 1]), "STALE_HEAD", 0),
    "an entry added": (_added, "CHECKPOINT", None),
    "the time altered, in the last": (
        _edited(2, lambda e: setattr(e, "referee_ms", e.referee_ms + 1)),
        "CHECKPOINT",
        None,
    ),
    "the digest altered": (_edited(2, lambda e: setattr(e, "state_digest", bytes(32))), "CHECKPOINT", None),
    "the time altered, and linked again": (
        _edited(0, lambda e: setattr(e, "referee_ms", e.referee_ms + 1)),
        "CHECKPOINT",
        None,
    ),
    "bytes after an entry": (lambda g, n, c: c.entries.__setitem__(2, c.entries[2] + b"\xfa\x01\x01x"), "MALFORMED", 2),
    "an entry cut": (lambda g, n, c: c.entries.__setitem__(1, c.entries[1][:-1]), "MALFORMED", 1),
    "an entry too long": (lambda g, n, c: c.entries.__setitem__(0, bytes(32 * 1024 + 1)), "LIMIT", 0),
    "an entry of another game": (lambda g, n, c: c.entries.__setitem__(0, other().entries[n]), "WRONG_GAME", 0),
    "a checkpoint of another key": (_noted(lambda g, n, c: signed(g.entries[: n + 3], OTHER)), "UNTRUSTED_KEY", None),
    "a checkpoint of another name": (
        _noted(lambda g, n, c: signed(g.entries[: n + 3], STRANGER)),
        "UNTRUSTED_KEY",
        None,
    ),
    "a checkpoint with a wrong signature": (
        _noted(lambda g, n, c: c.checkpoint.rpartition(b" ")[0] + b" " + g.notes[n].rpartition(b" ")[2]),
        "NOTE_SIGNATURE",
        None,
    ),
    "a text for a checkpoint": (_noted(lambda g, n, c: b"everything is well\n"), "NOTE", None),
    "an old checkpoint": (_noted(lambda g, n, c: g.notes[n - 1]), "CHECKPOINT", None),
    "the first checkpoint": (_noted(lambda g, n, c: g.notes[0]), "CHECKPOINT", None),
    "a later checkpoint": (_noted(lambda g, n, c: g.notes[n + 3]), "CHECKPOINT", None),
    "a checkpoint of another game": (_noted(lambda g, n, c: other().notes[n + 2]), "WRONG_GAME", None),
    "another history goes on": (_fork_goes_on, "STALE_HEAD", 0),
    "a checkpoint of another history": (_noted(lambda g, n, c: signed(_forked(g, n + 3))), "CHECKPOINT", None),
    "a checkpoint that counts otherwise": (
        _noted(lambda g, n, c: SIGNER.sign(g.played.record.game_id, n + 4, root(g.entries[: n + 3]))),
        "CHECKPOINT",
        None,
    ),
    "an old checkpoint of another history": (_noted(lambda g, n, c: signed(_forked(g, 5))), "FORK", -2),
    "a checkpoint of another history, as long as what is known": (
        _noted(lambda g, n, c: signed(_forked(g, n))),
        "FORK",
        -1,
    ),
    "a signed position that is none": (
        _dishonest(0, lambda e: setattr(e, "state_digest", sha256(_GARBAGE).digest()), _GARBAGE),
        "MALFORMED",
        0,
    ),
    "an event that is not offered": (
        _dishonest(2, lambda e: e.timeout.CopyFrom(log_pb2.Timeout(seat=0))),
        "UNSUPPORTED",
        2,
    ),
}
"""By name."""


@cache
def place() -> int:
    """Where three draws stand, which show new positions. Only the referee signs them, so a liar can link them again."""
    honest = gateway("alhambra")
    events = [decode_entry(entry).WhichOneof("event") for entry in honest.entries]
    return next(
        n
        for n in range(6, honest.size - 4)
        if events[n : n + 3] == ["chance"] * 3 and len(set(honest.positions[n - 1 : n + 3])) == 4
    )


def lies_in_a_log(n: int) -> dict[str, tuple[dict[str, Any], str, int | None]]:
    """Return deliveries of a game of n entries, their names, and the entry at which each is wrong."""
    honest = gateway("alhambra")
    log, frames = honest.running(n), evil.frames(honest.running(n))
    fork = _forked(honest, n)
    of_fork = MAGIC + b"".join([frames[0], *(encode_frame(FrameType.ENTRY, entry) for entry in fork)])
    old = encode_frame(FrameType.OLD_CHECKPOINT, honest.notes[n - 2])
    positions = honest.positions[:n]
    whole = honest.played.file()
    return {
        "cut in its checkpoint": (opening(log[:-1]), "TORN", None),
        "cut before its checkpoint": (opening(MAGIC + b"".join(frames[:-1])), "CHECKPOINT", 0),
        "cut in an entry": (opening(log[: len(log) // 2]), "TORN", None),
        "an entry left out": (opening(MAGIC + b"".join([*frames[:9], *frames[10:]])), "STALE_HEAD", 8),
        "the last entry left out": (opening(MAGIC + b"".join([*frames[:-2], frames[-1]])), "STALE", None),
        "entries swapped": (
            opening(MAGIC + b"".join([*frames[:9], frames[10], frames[9], *frames[11:]])),
            "STALE_HEAD",
            8,
        ),
        "an old checkpoint": (opening(MAGIC + b"".join(frames[:-1]) + old), "CHECKPOINT", None),
        "a checkpoint of another key": (
            opening(honest.running(n, signed(honest.entries[:n], OTHER))),
            "UNTRUSTED_KEY",
            None,
        ),
        "a checkpoint of another game": (opening(honest.running(n, other().notes[n - 1])), "CHECKPOINT", None),
        "a checkpoint of another history": (opening(honest.running(n, signed(fork))), "CHECKPOINT", n - 1),
        "no checkpoint": (opening(honest.running(n, b"-")), "NOTE", None),
        "another history with the checkpoint of this": (opening(of_fork + frames[-1]), "CHECKPOINT", n - 1),
        "a bit": (opening(flipped(log, 8 * (len(MAGIC) + 40))), "FRAME", 0),
        "nothing": (opening(b""), "TORN", None),
        "no entries": (opening(MAGIC + frames[0]), "CHECKPOINT", None),
        "a position of before": (opening(log, [*positions[:9], positions[7], *positions[10:]]), "DIGEST", 9),
        "too few positions": (opening(log, positions[:-1]), "DIGEST", None),
        "a whole game of another key": (
            opening(honest.played.file(note=signed(honest.entries, OTHER))),
            "UNTRUSTED_KEY",
            None,
        ),
        "a whole game, cut": (opening(whole[:-3]), "TORN", None),
    }
