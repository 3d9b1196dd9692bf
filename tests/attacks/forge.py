"""The tools of attackers: their own keys, those they know, and everything that needs none."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from typing import Protocol
from zlib import crc32

from referee.log import merkle
from referee.log.audit import audit
from referee.log.entry import NO_ENTRY
from referee.log.errors import Code
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.intent import intent_encoding
from referee.log.replay import signed_part
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Report, Verdict
from tests.log import evil
from tests.log.games import SIGNER, Played, build_file, key

PINNED = Policy(SIGNER.verifier)
FORGER = key("forger")


class Public(Protocol):
    """The public part of a key."""

    @property
    def raw(self) -> bytes: ...

    @property
    def id(self) -> bytes: ...


class Signer(Protocol):
    """A private key, or what passes for one."""

    @property
    def public(self) -> Public: ...

    def sign(self, message: bytes, /) -> bytes: ...


@dataclass(frozen=True)
class Forgery:
    """A file, and what the audit must come to; code and entry are those of the decisive finding."""

    data: bytes
    verdict: Verdict
    code: Code
    entry: int | None
    policy: Policy = PINNED

    def audit(self, played: Played) -> Report:
        return audit(BytesIO(self.data), self.policy, engines=played.engines)


def corrupt(data: bytes, code: Code, entry: int | None) -> Forgery:
    return Forgery(data, Verdict.CORRUPT, code, entry)


def against_rules(data: bytes, code: Code, entry: int | None) -> Forgery:
    return Forgery(data, Verdict.RULES, code, entry)


@dataclass(frozen=True)
class Attack:
    """An attack on a game, and its author. ``make`` gives None for a game without a target for it."""

    actor: str
    make: Callable[[str, Played], Forgery | None]
    """From the name of a table and its game."""
    name: str

    def __call__(self, table: str, played: Played) -> Forgery | None:
        return self.make(table, played)


class Attacks(dict[str, Attack]):
    """By name."""

    def by(self, actor: str) -> Callable[[Callable[[str, Played], Forgery | None]], None]:
        """Take a function in; its docstring's first line says what is done, its name names the attack."""

        def add(make: Callable[[str, Played], Forgery | None]) -> None:
            name = make.__name__.replace("_", " ")
            assert name not in self
            assert make.__doc__, f"{name} does not say what is done"
            self[name] = Attack(actor, make, name)

        return add


# --- what a game consists of -------------------------------------------------------------------------------


def events(played: Played, *kinds: str) -> list[int]:
    """Return indices of the entries with such events."""
    return [i for i, entry in enumerate(evil.entries(played)) if entry.WhichOneof("event") in kinds]


def acts(played: Played, *kinds: str) -> list[int]:
    """Return indices of the entries with such acts that were accepted."""
    return [i for i in events(played, "signed") if act_in(evil.entries(played)[i]).WhichOneof("act") in kinds]


def act_in(entry: log_pb2.Entry) -> log_pb2.Intent:
    part = signed_part(entry)
    assert part is not None
    return log_pb2.Intent.FromString(part.intent)


def put_act(entry: log_pb2.Entry, act: log_pb2.Intent) -> None:
    part = signed_part(entry)
    assert part is not None
    part.intent = act.SerializeToString(deterministic=True)


def split(a: Played, b: Played) -> int:
    """Return the first entry in which two histories differ."""
    return next(i for i, (x, y) in enumerate(zip(a.entries, b.entries, strict=False)) if x != y)


# --- with the referee's key ----------------------------------------------------------------------------------


def relinked(
    entries: Iterable[log_pb2.Entry],
    *,
    forged: Container[int] = (),
    keys: Mapping[int, Signer] | None = None,
    bodies: Mapping[int, Callable[[bytes], bytes]] | None = None,
) -> list[bytes]:
    """Return a chain that holds; every author signs again for the new place, but in the entries ``forged``.

    There somebody signs who does not have the author's key, and gives the author's key id. ``keys``: of seats that
    sign with another than theirs. ``bodies``: what becomes of an intent's bytes in such an entry before it is signed.
    """
    leaves: list[bytes] = []
    prev = NO_ENTRY
    for seq, entry in enumerate(entries):
        entry.seq, entry.prev = seq, prev
        if (part := signed_part(entry)) is not None:
            evil.resigned(entry)
            act = act_in(entry)
            own = keys.get(act.seat) if keys and act.WhichOneof("author") == "seat" else None
            if bodies and seq in bodies:
                part.intent = bodies[seq](part.intent)
                own = own or key(f"{act.WhichOneof('author')} {getattr(act, str(act.WhichOneof('author')))}")
            if own is not None:
                part.signature, part.key_id = own.sign(intent_encoding(part.intent)), own.public.id
            if seq in forged:
                part.signature = FORGER.sign(intent_encoding(part.intent))
        leaves.append(entry.SerializeToString(deterministic=True))
        prev = merkle.leaf_hash(leaves[-1])
    return leaves


def edited(played: Played, edit: Callable[[list[log_pb2.Entry]], object], *, forged: Container[int] = ()) -> bytes:
    """Return the file after an edit of its entries: players and referee sign for it, but for the entries ``forged``."""
    entries = evil.entries(played)
    edit(entries)
    return evil.signed_file(played, relinked(entries, forged=forged))


def reopened(played: Played, change: Callable[[log_pb2.GameOpen], object], *, header: bytes | None = None) -> bytes:
    """Return the file after a change of GameOpen: another game, that everybody signs for."""
    entries = evil.entries(played)
    opened = log_pb2.GameOpen.FromString(entries[0].open)
    change(opened)
    entries[0].open = opened.SerializeToString(deterministic=True)
    identity = sha256(entries[0].open).digest()[:16]
    for entry in entries:
        entry.game_id = identity
    leaves = relinked(entries)
    head = SIGNER.sign(identity, len(leaves), merkle.root([merkle.leaf_hash(leaf) for leaf in leaves]))
    return build_file(header or played.header, leaves, head)


def under_header(played: Played, header: bytes) -> bytes:
    """Return the file with another header."""
    return replace(played, header=header).file()


# --- without any key --------------------------------------------------------------------------------------------


def whole(frames: Iterable[bytes]) -> bytes:
    return MAGIC + b"".join(frames)


def with_payload(frame: bytes, new: bytes) -> bytes:
    return encode_frame(frame[4], new)


def place_of(frames: list[bytes], kind: FrameType) -> int:
    """Return the place of the last frame of the type."""
    return max(i for i, frame in enumerate(frames) if frame[4] == kind)


def with_note(played: Played, note: bytes) -> bytes:
    """Another final checkpoint, under an END that fits."""
    frames = evil.frames(played.file())
    at = place_of(frames, FrameType.CHECKPOINT)
    return evil.ended([*frames[:at], encode_frame(FrameType.CHECKPOINT, note), *frames[at + 1 :]])


def raw_frame(kind: int, data: bytes) -> bytes:
    """Return a frame of whatever type and length."""
    body = len(data).to_bytes(4, "big") + bytes([kind]) + data
    return body + crc32(body).to_bytes(4, "big")
