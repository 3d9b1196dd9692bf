"""One position as text: the headers of its game, the last of them the position as one line. Knows no game."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games import registry
from referee.games.game import State
from referee.notation import headers
from referee.notation.errors import Kind, NotationError
from referee.notation.game_text import parse
from referee.notation.grammar import grammar, place_of
from referee.notation.headers import Setup


@dataclass(frozen=True, slots=True)
class Position:
    """Where a game stands, and what it was opened with."""

    setup: Setup
    state: State


def write(position: Position) -> str:
    """The canonical form."""
    of_game = registry.part(__package__, position.setup.rules_id, "position")
    lines = [*headers.write(position.setup), headers.line("Position", of_game.write(position.state))]
    return "".join(f"{line}\n" for line in lines)


def read(text: str) -> Position:
    """Raises ``NotationError``."""
    found, acts = parse(text)
    setup = found.setup()
    line = found.text("Position")
    if line is None:
        raise NotationError(Kind.SYNTAX, (found.line, 1), "header Position is missing", '[Position "…"]')
    if acts:
        raise NotationError(Kind.SYNTAX, place_of(acts[0]), "an event after a position", "nothing more")
    if "Result" in found.values:
        raise found.wrong("Result", "no result of a position")
    state = setup.start()
    token = found.values["Position"]
    try:
        tree = grammar(setup.rules_id).parse(line, "position")
        registry.part(__package__, setup.rules_id, "position").read(tree, state)
    except NotationError as error:
        raise error.moved(token.line, token.column + 1) from None
    return Position(setup, state)
