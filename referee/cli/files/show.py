"""``referee show``: a game file in words and pictures."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from referee import console
from referee.cli.shared import game_texts, output
from referee.cli.shared.arguments import private_key, verifier_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.game_texts import rehearsed
from referee.cli.shared.names import in_setup, name_lines, names_of_file
from referee.games.results import Wait
from referee.log.errors import LogError
from referee.log.file import MAGIC
from referee.log.note import VerifierKey
from referee.log.verdict import Finding, Verdict
from referee.telling.game_file import GameFile, as_text
from referee.text.notation import game_text, headers, position_text
from referee.text.notation.game_text import Reading
from referee.text.notation.outcomes import IN_ENGLISH, outcome
from referee.text.notation.position_text import Boards, Position
from referee.text.render.drawing import renderer

_TEXT = re.compile(rb"(\xef\xbb\xbf)?\s*[\[;{]")
"""A text begins with a header, or a comment; a byte order mark gets a message of its own."""
_UNCHECKED = "These are boards alone: the moves that led to them were not checked."
_NAME_BYTES = 4
"""The part of MAGIC that names the kind of file; the other bytes show versions and damage."""


def show(
    file: Annotated[Path, Parameter(name="FILE", help="A game file, or a text in the notation of docs/notation.md.")],
    /,
    *,
    at: Annotated[
        int | None,
        Parameter(
            metavar="N", help="Show the position after entry N; later entries are not read.", validator=Number(gte=0)
        ),
    ] = None,
    moves: Annotated[bool, Parameter(help="Also list every entry, in notation if it has one.")] = False,
    seat: Annotated[
        int | None, Parameter(metavar="S", help="Show only this seat's board.", validator=Number(gte=0))
    ] = None,
    svg: Annotated[
        str | None,
        Parameter(metavar="OUT", help="Write the boards as SVG: a directory, or a name with {seat} in it."),
    ] = None,
    as_text: Annotated[
        bool,
        Parameter(
            name="--notation", help="Print only the game as text, from which referee record or adjudicate makes a log."
        ),
    ] = False,
    as_position: Annotated[bool, Parameter(name="--position", help="Print only the last position as text.")] = False,
    sign: Annotated[Path | None, Parameter(metavar="KEY", help="Sign that text as a note with this key.")] = None,
    name: Annotated[str | None, Parameter(help="The name to sign it under.")] = None,
    key: Annotated[
        str | None, Parameter(metavar="VKEY", help="With a text: the verifier key that must have signed it.")
    ] = None,
) -> None:
    """Show what a game file contains: who plays under which rules, and the position after the last entry.

    Examples: `referee show game.gamelog --moves`, `referee show game.gamelog --at 120 --seat 1 --svg board.svg`,
    `referee show game.gamelog --svg pictures/`, `referee show game.gamelog --notation --sign club.pem --name club`

    A text is played from its first line. It ends with 2 if it is not in the notation and with 8 if it breaks the rules.
    `--key` checks its signature: 4 the signature is wrong or missing, 5 another key signed it. A text that has nothing
    but the boards (the header Boards) is drawn with their points.

    Every entry shown was replayed, with the signatures of seats, the rules and the positions; use `referee audit` for
    the referee's own signature and the deck. A file that is incomplete or wrong ends with one line and the exit code
    that `referee audit` gives: 3 cut off (the entries before are shown), 4 damaged, 8 against the rules, 9 not
    supported.
    """
    if as_text and as_position:
        raise Failure("--notation and --position: expected only one of them", EXIT_USAGE)
    if (sign is None) != (name is None) or (sign is not None and not (as_text or as_position)):
        raise Failure("--sign and --name: expected both, with --notation or --position", EXIT_USAGE)
    shown, torn = _read(file, at, None if key is None else verifier_key("--key", key))
    if as_position and not shown.has_position:
        raise Failure(f"{file}: boards alone have no position; expected --notation", EXIT_USAGE)
    if as_text or as_position:
        text = shown.text() if as_text else position_text.write(shown.position)
        if sign is not None and name is not None:
            text = _signed(text, name, sign)
        output.write(text)
    else:
        seats = range(shown.position.setup.seats)
        if seat is not None and seat not in seats:
            raise Failure(f"{file}: --seat {seat}: the game has seats 0 (player 1) to {len(seats) - 1}", EXIT_USAGE)
        chosen = list(seats) if seat is None else [seat]
        told = _text(shown, chosen, moves=moves)
        if svg is not None:
            _write_pictures(svg, shown, chosen)
        output.write(told)
    if torn is not None:
        raise _failure(file, torn)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The contents of a file of any kind."""

    position: Position
    """The last one."""
    text: Callable[[], str]
    """The game in notation; of a text with a position or boards, that."""
    header: list[str]
    moves: list[str]
    last: str
    """The event that led to the position, for the title of a picture."""
    draw: Callable[..., str]
    """Draws these seats' boards as text, and the other known facts."""
    has_position: bool = True
    """False of boards alone."""


