"""A whole game as text: its headers, then a line an event. Knows no game.

``read`` plays what it reads, so a text that it accepts is a game that can be played; ``write`` prints the one form
that every other way to write the same game is brought to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over, Pending, State
from referee.notation import headers
from referee.notation.errors import Kind, NotationError, illegal
from referee.notation.grammar import cut, either, grammar, place_of
from referee.notation.headers import Headers, Setup
from referee.notation.registry import notation


@dataclass(frozen=True, slots=True)
class GameText:
    """A game, or its beginning."""

    setup: Setup
    events: tuple[Any, ...]
    result: str = headers.RUNNING
    """The points of the seats, such as ``51 43``; or one of ``headers.WITHOUT_SCORES``."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and where it led."""

    game: GameText
    state: State
    """After the last event."""


def result_of(state: State) -> str:
    """As the rules have it: the points of the seats if the game is over."""
    (awaited, *_) = state.pending()
    return " ".join(map(str, awaited.scores)) if isinstance(awaited, Over) else headers.RUNNING


# Printing


def write(game: GameText) -> str:
    """The canonical form. The events have to be legal."""
    lines = [*headers.write(game.setup), headers.line("Result", game.result), ""]
    rules_id = game.setup.rules_id
    state = game.setup.start()
    told = 0
    for event in game.events:
        lines.append(line(rules_id, state, event))
        state.apply(event)
        scored = notation(rules_id).rounds(state, told)
        told += len(scored)
        lines += [f"; {each}" for each in scored]
    return "".join(f"{each}\n" for each in lines)


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
        event = _event(setup.rules_id, state, act)
        state.apply(event)
        events.append(event)
    return Reading(GameText(setup, tuple(events), _result(found, state)), state)


def parse(text: str) -> tuple[Headers, list[Any]]:
    """The headers, and the trees of the lines below. Raises ``NotationError``."""
    rules_id = headers.named_game(text)
    tree: Any = grammar(rules_id).parse(text if text.endswith("\n") else f"{text}\n")
    acts = [child for child in tree.children if child.data != "header"]
    return Headers(rules_id, tree.children[: len(tree.children) - len(acts)]), acts


def read_line(rules_id: str, state: State, text: str) -> Any:
    """The event of one line in this position, which stays as it is. Raises ``NotationError``."""
    return _event(rules_id, state, grammar(rules_id).parse(text, "act"))


def _event(rules_id: str, state: State, act: Any) -> Any:
    """What a line means here; it is legal. Raises ``NotationError``."""
    event = meant(rules_id, state, act)
    if violations := state.check(event):
        rules = registry.part(__package__, rules_id, "text").RULES
        raise illegal(place_of(act), line(rules_id, state, event), violations, rules)
    return event


def meant(rules_id: str, state: State, act: Any) -> Any:
    """The event of a line's tree in this position, by who or what is awaited; not yet judged.

    Raises ``NotationError``.
    """
    (awaited, *_) = state.pending()
    *_, tree = act.children
    seat = seat_of(act)
    if _whose(awaited) != seat:
        found = "chance" if seat is None else f"seat {seat} acts"
        raise NotationError(Kind.ILLEGAL, place_of(act), found, _expected(awaited))
    if tree.data == "pass" and seat is not None:
        return ForcedPass(seat)
    return registry.part(__package__, rules_id, "text").event(tree, state)


def seat_of(act: Any) -> int | None:
    """Whose act the line's tree is; None for what is drawn or rolled."""
    *seats, _ = act.children
    return int(seats[0]) if seats else None


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


def _result(found: Headers, state: State) -> str:
    """What the header says, which has to be so; without one, what the rules say. Raises ``NotationError``."""
    result = result_of(state)
    told = found.text("Result")
    if told is None or told == result:
        return result
    if result == headers.RUNNING and told in headers.WITHOUT_SCORES:
        return told
    value = found.values["Result"]
    expected = either(headers.WITHOUT_SCORES) if result == headers.RUNNING else result
    raise NotationError(Kind.ILLEGAL, place_of(value), f"result {cut(value)}", expected)
