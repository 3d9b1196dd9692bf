"""The look at a bot without a game: ``python -m referee_clients.bot_check.lint NAME GAME``, and the list of its rules.

It runs in a process of its own, as importing a bot runs it: time and leftovers of the bot stay apart from the command.
"""

from __future__ import annotations

import ast
import inspect
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from referee.games import registry
from referee_clients.bot_check.catalogue import Check
from referee_clients.bot_check.child import telling
from referee_clients.bot_check.positions import Position, random_game
from referee_clients.bots import maker
from referee_clients.bots.bot import RESIGN, BrokenBot, Protest, Table, TakeBack, UnknownBot, begin, end
from referee_clients.bots.program import PREFIX

_HERE: Final = "bot-check.md#a-look-without-playing"
_GET: Final = "bots.md#what-you-get"
RULES: Final = {
    rule.id: rule
    for rule in (
        Check("imports", "It can be imported, or started, and made without arguments.", "bots.md"),
        Check("slow-import", "It is imported within 1 s; a program answers within 2 s.", _HERE),
        Check("signature", "It has choose(observation, legal_moves), and may have begin, end and agrees.", _GET),
        Check("raises", "It returns a move in the first positions of a game.", _GET),
        Check("not-a-legal-move", "It returns a legal move.", _GET),
        Check("not-of-the-list", "It returns a move of the list, or pays more than it needs to.", "bots.md#alhambra"),
        Check("not-deterministic", "With the same seed and positions it makes the same moves.", _HERE),
        Check("shared-state", "Games that are played at one time do not touch each other.", "bots.md#many-games"),
        Check("beyond-its-seat", "It looks at its observation, and at nothing else of the referee.", _GET),
    )
}  # fmt: skip


IMPORT_S: Final = 1.0
START_S: Final = 2.0
"""The seconds until a program has answered for the first time."""
_BEYOND: Final = {
    "gc": "finds every object of the process, other seats' among them",
    "ctypes": "reads memory",
    "referee.server.live": "is the referee's own",
    "referee.server.service": "is the referee's own",
    "referee.dealer": "knows what is still to be drawn",
    "referee.log.deck": "knows what is still to be drawn",
}
"""Modules that no bot needs to import, and the reason that is given."""
_FRAMES: Final = ("_getframe", "currentframe", "_current_frames", "stack")
_DECISIONS: Final = 24


@dataclass(frozen=True, slots=True)
class Told:
    """One finding."""

    id: str
    told: str


def look(name: str, rules_id: str) -> Iterator[Told]:
    """Yield what is wrong. Raise ``UnknownBot``."""
    began = time.perf_counter()
    try:
        make = maker(name, seed=1)
        bot = make(rules_id)
    except BrokenBot as error:
        yield Told("imports", str(error))
        return
    except UnknownBot:
        raise
    except BaseException as error:  # noqa: BLE001 - of its author's code, which may exit
        yield Told("imports", f"it cannot be made without arguments: {type(error).__name__}: {error}")
        return
    took_s = time.perf_counter() - began
    if not name.startswith(PREFIX):
        if took_s > IMPORT_S:
            yield Told("slow-import", f"it took {took_s:.1f} s to import; expected at most {IMPORT_S:g} s")
        wrong = [*_signatures(bot), *_beyond(name)]
        yield from wrong
        if any(each.id == "signature" for each in wrong):
            return
    yield from _asked(make, rules_id, is_program=name.startswith(PREFIX))


def _signatures(bot: Any) -> Iterator[Told]:
    for method, count, given in (
        ("choose", 2, "(observation, legal_moves)"),
        ("begin", 1, "(table)"),
        ("end", 1, "(ending)"),
        ("agrees", 1, "(proposal)"),
    ):
        function = getattr(bot, method, None)
        if function is None:
            continue
        if inspect.iscoroutinefunction(function):
            yield Told("signature", f"{method} is async; expected a function that returns")
            continue
        try:
            inspect.signature(function).bind(*[None] * count)
        except TypeError as error:
            yield Told("signature", f"{method}{inspect.signature(function)} cannot be called with {given}: {error}")
        except ValueError:
            pass  # a function that is not written in Python has no known signature


