"""Help with an illegal line: its possible meanings, judged by the lines that follow, and the rulings that remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Final

from referee.games.game import Decision, Forced, ForcedPass, State
from referee.text.notation import game_text, grammar
from referee.text.notation.grammar import place_of
from referee.text.notation.table import Table, due_of
from referee.text.notation.violations import NotationError
from referee.text.report.rulings import Adjudication, RulingError, can_be_ruled
from referee.text.report.scorebook import Scorebook, Transcript
from referee.text.report.sheet import is_over
from referee.text.words.catalogue import Words

_AHEAD: Final = 200
"""Lines that are looked at behind the illegal one."""
_MOST_MOVES: Final = 1000
"""Legal moves that are tried for one line."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One way in which the game may have continued."""

    event: Any
    """None: the line is taken as if it were not there."""
    words: str
    seat: int | None
    told: str
    follow: int
    """The number of next lines that can follow."""
    is_played: bool = False
    """The line itself, which breaks rules that allow it to stand."""
    is_before: bool = False
    """The move goes before the line, which then follows."""


def moves(table: Table, state: State, acts: Sequence[Any], index: int, words: str, *, say: Words) -> list[Repair]:
    """Return the legal moves in place of line ``index`` in this position of ``table``, those first after which most
    lines follow, then the nearest to the written line, ``words``.
    """
    return _sorted(_others(table, state, _moves(acts[index + 1 :]), say), words)


def _moves(acts: Sequence[Any]) -> list[Any]:
    return [act for act in acts if act.data != "by_table"]


def best(table: Table, acts: Sequence[Any], index: int, *, words: str, event: Any, say: Words) -> Repair | None:
    """Return the repair after which most lines follow; None if none leads on.

    ``words``: the written line; ``event``: its event, if it is a move. Of equal ones, in this order: the line stands as
    it was played; another move in its place; the line was not there; a move before it is missing.
    """
    state, waivable = table.state, table.setup.game.waivable
    act, rest = acts[index], _moves(acts[index + 1 :])
    seat = game_text.seat_of(act)
    found: list[Repair] = []
    broken = {*grammar.rule_ids(state.check(event))} if event is not None and seat is not None else set()
    if broken and broken <= waivable:
        after = _after(state, event)
        told = say("taken.played")
        found.append(Repair(event, words, seat, told, _follow(table, after, rest), is_played=True))
    if _seat_on_turn(state) == seat is not None:
        found += moves(table, state, acts, index, words, say=say)[:1]
    left_out = _follow(table, state.copy(), rest)
    found.append(Repair(None, "", seat, say("taken.nothing"), left_out))
    if _seat_on_turn(state) is not None:
        missing = [
            Repair(
                each.event,
                each.words,
                each.seat,
                say("taken.before", move=each.words),
                each.follow - 1,
                is_before=True,
            )
            for each in _sorted(_others(table, state, _moves(acts[index:]), say), words)
            if each.follow
        ]
        found += missing[:1]
    chosen = max(found, key=lambda each: each.follow)
    if chosen.follow or not rest:
        return chosen
    # The next line is illegal as well: it is enough that its seat is on turn there.
    for each in found:
        ahead = state if each.event is None else _after(state, each.event)
        if game_text.seat_of(rest[0]) is not None and _seat_on_turn(ahead) == game_text.seat_of(rest[0]):
            return each
    return None


def _others(table: Table, state: State, rest: Sequence[Any], say: Words) -> Iterator[Repair]:
    """Yield every legal move of the seat on turn, with how many lines follow it."""
    awaited = state.pending()[0]
    events: Iterator[Any] = iter(())
    if isinstance(awaited, Forced):
        events = iter((ForcedPass(awaited.seat),))
    elif isinstance(awaited, Decision):
        events = islice(state.legal_moves(), _MOST_MOVES)
    for event in events:
        words = game_text.line(table.setup.rules_id, state, event)
        follow = _follow(table, _after(state, event), rest)
        yield Repair(event, words, _seat_on_turn(state), say("taken.as", move=words), follow)


def _sorted(repairs: Iterator[Repair], words: str) -> list[Repair]:
    near = SequenceMatcher(b=words, autojunk=False)

    def nearness(found: Repair) -> tuple[int, float]:
        near.set_seq1(found.words)
        return -found.follow, -near.ratio()

    return sorted(repairs, key=nearness)


def _follow(table: Table, state: State, rest: Sequence[Any]) -> int:
    """Return how many lines can follow in this position, which changes."""
    for number, act in enumerate(rest[:_AHEAD]):
        while (due := due_of(state, table.out)) is not None and due.seat != game_text.seat_of(act):
            state.apply(due.event)
        try:
            event = game_text.meant(table.setup.rules_id, state, act)
        except NotationError:
            return number
        if violations := state.check(event):
            mark = game_text.mark_of(act)
            if mark is None or tuple(mark.children) != grammar.rule_ids(violations):
                return number
            if not {*grammar.rule_ids(violations)} <= table.setup.game.waivable:
                return number
        state.apply(event)
    return min(len(rest), _AHEAD)


def _after(state: State, event: Any) -> State:
    after = state.copy()
    after.apply(event)
    return after


def _seat_on_turn(state: State) -> int | None:
    awaited = state.pending()[0]
    return awaited.seat if isinstance(awaited, Decision | Forced) else None


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
        repairs = moves(self._table, state, acts, index, self._transcript.words(line), say=self._say)
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
