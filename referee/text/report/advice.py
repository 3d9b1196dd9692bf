"""Advice for the arbiter: the possible rulings where a ruling or a policy leads no further."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from referee.games.game import State
from referee.text.notation import game_text
from referee.text.notation.grammar import place_of
from referee.text.notation.violations import NotationError
from referee.text.report import repair
from referee.text.report.record import Adjudication
from referee.text.report.rulings import RulingError, can_be_ruled
from referee.text.report.scorebook import Scorebook, Transcript
from referee.text.report.sheet import is_over
from referee.text.words.catalogue import Words

_MOST_ADVICE: Final = 3
"""Moves that are proposed for a line that cannot stand."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A move that does not count."""

    seat: int
    line: int
    index: int
    """The line's index among those with moves."""
    event: Any
    """None: it was no move."""
    before: State
    """The position in which it was made."""


class Advice:
    """Tries other rulings, and says which ones let the record continue. It enters nothing."""

    def __init__(
        self, transcript: Transcript, book: Scorebook, tried: Callable[[int], Adjudication] | None, say: Words
    ) -> None:
        """``tried``: the outcome of skipping a line; None: no advice is asked for."""
        self._transcript = transcript
        self._table = book.table
        self._outcome = book.outcome
        self._tried = tried
        self._say = say

    def about(self, index: int, fell: Fallen | None) -> str:
        """Return what else can be ruled about the line; about ``fell``, which does not count, if it is a draw."""
        if self._tried is None:
            return ""
        act = self._transcript.acts[index]
        line, seat = place_of(act)[0], game_text.seat_of(act)
        if seat is not None:
            others = [] if is_over(self._outcome.state) else self._others(self._outcome.state, index)
            return can_be_ruled(line, [f"{line}: skip", *others] if self.can_skip(line) else others, self._say)
        if fell is None:
            return ""
        first = fell.line
        advice = can_be_ruled(first, self._others(fell.before, fell.index), self._say)
        return f"{self._say('advice.draw', n=first)}; {advice}"

    def can_skip(self, line: int) -> bool:
        """Return whether the record continues without the line: it does not come to a draw that does not fit."""
        try:
            stopped = self._tried(line).stopped if self._tried is not None else None
        except (NotationError, RulingError):
            return False
        draws = {place_of(act)[0] for act in self._transcript.acts if act.data == "by_chance"}
        return stopped is None or stopped.line not in draws

    def _others(self, state: State, index: int) -> list[str]:
        """Return rulings that replace a line by another move, after which the record continues."""
        acts = self._transcript.acts
        line, seat = place_of(acts[index])[0], game_text.seat_of(acts[index])
        repairs = repair.moves(self._table, state, acts, index, self._transcript.words(line), say=self._say)
        found = [each for each in repairs if each.seat == seat and each.follow]
        return [f"{line}: {each.words}" for each in found if each.follow == found[0].follow][:_MOST_ADVICE]

    def newer_rules(self, act: Any, wrong: NotationError) -> str:
        """Return that the newest rules allow the first illegal line; where more happened, nothing is known of them."""
        if not wrong.violations or self._outcome.illegal or self._outcome.acts or game_text.mark_of(act) is not None:
            return ""
        event, _ = self._transcript.meant(self._outcome.state, act)
        events = (entered.event for entered in self._outcome.entered)
        header = game_text.allowed_by(self._outcome.setup, events, event)
        return self._say("advice.header", header=header) if header else ""
