"""``referee show``: a game file in words and pictures."""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import output
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.story import Story
from referee.games.game import UnknownRules
from referee.log.errors import Code, LogError
from referee.log.frames import MAGIC
from referee.log.replay import Record
from referee.log.verdict import Finding, Verdict
from referee.render.registry import renderer

_NAME_BYTES = 4
"""Of MAGIC; the others tell of versions and of damage."""


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A game file.")],
    at: Annotated[
        int | None, typer.Option("--at", metavar="N", min=0, help="The position after entry N; the rest is not read.")
    ] = None,
    moves: Annotated[bool, typer.Option("--moves", help="List every entry in words, too.")] = False,
    seat: Annotated[int | None, typer.Option("--seat", metavar="S", min=0, help="Only this seat's board.")] = None,
    svg: Annotated[
        str | None,
        typer.Option("--svg", metavar="OUT", help="Write the boards as SVG: a directory, or a name with {seat} in it."),
    ] = None,
) -> None:
    """Show what a game file tells: who plays under which rules, and the position after its last entry.

    Examples: `referee show game.gamelog --moves`, `referee show game.gamelog --at 120 --seat 1 --svg board.svg`,
    `referee show game.gamelog --svg pictures/`

    Every entry shown was replayed, with signatures of seats, rules and positions; the referee's own signature and the
    deck are for referee audit. A file that is not whole, or wrong, ends with one line and the exit code that referee
    audit gives: 3 cut off (what is there is shown), 4 damaged, 8 against the rules, 9 not supported.
    """
    try:
        with file.open("rb") as stream:
            if not _is_game_file(stream):
                raise Failure(f"{file}: not a game file", int(Verdict.CORRUPT))
            story = Story.read(stream, at)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise _failure(file, error) from None
    record = story.record
    assert record is not None  # noqa: S101 - or read would have raised
    if at is not None and at >= len(story.moves):
        raise Failure(f"{file}: --at {at}: the file has entries 0 to {len(story.moves) - 1}", EXIT_USAGE)
    seats = range(len(record.opened.seats))
    if seat is not None and seat not in seats:
        raise Failure(f"{file}: --seat {seat}: the game has seats 0 to {len(seats) - 1}", EXIT_USAGE)
    chosen = list(seats) if seat is None else [seat]
    try:
        shown = _text(story, record, chosen, moves=moves)
    except UnknownRules as error:
        raise _failure(file, LogError(Code.UNSUPPORTED, str(error))) from None
    if svg is not None:
        _write_pictures(svg, record, chosen)
    output.write(shown)
    if story.torn is not None:
        raise _failure(file, story.torn)


def _is_game_file(stream: BufferedReader) -> bool:
    """Whether it begins as one; of one that is cut off, as far as it goes."""
    return MAGIC.startswith(stream.peek(_NAME_BYTES)[:_NAME_BYTES])


def _failure(file: Path, error: LogError) -> Failure:
    return Failure(f"{file}: {error}", int(Finding.of(error).verdict))


def _text(story: Story, record: Record, seats: list[int], *, moves: bool) -> str:
    draw = renderer(record.opened.rules_id)
    parts = ["\n".join(story.header())]
    if moves:
        parts.append("\n".join(story.numbered_moves()))
    parts.append(draw.position_text(record.course.state, seats, ascii_only=not output.has_lines()))
    return "\n\n".join(parts)


def _write_pictures(out: str, record: Record, seats: list[int]) -> None:
    """Into a directory, to names made from one with {seat}, or to the one name that one seat needs."""
    if out.endswith("/") or Path(out).is_dir():
        out = f"{out.rstrip('/') or '/'}/seat-{{seat}}.svg"
    elif "{seat}" not in out and len(seats) > 1:
        raise Failure(f"--svg {out}: expected a directory (pictures/), a name with {{seat}}, or --seat", EXIT_USAGE)
    draw = renderer(record.opened.rules_id)
    for seat in seats:
        path = Path(out.replace("{seat}", str(seat)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            title = f"Seat {seat} after entry {record.size - 1}"
            path.write_text(draw.seat_svg(record.course.state, seat, title), encoding="utf-8")
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
