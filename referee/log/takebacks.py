"""What a game was after each of its entries, so that it can be gone back to.

A position is kept now and then, and what came after it is played again: going back costs little, and so does
remembering, however long the game.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

from referee.games.game import Ending, State
from referee.log.clocks import SeatClock
from referee.log.errors import demand

_EVERY = 16
"""Events between two positions that are kept."""


class Moment(NamedTuple):
    """What stood after an entry that changed the position, the clocks, or the seats in play."""

    seq: int
    event: Any
    """The engine's own; None where only clocks or seats changed."""
    clocks: tuple[SeatClock, ...]
    out: Mapping[int, Ending]
    """Seats that have forfeited and how, in that order."""
    is_draw: bool
    """Something became known that was not before."""
    is_scribes: bool
    """A scribe may take it back: entered by one, or by the referee, or only clocks moved."""


class Takebacks:
    """The moments of a game that count, oldest first; those that were taken back are not among them."""

    def __init__(self, state: State, first: Moment) -> None:
        """``first``: when play began, in position ``state``, which must not change."""
        self._moments = [first]
        self._kept = [(0, state)]
        """Positions, each with the index of its moment."""
        self._gone: list[tuple[int, int]] = []
        """First and last entry of what was taken back, ascending."""

    def add(self, moment: Moment, state: State) -> None:
        """Remember a moment. ``state`` is the position after it, which must not change."""
        self._moments.append(moment)
        if len(self._moments) - 1 - self._kept[-1][0] >= _EVERY:
            self._kept.append((len(self._moments) - 1, state))

    def check(self, seq: int, now: int, *, drawn: bool = True, others: bool = True, idle: bool = True) -> None:
        """Check that the game can go back, with entry ``now``, to what it was after entry ``seq``.

        ``drawn``: also past what was drawn or rolled; ``others``: also past what no scribe entered; ``idle``: also
        where the position stays, as clocks go back, too.

        Raise ``LogError`` (``NOT_AWAITED``).
        """
        first = self._moments[0].seq
        what, expected = "the game cannot go back to entry {seq}", "an entry from {first}, where play began, to {last}"
        demand("TBL-22", first <= seq < now, what, expected, seq=seq, first=first, last=now - 1)
        demand("TBL-22", not self.is_gone(seq), what, "an entry that was not taken back", seq=seq)
        is_idle = True
        for moment in self._moments[::-1]:
            if moment.seq <= seq:
                break
            is_idle &= moment.event is None
            past_draw = "the game cannot go back to entry {seq}, past the draw in entry {draw}"
            may = drawn or not moment.is_draw
            demand("TBL-23", may, past_draw, "entry {draw} or later", seq=seq, draw=moment.seq)
            corrected, may = "a scribe cannot correct entry {seq}", moment.is_scribes or others
            demand("TBL-25", may, corrected, "entries that scribes entered", seq=moment.seq)
        demand("TBL-22", idle or not is_idle, what, "an entry with a move, a draw or a pass after it", seq=seq)

    def is_gone(self, seq: int) -> bool:
        """Return whether what this entry did was taken back."""
        at = bisect_right(self._gone, (seq, 1 << 32)) - 1
        return at >= 0 and self._gone[at][0] <= seq <= self._gone[at][1]

    def go_back(self, seq: int, now: int) -> tuple[State, Moment, tuple[int, ...]]:
        """Return the position after entry ``seq``, its moment, and the entries whose events are taken back by this.

        It is gone on with from entry ``now``. After ``check``.
        """
        at = bisect_right(self._moments, seq, key=lambda moment: moment.seq) - 1
        moment = self._moments[at]
        taken_back = tuple(later.seq for later in self._moments[at + 1 :] if later.event is not None)
        del self._moments[at + 1 :]
        while self._kept[-1][0] > at:
            self._kept.pop()
        index, state = self._kept[-1]
        if any(later.event is not None for later in self._moments[index + 1 :]):
            state = state.copy()
            for later in self._moments[index + 1 :]:
                if later.event is not None:
                    state.apply(later.event)
        while self._gone and self._gone[-1][0] > seq:
            self._gone.pop()
        self._gone.append((seq + 1, now - 1))
        return state, moment, taken_back