def _read(file: Path, at: int | None, verifier: VerifierKey | None) -> tuple[_Shown, LogError | None]:
    """And what a torn file lacks. Raise ``Failure``."""
    try:
        with file.open("rb") as stream:
            if _is_game_file(stream):
                if verifier is not None:
                    raise Failure(
                        f"{file}: --key is only for texts; expected referee audit for a game file", EXIT_USAGE
                    )
                game_file = GameFile.read(stream, at)
            elif not _TEXT.match(stream.peek()):
                raise Failure(f"{file}: not a game file", int(Verdict.CORRUPT))
            else:
                if at is not None:
                    raise Failure(f"{file}: --at is only for game files; expected a game file, or no --at", EXIT_USAGE)
                return _of_text(file, game_texts.read(file, _any, verifier)), None
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise _failure(file, error) from None
    record = game_file.record
    if at is not None and at >= game_file.record.size:
        raise Failure(f"{file}: --at {at}: the file has entries 0 to {game_file.record.size - 1}", EXIT_USAGE)
    game = as_text(game_file)
    names = names_of_file(file, record)
    game = replace(game, setup=in_setup(game.setup, names))
    last = f"entry {record.size - 1}"
    position = Position(game.setup, record.game.position.state, game.contest)
    text = partial(game_text.write, game)
    draw = partial(renderer(game.setup.rules_id).position_text, position.state)
    header = [*game_file.header(), *name_lines(names)]
    return _Shown(position, text, header, game_file.numbered_moves(), last, draw), game_file.torn


def _any(text: str) -> Reading | Position | Boards:
    """Return a game, a position, or boards alone. Raise ``NotationError``."""
    found, _ = game_text.parse(text, boards=True)
    if headers.BOARDS in found.values:
        return position_text.read_boards(text)
    return position_text.read(text) if headers.POSITION in found.values else game_text.read(text)


def _of_text(path: Path, read: Reading | Position | Boards) -> _Shown:
    if isinstance(read, Boards):
        position = Position(read.setup, read.state, read.contest)
        remarks = (remark.by(IN_ENGLISH) for remark in read.remarks)
        head = [*position_text.head(position), *_outcome(position), _UNCHECKED, *remarks]
        draw = partial(renderer(read.setup.rules_id).boards_text, read.state)
        return _Shown(
            position, partial(position_text.write_boards, read), head, [], "the game", draw, has_position=False
        )
    if isinstance(read, Position):
        head = [*position_text.head(read), *_outcome(read)]
        draw = partial(renderer(read.setup.rules_id).position_text, read.state)
        return _Shown(read, partial(position_text.write, read), head, [], "earlier moves", draw)
    game = replace(read.game, waits=rehearsed(path, read.game))
    head, moves, _ = game_text.written(game)
    position = Position(game.setup, read.state, game.contest)
    draw = partial(renderer(game.setup.rules_id).position_text, read.state)
    head += _outcome(position, game.waits)
    return _Shown(position, partial(game_text.write, game), head, moves, f"event {len(game.events)}", draw)


def _outcome(position: Position, waits: Wait | None = None) -> list[str]:
    """Return who won and why, of a game that has come to its end, or that more than its moves decides."""
    result, contest = position.result, position.contest
    return [] if result is None and contest.is_plain else [f"result: {outcome(result, contest, waits=waits)}"]


def _signed(text: str, name: str, path: Path) -> str:
    """Raise ``Failure``."""
    key = private_key("--sign", path)
    try:
        note = game_texts.signed(text, name, key)
        print(f"verifier key {VerifierKey.of(name, key.public)}", file=sys.stderr)
        return note
    except LogError as error:
        raise Failure(f"--name: {error.what}; expected {error.expected}", EXIT_USAGE) from None


def _is_game_file(stream: BufferedReader) -> bool:
    """Return whether it begins as one; of one that is cut off, as far as it goes."""
    return MAGIC.startswith(stream.peek(_NAME_BYTES)[:_NAME_BYTES])


def _failure(file: Path, error: LogError) -> Failure:
    return Failure(f"{file}: {error}", int(Finding.of(error).verdict))


def _text(shown: _Shown, seats: list[int], *, moves: bool) -> str:
    parts = ["\n".join(shown.header)]
    if moves and shown.moves:
        parts.append("\n".join(shown.moves))
    parts.append(shown.draw(seats, ascii_only=not console.has_lines()))
    return "\n\n".join(parts)


def _write_pictures(out: str, shown: _Shown, seats: list[int]) -> None:
    """Into a directory, to names made from one with {seat}, or to the one name that one seat needs."""
    if out.endswith("/") or Path(out).is_dir():
        out = f"{out.rstrip('/') or '/'}/seat-{{seat}}.svg"
    elif "{seat}" not in out and len(seats) > 1:
        raise Failure(f"--svg {out}: expected a directory (pictures/), a name with {{seat}}, or --seat", EXIT_USAGE)
    draw = renderer(shown.position.setup.rules_id)
    for seat in seats:
        path = Path(out.replace("{seat}", str(seat)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            title = f"Player {seat + 1} after {shown.last}"
            path.write_text(draw.seat_svg(shown.position.state, seat, title), encoding="utf-8")
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
