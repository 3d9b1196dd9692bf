"""What happens to messages on their way, and when: drawn from a seed, or one fault at one place."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum


class Way(Enum):
    """In which direction."""

    UP = "to the referee"
    DOWN = "to the client"


class Fault(Enum):
    """What happens to one message."""

    DROP = "it is lost, and the stream goes on"
    DUPLICATE = "it comes twice"
    SWAP = "it comes after the one that follows it"
    FLIP = "one bit of it is another"
    DELAY = "it comes late"
    CUT_BEFORE = "the stream breaks, and it is lost"
    CUT_AFTER = "the stream breaks right after it"
    STALL = "neither it nor anything after it comes, and nobody says so"


DAMAGE = frozenset({Fault.DROP, Fault.DUPLICATE, Fault.SWAP, Fault.FLIP})
"""What no network below gRPC does: a client may think that the other side lies."""

MOST_DAMAGE = 2
"""In a row, while a client gets no further: it believes what comes three times."""

Plan = Callable[[Way, int], Fault | None]
"""What happens to the nth message that way, from 0 on."""


def random_plan(seed: object, gap: int) -> Plan:
    """About every ``gap``-th message suffers something."""

    def plan(way: Way, number: int) -> Fault | None:
        rng = random.Random(f"{seed}/{way.name}/{number}")
        return rng.choice(list(Fault)) if not rng.randrange(gap) else None

    return plan


def single(way: Way, number: int, fault: Fault) -> Plan:
    """One fault at one message."""
    return lambda at, index: fault if (at, index) == (way, number) else None


@dataclass(slots=True)
class Stream:
    """What came on one stream, in order."""

    client: str
    resume: int | None
    """The entry after which it was to go on; None: nothing came at all."""
    entries: list[bytes] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    """What each message said to be the newest entry so far."""


Meddle = Callable[[Way, bytes], Awaitable[tuple[tuple[bytes, ...], tuple[bytes, ...]]]]
"""What becomes of a message of PlayGame beside its fault: what goes on in its place, and what goes back to its sender.

It may wait, and raise ``Broken``."""


class Broken(Exception):
    """The stream ends here, as when a network breaks."""


class Ended(Broken):
    """The stream ends here without an error, and nobody says why."""


@dataclass(slots=True)
class Party:
    """One client's messages over all of its streams: how many there were, and what is to happen to them."""

    name: str
    plan: Plan
    most_damage: int = MOST_DAMAGE
    streams: list[Stream] = field(default_factory=list)
    """What the referee sent on each stream of PlayGame, before anything happened to it."""
    counts: dict[Way, int] = field(default_factory=lambda: dict.fromkeys(Way, 0))
    suffered: list[tuple[Way, int, Fault]] = field(default_factory=list)
    damaged: int = 0
    """In a row, while the client has got no further."""
    after_seq: int = -2
    """How far it has got, as far as it has said."""
    meddle: Meddle | None = None
    ends: bool = False
    """The stream ends, once, after what goes to the client now."""

    async def passed(self, way: Way, data: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """Return what goes on in place of a message, and what goes back. Raise ``Broken``."""
        return await self.meddle(way, data) if self.meddle is not None else ((data,), ())

    def next(self, way: Way) -> Fault | None:
        """What happens to the next message that way."""
        number = self.counts[way]
        self.counts[way] += 1
        fault = self.plan(way, number)
        if fault in DAMAGE and self.damaged >= self.most_damage:
            fault = Fault.CUT_BEFORE
        if fault is not None:
            self.damaged += fault in DAMAGE
            self.suffered.append((way, number, fault))
        return fault

    def flipped(self, data: bytes, way: Way) -> bytes:
        """With one bit changed, always the same one for the same message."""
        if not data:
            return b"\0"
        bit = random.Random(f"{self.name}/{way.name}/{self.counts[way]}").randrange(8 * len(data))
        return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]
