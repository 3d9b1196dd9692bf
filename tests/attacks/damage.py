"""Damage that needs no thought: any bit, any cut, any length of a file. Never COMPLETE; cuts and damage differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

from referee.log.errors import Code
from referee.log.file import MAGIC
from referee.log.verdict import Layer, Report, Verdict
from tests.log import evil
from tests.log.games import Played


class Wrong(AssertionError):
    """An audit that said something else than it had to."""


class Target:
    """A game's file, and where its frames end."""

    def __init__(self, played: Played) -> None:
        self.played = played
        self.data = played.file()
        self.ends = [len(MAGIC)]
        for frame in evil.frames(self.data):
            self.ends.append(self.ends[-1] + len(frame))

    def entries_before(self, at: int) -> int:
        """Return whole entries up to this byte."""
        return max(0, min(len(self.played.entries), sum(end <= at for end in self.ends) - 2))

    def flip(self, bit: int) -> None:
        """Turn one bit over: damage, at the entry that was hit. Raises ``Wrong``."""
        data = bytearray(self.data)
        data[bit // 8] ^= 1 << bit % 8
        report = self.played.audit(bytes(data))
        entry = self.entries_before(bit // 8)
        self._hold(report, Verdict.CORRUPT, f"bit {bit} turned over")
        found = report.decisive
        if found is None or (found.layer, found.entry) != (Layer.FRAMES, entry):
            raise Wrong(f"bit {bit} turned over: {found}; expected FRAME at entry {entry}")

    def cut(self, size: int) -> None:
        """Keep the first ``size`` bytes: a prefix, torn where a frame is. Raises ``Wrong``."""
        report = self.played.audit(self.data[:size])
        self._hold(report, Verdict.PREFIX, f"cut at {size}")
        codes = {finding.code for finding in report.findings}
        torn = Code.TORN in codes
        if torn == (size in self.ends) or Code.FRAME in codes:
            raise Wrong(f"cut at {size}: {sorted(codes)}")
        if report.entries != self.entries_before(size):
            raise Wrong(f"cut at {size}: {report.entries} entries, expected {self.entries_before(size)}")

    def lengthen(self, frame: int, length: int) -> None:
        """Give a frame another length: damage, though the rest may look like a torn tail. Raises ``Wrong``."""
        at = self.ends[frame]
        data = self.data[:at] + length.to_bytes(4, "big") + self.data[at + 4 :]
        if data != self.data:
            self._hold(self.played.audit(data), Verdict.CORRUPT, f"length {length} in frame {frame}")

    def splice(self, frames: list[int], *, ended: bool) -> None:
        """These frames instead of its own, in this order; ``ended``: under an END that fits. Raises ``Wrong``."""
        own = evil.frames(self.data)
        chosen = [own[i] for i in frames]
        data = evil.ended(chosen) if ended else MAGIC + b"".join(chosen)
        if data == self.data:
            return
        report = self.played.audit(data)
        whole_prefix = not ended and frames == list(range(len(frames)))
        self._hold(report, Verdict.PREFIX if whole_prefix else Verdict.CORRUPT, f"frames {frames}, ended {ended}")

    @staticmethod
    def _hold(report: Report, expected: Verdict, what: str) -> None:
        if report.verdict is not expected:
            raise Wrong(f"{what}: {report.verdict.name}, expected {expected.name}\n{report.as_text()}")

    # --- all that there is to try -----------------------------------------------------------------------

    def everything(self) -> Iterator[Callable[[], None]]:
        """Yield every flip, every cut, every length and every splice."""
        yield from (partial(self.flip, bit) for bit in range(len(self.data) * 8))
        yield from (partial(self.cut, size) for size in range(len(self.data)))
        yield from self.lengths()
        yield from self.splices()

    def lengths(self) -> Iterator[Callable[[], None]]:
        """For every frame: none, one more and less, all that is left, more than that, the greatest there are."""
        for frame, at in enumerate(self.ends[:-1]):
            real = int.from_bytes(self.data[at : at + 4], "big")
            left = len(self.data) - at - 9
            near = (real - 1, real + 1, real + 9, left, left + 1, left + 100)
            for length in (0, 1, *near, 32 * 1024, 1 << 31, (1 << 32) - 1):
                yield partial(self.lengthen, frame, length)

    def splices(self) -> Iterator[Callable[[], None]]:
        """Yield each frame dropped, each doubled, each two neighbours swapped; with and without an END that fits."""
        own = list(range(len(self.ends) - 1))
        for i in own:
            changed = [own[:i] + own[i + 1 :], own[: i + 1] + own[i:]]
            if i:
                changed.append([*own[: i - 1], i, i - 1, *own[i + 1 :]])
            for frames in changed:
                yield partial(self.splice, frames, ended=False)
                yield partial(self.splice, frames, ended=True)

    def at_random(self, rng: random.Random) -> None:
        """One flip or one cut. Raises ``Wrong``."""
        if rng.random() < 0.5:
            self.flip(rng.randrange(len(self.data) * 8))
        else:
            self.cut(rng.randrange(len(self.data)))
