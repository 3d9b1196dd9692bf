"""One position as text: the headers of its game, the last of them the position as one line. Knows no game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from referee.games import registry
from referee.games.game import State
from referee.games.results import Contest, Result
from referee.text.notation import contest_text, headers
from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.game_text import parse
from referee.text.notation.grammar import grammar, place_of
from referee.text.notation.headers import Headers, Setup

_THE: Final = {headers.POSITION: "a position", headers.BOARDS: "boards"}


@dataclass(frozen=True, slots=True)
class Position:
    """Where a game stands, and what it was opened with."""

    setup: Setup
    state: State
    contest: Contest = field(default_factory=Contest)
    """What happened beside the moves."""

    @property
    def result(self) -> Result | None:
        """What the game has come to; None: it goes on."""
        return self.contest.result(self.setup.seats, self.state.pending())


def write(position: Position) -> str:
    """Return the canonical form. Of a game that the moves alone decide it says no result: the position does."""
    text = registry.part(__package__, position.setup.rules_id, "text")
    return "".join(
        f"{line}\n" for line in (*head(position), headers.line(headers.POSITION, text.write_position(position.state)))
    )


def head(position: Position) -> list[str]:
    """Return its headers but the position itself, a line each."""
    contest, setup = position.contest, position.setup
    told = [] if contest.is_plain else contest_text.write(contest, setup.seats, position.state.pending())
    return [*headers.write(setup), *told]


def read(text: str) -> Position:
    """Raise ``NotationError``."""
    found, acts = parse(text)
    setup = found.setup()
    state = setup.start()
    read_value(found, acts, headers.POSITION, state)
    return Position(setup, state, contest_text.read(found, setup.seats, state.pending()))


def read_value(found: Headers, acts: Sequence[Any], name: str, state: State) -> Any:
    """Read the header that a text is made for, ``Position`` or ``Boards``, into a state before the first event.

    Return what the game's reader returns. Raise ``NotationError``.
    """
    line, part, rules_id = found.text(name), name.lower(), found.rules_id
    if line is None:
        raise NotationError(Kind.SYNTAX, (found.line, 1), f"header {name} is missing", f'[{name} "…"]')
    if acts:
        raise NotationError(Kind.SYNTAX, place_of(acts[0]), f"an event after {_THE[name]}", "nothing more")
    if headers.WAITS in found.values:
        raise found.wrong(headers.WAITS, "no such header, as only the text of a game says what its result waits for")
    token = found.values[name]
    text = registry.part(__package__, rules_id, "text")
    read_line = text.read_position if name == headers.POSITION else text.read_boards
    try:
        return read_line(grammar(rules_id).parse(line, part), state)
    except NotationError as error:
        raise error.moved(token.line, token.column + 1) from None
