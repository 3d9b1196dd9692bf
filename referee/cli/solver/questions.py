"""Questions to the solver about Alhambra's rules of building, and a search that takes long."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final, TypeVar

from cyclopts import Parameter
from cyclopts.validators import Number
from google.protobuf.message import Message
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from referee import console
from referee.cli.shared import output
from referee.cli.shared.commands import OR_HYPHEN
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.json_lines import opened, read_all
from referee.cli.shared.solver import NoAnswer, OutOfTime, Solver
from referee.games.alhambra.layout import Layout
from referee.games.game import Cell
from referee.text.notation.alhambra.inspect import TILE_SET
from referee.text.notation.questions import MAX_LINE_BYTES, QueryError, named_game, parse_object
from referee.text.render.alhambra import svg, text

Position = Annotated[
    Path | None,
    Parameter(name="FILE", help="File with the position, a JSON object; standard input if omitted or -."),
    OR_HYPHEN,
]
Svg = Annotated[Path | None, Parameter(name="--svg", metavar="OUT", help="Also write the layout as a picture.")]


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


Seconds = Annotated[
    float,
    Parameter(
        name="--budget", metavar="SECONDS", help="Search for at most this long.", validator=Number(gte=0.1, lte=1e6)
    ),
]
Seed = Annotated[int, Parameter(metavar="N", help="Seed of the search.", validator=Number(gte=0, lte=(1 << 31) - 1))]

NO_LIMIT: Final = (1 << 63) - 1
"""The limit of work when only the time is limited."""

_Answer = TypeVar("_Answer", bound=Message)

Words = Callable[[Any], str]
"""Returns the present result on one line."""


class Lines:
    """A line for everything new."""

    def __init__(self, words: Words, console: Console) -> None:
        self._words = words
        self._console = console
        self._start = monotonic()
        self._last = ""

    def __call__(self, found: Any) -> None:
        """The newest, or the same again."""
        words = self._words(found)
        if words != self._last:
            self._last = words
            self._say(f"{monotonic() - self._start:6.1f} s  {words}")

    def stopped(self) -> None:
        """Say that Ctrl-C stopped the search."""
        self._say(f"stopped after {monotonic() - self._start:.1f} s; the best so far:")

    def _say(self, words: str) -> None:
        self._console.print(words, highlight=False, markup=False, soft_wrap=True)


class _Bar(Lines):
    """The newest result in one line that changes, and the share of the time that is over."""

    def __init__(self, words: Words, console: Console, progress: Progress, seconds: float) -> None:
        super().__init__(words, console)
        self._progress = progress
        self._task = progress.add_task("", total=seconds)

    def __call__(self, found: Any) -> None:
        self._progress.update(self._task, completed=monotonic() - self._start, description=self._words(found))


@contextmanager
def display(seconds: float, words: Words) -> Iterator[Lines]:
    """Show results for at most ``seconds`` seconds: a bar at a terminal, lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(words, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn(f"of {seconds:g} s"))
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(words, console, progress, seconds)


def search(method: str, request: Message, first: _Answer, seconds: float, words: Words) -> tuple[_Answer, str]:
    """Return the newest answer when the search is over, or was stopped by Ctrl-C; and, if it was lost, why.

    ``first``: the answer that is known before. Raise ``Failure`` for a question that is wrong.
    """
    found = first
    with telling(), Solver() as solver, display(seconds, words) as show:

        def keep(news: _Answer | None) -> None:
            nonlocal found
            found = news or found
            show(found)

        try:
            solver.search(method, request, type(first), seconds, keep)
        except KeyboardInterrupt:
            show.stopped()
        except OutOfTime:
            pass  # the budget was used up in the middle of something
        except NoAnswer as error:
            return found, str(error)
    return found, ""
