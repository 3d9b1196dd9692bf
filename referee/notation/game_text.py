"""A whole game as text: its headers, then a line an event. Knows no game.

``read`` plays what it reads, so a text that it accepts is a game that can be played; ``write`` prints the one form
that every other way to write the same game is brought to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Game, Pending, State
from referee.games.results import Contest, Result, Wait
from referee.notation import accepted, contest_text, headers
from referee.notation.errors import Kind, NotationError, either, illegal
from referee.notation.grammar import grammar, place_of, syntax_error
from referee.notation.headers import Headers, Setup
from referee.notation.outcomes import outcome
from referee.notation.registry import notation


@dataclass(frozen=True, slots=True)
class GameText:
    """A game, or its beginning."""

    setup: Setup
    events: tuple[Any, ...]
    """Of these, moves that break rules stand because an arbiter let them (TBL-7)."""
    contest: Contest = field(default_factory=Contest)
    """What happened beside the moves."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and where it led."""

    game: GameText
    state: State
    """After the last event."""
    accepted: tuple[int, ...] = ()
    """Numbers of the lines, from 1, with moves that an arbiter let stand."""

    @property
    def result(self) -> Result | None:
        """What the game has come to; None: it goes on."""
        return self.game.contest.result(self.game.setup.seats, self.state.pending())


# Printing


def write(game: GameText, *, waits: Wait | None = None) -> str:
    """Return the canonical form; with ``waits`` a comment that the result is not entered yet, and for what it waits.

    Raise ``ValueError`` for an event that no arbiter could let stand.
    """
    head, lines, state = written(game)
    result = game.contest.result(game.setup.seats, state.pending())
    if result is not None and (waits or not game.contest.is_plain):
        head.append(f"; {outcome(result, game.contest, waits=waits)}")
    return "".join(f"{each}\n" for each in (*head, "", *lines))


def written(game: GameText) -> tuple[list[str], list[str], State]:
    """Return the headers, the lines below them, and the position after the last. Raise ``ValueError`` as ``write``."""
    rules_id = game.setup.rules_id
    state = game.setup.start()
    lines = []
    told = 0
    for event in game.events:
        violations = state.check(event)
        if fixed := {*accepted.rule_ids(violations)} - game.setup.game.waivable:
            raise ValueError(f"{line(rules_id, state, event)} breaks {', '.join(sorted(fixed))}")
        lines.append(line(rules_id, state, event) + accepted.write(violations))
        state.apply(event)
        scored = notation(rules_id).rounds(state, told)
        told += len(scored)
        lines += [f"; {each}" for each in scored]
    head = [*headers.write(game.setup), *contest_text.write(game.contest, game.setup.seats, state.pending())]
    return head, lines, state


def line(rules_id: str, state: State, event: Any) -> str:
    """``0: choose 48 wheat/mine:3``, ``line: 3 17 22``: the event in this position, and whose it is."""
    (awaited, *_) = state.pending()
    words = notation(rules_id).describe(event, state)
    return f"{awaited.seat}: {words}" if isinstance(awaited, Decision | Forced) else words


# Reading


def read(text: str) -> Reading:
    """Raises ``NotationError`` for the first thing that is wrong."""
    found, acts = parse(text)
    if "Position" in found.values:
        raise found.wrong("Position", "a game, from its first event on")
    setup = found.setup()
    state = setup.start()
    events = []
    for act in acts:
        event = _event(setup.game, state, act, setup.game.waivable)
        state.apply(event)
        events.append(event)
    contest = contest_text.read(found, setup.seats, state.pending())
    marks = tuple(place_of(act)[0] for act in acts if mark_of(act) is not None)
    return Reading(GameText(setup, tuple(events), contest), state, marks)


def parse(text: str) -> tuple[Headers, list[Any]]:
    """The headers, and the trees of the lines below. Raises ``NotationError``."""
    rules_id = headers.named_game(text)
    tree: Any = grammar(rules_id).parse(text if text.endswith("\n") else f"{text}\n")
    acts = [child for child in tree.children if child.data != "header"]
    return Headers(rules_id, tree.children[: len(tree.children) - len(acts)]), acts


def read_line(rules_id: str, state: State, text: str, version: int = 0) -> Any:
    """Return the legal event of one line in this position, which stays as it is. Raise ``NotationError``.

    ``version``: of the rules, 0 for the newest; refusals have its texts.
    """
    act: Any = grammar(rules_id).parse(text, "act")
    if (mark := mark_of(act)) is not None:
        raise syntax_error(mark, "a move that is marked as accepted", "a legal move, as no arbiter has ruled on it")
    return _event(registry.get(rules_id, version), state, act, frozenset())


def _event(game: Game, state: State, act: Any, waivable: frozenset[str]) -> Any:
    """What a line means here: it is legal, or marked with the rules that it breaks. Raises ``NotationError``."""
    rules_id = game.rules_id
    event = meant(rules_id, state, act)
    violations = state.check(event)
    if (mark := mark_of(act)) is not None:
        accepted.check(mark, line(rules_id, state, event), violations, waivable)
    elif violations:
        rules = {rule.id: rule for rule in game.catalogue}
        raise illegal(place_of(act), line(rules_id, state, event), violations, rules)
    return event


def meant(rules_id: str, state: State, act: Any) -> Any:
    """The event of a line's tree in this position, by who or what is awaited; not yet judged.

    Raises ``NotationError``.
    """
    (awaited, *_) = state.pending()
    tree = act.children[-1] if act.data == "by_chance" else act.children[1]
    seat = seat_of(act)
    if _whose(awaited) != seat:
        found = "chance" if seat is None else f"seat {seat} acts"
        raise NotationError(Kind.ILLEGAL, place_of(act), found, _expected(awaited))
    if tree.data == "pass" and seat is not None:
        return ForcedPass(seat)
    return registry.part(__package__, rules_id, "text").event(tree, state)


def seat_of(act: Any) -> int | None:
    """Whose act the line's tree is; None for what is drawn or rolled."""
    return None if act.data == "by_chance" else int(act.children[0])


def mark_of(act: Any) -> Any:
    """The mark of a move that an arbiter let stand; None where the line has none."""
    return None if act.data == "by_chance" else act.children[2]


def _whose(awaited: Pending) -> int | None:
    """The seat that acts; None for chance, -1 for nobody."""
    match awaited:
        case Decision(seat) | Forced(seat):
            return seat
        case Chance():
            return None
        case _:
            return -1


def _expected(awaited: Pending) -> str:
    """What the game waits for."""
    match awaited:
        case Decision(seat, kinds):
            return f"seat {seat}: {either(kind.replace('_', ' ') for kind in kinds)}"
        case Forced(seat):
            return f"{seat}: pass, as seat {seat} has no legal action"
        case Chance(kind):
            return f"what was drawn or rolled: {kind.replace('_', ' ')}"
        case _:
            return "nothing after the end of the game"