def _beyond(name: str) -> Iterator[Told]:
    """Look through the source of the bot's module, and of those beside it that were imported with it."""
    module = sys.modules.get(name.partition(":")[0]) if ":" in name else None
    own = getattr(module, "__file__", None)
    if own is None:
        return
    folder = Path(own).parent
    files = {Path(file) for each in [*sys.modules.values()] if (file := getattr(each, "__file__", None)) is not None}
    for file in sorted(file for file in files if file.parent == folder and file.suffix == ".py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            for what, why in _of_node(node):
                yield Told("beyond-its-seat", f"{file.name}, line {getattr(node, 'lineno', 0)}: {what} {why}")


def _of_node(node: ast.AST) -> Iterator[tuple[str, str]]:
    names: Sequence[str] = ()
    match node:
        case ast.Import():
            names = [alias.name for alias in node.names]
        case ast.ImportFrom():
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        case ast.Attribute(attr=attribute) if attribute in _FRAMES:
            yield attribute, "reaches the callers, which know every seat"
    for beyond, why in _BEYOND.items():
        if any(name == beyond or name.startswith(f"{beyond}.") for name in names):
            yield f"import {beyond}", why


def _asked(make: Callable[[str], Any], rules_id: str, *, is_program: bool) -> Iterator[Told]:
    """Ask in the same positions again and again: alone twice, and beside another game."""
    games = [[*_decisions(rules_id, seed, seat)] for seed, seat in ((1, 0), (2, 1))]
    try:
        began = time.perf_counter()
        first = _answers(make, rules_id, games[0])
        if is_program and (took_s := (time.perf_counter() - began) / len(games[0])) > START_S:
            yield Told("slow-import", f"it took {took_s:.1f} s for a move, its start included")
        again = _answers(make, rules_id, games[0])
        beside = _answers(make, rules_id, games[0], games[1])
    except BaseException as error:  # noqa: BLE001 - of its author's code, which may exit
        yield Told("raises", f"{type(error).__name__}: {error}")
        return
    for position, move in zip(games[0], first, strict=True):
        if move in position.moves or move is RESIGN or isinstance(move, TakeBack | Protest):
            continue
        if broken := _broken(position, move):
            yield Told("not-a-legal-move", f"{move!r:.80}{broken}; {position.where}")
        else:
            yield Told("not-of-the-list", f"{move!r:.80} is legal, but not one of the list; {position.where}")
        break
    if first != again:
        yield Told("not-deterministic", f"{_where(games[0], first, again)}: with the same seed it chooses otherwise")
    elif first != beside:
        yield Told("shared-state", f"{_where(games[0], first, beside)}: beside another game it chooses otherwise")


def _answers(
    make: Callable[[str], Any], rules_id: str, positions: Sequence[Position], beside: Sequence[Position] = ()
) -> list[Any]:
    """Return the moves in these positions; ``beside``: of another game, asked for in turn with them."""
    random.seed(1)
    seats = [(make(rules_id), each) for each in (positions, beside) if each]
    for bot, each in seats:
        begin(bot, _table(rules_id, each[0]))
    moves = []
    try:
        for position, other in zip_longest(positions, beside):
            if other is not None:
                state = random.getstate()
                seats[-1][0].choose(other.state.observation(other.seat), other.moves)
                random.setstate(state)
            if position is not None:
                seen = position.state.observation(position.seat)
                moves.append(seats[0][0].choose(seen, position.moves))
    finally:
        for bot, _ in seats:
            end(bot, None)
    return moves


def _table(rules_id: str, position: Position) -> Table:
    game, state = registry.get(rules_id), position.state
    return Table(rules_id, game.version, position.seat, state.seats, state.options, game.default_components())


def _decisions(rules_id: str, seed: int, seat: int) -> Iterator[Position]:
    """Yield the first decisions of a seat, each with a state of its own."""
    found = 0
    for each in random_game(rules_id, 2, seed):
        if each.seat == seat:
            yield Position(each.state.copy(), each.seat, each.moves, each.where)
            found += 1
            if found == _DECISIONS:
                return


def _broken(position: Position, move: Any) -> str:
    try:
        broken = position.state.check(move)
    except Exception:  # noqa: BLE001 - it may be anything at all
        return " is no move"
    return f" is against {', '.join(violation.rule_id for violation in broken)}" if broken else ""


def _where(positions: Sequence[Position], one: Sequence[Any], other: Sequence[Any]) -> str:
    return next(position.where for position, a, b in zip(positions, one, other, strict=True) if a != b)


def main(name: str, rules_id: str) -> None:
    """Tell each thing that is found, or instead that there is no such bot."""
    with telling() as tell:
        try:
            for each in look(name, rules_id):
                tell({"id": each.id, "told": each.told})
        except UnknownBot as error:
            tell({"unknown": str(error)})


if __name__ == "__main__":
    main(*sys.argv[1:])
