"""What the commands share that ask the solver about Alhambra's rules of building."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from referee import console
from referee.cli.shared import output
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.lines import opened, read_all
from referee.cli.shared.solving import NoAnswer
from referee.games.alhambra.layout import Layout
from referee.games.game import Cell
from referee.text.notation.alhambra.inspect import TILE_SET
from referee.text.notation.questions import MAX_LINE_BYTES, QueryError, named_game, parse_object
from referee.text.render.alhambra import svg, text

Position = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="File with the position, a JSON object; standard input if omitted or -."),
]
Svg = Annotated[Path | None, typer.Option("--svg", metavar="OUT", help="Also write the layout as a picture.")]


def engine_layout(layout: Mapping[Cell, str]) -> Layout:
    """Return the layout for pictures and counts."""
    return Layout.of(TILE_SET, {cell: TILE_SET.numbers[tile] for cell, tile in layout.items()})


def picture(layout: Mapping[Cell, str]) -> str:
    """Draw in boxes, for standard output."""
    return text(engine_layout(layout), ascii_only=not console.has_lines())


def write_svg(path: Path, layout: Mapping[Cell, str], title: str) -> None:
    """Raise ``Failure``."""
    write_text(path, svg(engine_layout(layout), title))


def write_text(path: Path, text: str) -> None:
    """Raise ``Failure``."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None


def position(file: Path | None, options: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
    """Return the fields of a position: what options give (None: not given), the others from the file or standard input.

    ``complete``: the options tell enough, so nothing is read unless a file is named. Raise ``Failure`` and
    ``QueryError``.
    """
    fields = {} if complete and file is None else _read(None if file == Path("-") else file)
    return fields | {name: value for name, value in options.items() if value is not None}


def _read(file: Path | None) -> dict[str, Any]:
    with opened(file) as stream:
        data = read_all(stream, MAX_LINE_BYTES + 1)
    fields = parse_object(data)
    named_game(fields, {"alhambra": None})
    return fields


def json_layout(option: str, written: str | None) -> dict[str, Any] | None:
    """Read the JSON text of an option. Raise ``QueryError``."""
    if written is None:
        return None
    try:
        return parse_object(written.encode("utf-8", "surrogateescape"))
    except QueryError as error:
        raise QueryError(error.what, option) from None


@contextmanager
def telling() -> Iterator[None]:
    """Turn what is wrong with a question into one line and the exit code of wrong usage, no answer included."""
    try:
        yield
    except QueryError as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except NoAnswer as error:
        raise Failure(str(error)) from None


def listed(names: str | None) -> list[str] | None:
    """Return ``tower-12,garden-10`` of an option as a list; nothing is an empty one."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def write_json(found: dict[str, Any]) -> None:
    """Write one line on standard output."""
    output.write(json.dumps(found, separators=(",", ":")) + "\n")
