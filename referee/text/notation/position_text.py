"""A position, or the boards at the end of a game, as text: headers, the last of them with either as one line.

Boards are enough for the points and the places, and for nothing else: no log, digest or further move comes of them.
Knows no game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from referee.games import registry
from referee.games.game import State
from referee.games.results import Contest, Result
from referee.text.notation import headers
from referee.text.notation.game_text import parse
from referee.text.notation.grammar import grammar_of, place_of
from referee.text.notation.headers import Headers, Setup
from referee.text.notation.violations import Kind, NotationError
from referee.text.words.catalogue import Said

_THE: Final = {headers.POSITION: "a position", headers.BOARDS: "boards"}


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a game, and its setup."""

    setup: Setup
    state: State
    contest: Contest = field(default_factory=Contest)
    """The acts beside the moves."""

    @property
    def result(self) -> Result | None:
        """The game's result; None: the game is not over."""
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
    told = [] if contest.is_plain else headers.write_contest(contest, setup.seats, position.state.pending())
    return [*headers.write(setup), *told]


def read(text: str) -> Position:
    """Raise ``NotationError``."""
    found, acts = parse(text)
    setup = found.setup()
    state = setup.start()
    read_value(found, acts, headers.POSITION, state)
    return Position(setup, state, headers.read_contest(found, setup.seats, state.pending()))


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
        return read_line(grammar_of(rules_id).parse(line, part), state)
    except NotationError as error:
        raise error.moved(token.line, token.column + 1) from None


@dataclass(frozen=True, slots=True)
class Boards:
    """The boards before the seats when the game was over."""

    setup: Setup
    state: Any
    """The state of a game that is over. Unrecorded parts, such as turns and the order of moves, have their initial
    values."""
    contest: Contest = field(default_factory=Contest)
    """The acts beside the moves."""
    remarks: tuple[Said, ...] = ()
    """The assumptions of the score where the boards do not tell."""


def write_boards(boards: Boards) -> str:
    """Return the canonical form; the state may be that of a whole game."""
    text = registry.part(__package__, boards.setup.rules_id, "text")
    lines = head(Position(boards.setup, boards.state, boards.contest))
    return "".join(f"{line}\n" for line in (*lines, headers.line(headers.BOARDS, text.write_boards(boards.state))))


def read_boards(text: str) -> Boards:
    """Raise ``NotationError``."""
    found, acts = parse(text, boards=True)
    setup = found.setup()
    if headers.POSITION in found.values:
        raise found.wrong(headers.POSITION, f"no position beside the header {headers.BOARDS}")
    state = setup.start()
    remarks = read_value(found, acts, headers.BOARDS, state)
    return Boards(setup, state, headers.read_contest(found, setup.seats, state.pending()), tuple(remarks))
