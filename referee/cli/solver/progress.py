"""A search that takes long: what it is asked with, what it shows meanwhile on standard error, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Annotated, Any, Final, TypeVar

import typer
from google.protobuf.message import Message
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from referee.cli.shared.solving import NoAnswer, OutOfTime, Solver
from referee.cli.solver import building

Seconds = Annotated[
    float, typer.Option("--budget", metavar="SECONDS", min=0.1, max=1e6, help="Search for at most this long.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, max=(1 << 31) - 1, help="Seed of the search.")]

NO_LIMIT: Final = (1 << 63) - 1
"""Of work: the time limits it."""

_Answer = TypeVar("_Answer", bound=Message)

Words = Callable[[Any], str]
"""What is known, on one line."""


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
        """By Ctrl-C."""
        self._say(f"stopped after {monotonic() - self._start:.1f} s; the best so far:")

    def _say(self, words: str) -> None:
        self._console.print(words, highlight=False, markup=False, soft_wrap=True)


class _Bar(Lines):
    """The same in one line that changes, and how much of the time is over."""

    def __init__(self, words: Words, console: Console, progress: Progress, seconds: float) -> None:
        super().__init__(words, console)
        self._progress = progress
        self._task = progress.add_task("", total=seconds)

    def __call__(self, found: Any) -> None:
        self._progress.update(self._task, completed=monotonic() - self._start, description=self._words(found))


@contextmanager
def display(seconds: float, words: Words) -> Iterator[Lines]:
    """For so many seconds at most: a bar at a terminal, lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(words, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn(f"of {seconds:g} s"))
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(words, console, progress, seconds)


def search(method: str, request: Message, first: _Answer, seconds: float, words: Words) -> tuple[_Answer, str]:
    """Return the newest answer when the search is over, or was stopped by Ctrl-C; and, if it was lost, why.

    ``first``: what is known before. Raise ``Failure`` for a question that is wrong.
    """
    found = first
    with building.telling(), Solver() as solver, display(seconds, words) as show:

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
