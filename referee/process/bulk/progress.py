"""The progress of a bulk run on standard error: a bar on a terminal, and a line every half minute elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

_LINE_S: Final = 30.0


class Meter:
    """Counts what is done."""

    def __init__(self, total: int, noun: str) -> None:
        self._total = total
        self._noun = noun
        self._begin = monotonic()
        self._done = self._before = self._lost = 0
        self._lock = threading.Lock()

    def add(self, count: int = 1, *, lost: bool = False, before: bool = False) -> None:
        """Count tasks as done. ``before``: an earlier run did them, so they say nothing of the speed."""
        with self._lock:
            self._done += count
            self._lost += count if lost else 0
            self._before += count if before else 0
        self._show()

    @property
    def done(self) -> int:
        return self._done

    def words(self) -> str:
        """Return rate, rest and what failed."""
        seconds = monotonic() - self._begin
        rate = (self._done - self._before) / seconds if seconds > 0 else 0.0
        told = [f"{rate:.3g}/s" if rate < 100 else f"{rate:.0f}/s"]
        if rate and self._done < self._total:
            told.append(f"{_clock((self._total - self._done) / rate)} left")
        if self._lost:
            told.append(f"{self._lost} failed")
        return ", ".join(told)

    def line(self) -> str:
        """Return all of it."""
        return f"{self._done} of {self._total} {self._noun}s, {self.words()}"

    def _show(self) -> None:
        pass


class _Bar(Meter):
    def __init__(self, total: int, noun: str, progress: Progress) -> None:
        super().__init__(total, noun)
        self._progress = progress
        self._task: TaskID = progress.add_task("", total=total, words="")

    def _show(self) -> None:
        self._progress.update(self._task, completed=self._done, words=self.words())


@contextmanager
def metered(total: int, noun: str) -> Iterator[Meter]:
    """Show how many of ``total`` are done until the block ends. ``noun``: what one of them is."""
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
        # Lines that go to a file are none of the terminal's.
        redirected = sys.stdout is not None and sys.stdout.isatty()
        with Progress(*columns, console=console, transient=True, redirect_stdout=redirected) as progress:
            yield _Bar(total, noun, progress)
        return
    meter, ended = Meter(total, noun), threading.Event()

    def speak() -> None:
        while not ended.wait(_LINE_S):
            print(meter.line(), file=sys.stderr, flush=True)

    speaking = threading.Thread(target=speak, daemon=True)
    speaking.start()
    try:
        yield meter
    finally:
        ended.set()
        speaking.join()


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
