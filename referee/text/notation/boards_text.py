"""The boards at the end of a game as text, where nothing else of the game is known. Knows no game.

They are enough for the points and the places, and for nothing else: no log, digest or further move comes of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from referee.games import registry
from referee.games.results import Contest
from referee.text.notation import contest_text, headers
from referee.text.notation.game_text import parse
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Position, head, read_value
from referee.text.words.catalogue import Said


@dataclass(frozen=True, slots=True)
class Boards:
    """What lay before the seats when the game was over."""

    setup: Setup
    state: Any
    """Over. Whatever nobody wrote down, such as turns and the order of moves, is as it was at the beginning."""
    contest: Contest = field(default_factory=Contest)
    """What happened beside the moves."""
    remarks: tuple[Said, ...] = ()
    """How the score had to be counted where the boards do not tell."""


def write(boards: Boards) -> str:
    """Return the canonical form; the state may be that of a whole game."""
    text = registry.part(__package__, boards.setup.rules_id, "text")
    lines = head(Position(boards.setup, boards.state, boards.contest))
    return "".join(f"{line}\n" for line in (*lines, headers.line(headers.BOARDS, text.write_boards(boards.state))))


def read(text: str) -> Boards:
    """Raise ``NotationError``."""
    found, acts = parse(text, boards=True)
    setup = found.setup()
    if headers.POSITION in found.values:
        raise found.wrong(headers.POSITION, f"no position beside the header {headers.BOARDS}")
    state = setup.start()
    remarks = read_value(found, acts, headers.BOARDS, state)
    return Boards(setup, state, contest_text.read(found, setup.seats, state.pending()), tuple(remarks))
