"""Lines of many audits: how they are printed, how files of one game stand to each other, the verdict of all."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from referee.cli.shared.output import write
from referee.console import printable
from referee.log.audited import UNREADABLE
from referee.log.errors import LogError
from referee.log.file import regular
from referee.log.fork import find_fork, read_side
from referee.log.note import VerifierKey
from referee.log.verdict import Verdict
from referee.process.bulk.results import Line
from referee.text.notation.outcomes import counted

SUFFIX: Final = ".gamelog"
FILE: Final = "file"
"""In a line: the name of the file."""
GRAVITY: Final = (
    Verdict.FORK,
    Verdict.RULES,
    Verdict.CORRUPT,
    Verdict.UNTRUSTED_KEY,
    Verdict.STALE,
    Verdict.LOSS,
    Verdict.UNDISCLOSED,
    Verdict.UNSUPPORTED,
    Verdict.PREFIX,
    Verdict.UNLOGGED,
)
"""Of several verdicts the first of these decides the exit code."""


@dataclass(frozen=True, slots=True)
class Again:
    """How a file stands to an earlier one of its game."""

    name: str
    """Of the earlier one; of several, the longest."""
    more: int
    """Entries that the referee signed for in this file beyond the earlier one's."""
    fork: str = ""
    """What shows two histories, if there are two."""
    declared_by: int | None = None
    """The entry in which one of the two histories declares the other one lost."""

    def words(self) -> str:
        """Return it as a person reads it."""
        name = printable(self.name)
        if self.declared_by is not None:
            return f"another history than {name}: {self.fork}; entry {self.declared_by} declares this loss"
        if self.fork:
            return f"another history than {name}: {self.fork}; `referee prove-fork` with both files writes the evidence"
        if not self.more:
            return f"the same game as {name}"
        size = counted(abs(self.more), "entry", "entries")
        return f"the same game as {name}, {size} {'more' if self.more > 0 else 'fewer'}"


@dataclass(frozen=True, slots=True)
class _Earlier:
    name: str
    digest: str


class Games:
    """The longest file of every game so far."""

    def __init__(self, folder: Path, verifier: VerifierKey | None) -> None:
        self._folder = folder
        self._verifier = verifier
        self._longest: dict[str, _Earlier] = {}
        self.not_compared: list[tuple[str, str]] = []
        """Files of one game that are not here, or have changed since they were audited."""

    def compared(self, line: Line) -> Again | None:
        """Return how a file stands to an earlier one of its game, as far as the referee signed for both."""
        if self._verifier is None or not line.get("signed_entries"):
            return None
        one = _Earlier(line[FILE], line["sha256"])
        earlier = self._longest.setdefault(line["game_id"], one)
        if earlier is one:
            return None
        if earlier.digest == one.digest:
            return Again(earlier.name, 0)
        both = [self._read(each) for each in (earlier, one)]
        if None in both:
            self.not_compared.append((earlier.name, one.name))
            return None
        try:
            theirs, ours = (read_side(data or b"", self._verifier) for data in both)
            fork = find_fork(theirs, ours)
        except LogError:  # the file's own verdict says what is wrong with it
            return None
        more = ours.checkpoint.size - theirs.checkpoint.size
        again = Again(earlier.name, more, fork.what, fork.declared_by) if fork else Again(earlier.name, more)
        if again.more > 0 and not again.fork:
            self._longest[line["game_id"]] = one
        return again

    def _read(self, one: _Earlier) -> bytes | None:
        """Return what was audited."""
        try:
            with regular(self._folder / one.name) as stream:
                data = stream.read()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == one.digest else None


class Summary:
    """Prints lines and counts their verdicts."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._found: Counter[str] = Counter()

    def tell(self, line: Line, again: Again | None, *, plain: bool = True) -> None:
        """Print a line. ``plain``: also of a file of which there is nothing to say."""
        verdict = _verdict(line, again)
        self._found[verdict] += 1
        if self._as_json:
            write(_as_json(line, again))
        elif plain or again is not None or verdict != Verdict.COMPLETE.name:
            write(_as_text(line, verdict, again))

    def end(self) -> int:
        """Print how many there are of each verdict; return the exit code, which is that of the gravest."""
        if not self._as_json:
            listed = ", ".join(f"{count} {verdict}" for verdict, count in self._found.most_common())
            write(f"{counted(self._found.total(), 'file')}: {listed}\n")
        if self._found[UNREADABLE]:
            return 1
        return next((int(verdict) for verdict in GRAVITY if self._found[verdict.name]), int(Verdict.COMPLETE))


def _verdict(line: Line, again: Again | None) -> str:
    """Return the graver one of what the file alone comes to, and beside an earlier file of its game."""
    alone = str(line["verdict"])
    if again is None or not again.fork:
        return alone
    beside = Verdict.FORK if again.declared_by is None else Verdict.LOSS
    graver = {verdict.name for verdict in GRAVITY[: GRAVITY.index(beside)]} | {UNREADABLE}
    return alone if alone in graver else beside.name


def _as_text(line: Line, verdict: str, again: Again | None) -> str:
    entries = f", {line['entries']} entries" if "entries" in line else ""
    rest = "; ".join(words for words in (line["problem"], again.words() if again else "") if words)
    return f"{verdict:<13} {printable(line[FILE])}{entries}" + (f": {rest}" if rest else "") + "\n"


def _as_json(line: Line, again: Again | None) -> str:
    more: dict[str, Any] = {}
    if again is not None:
        more["again"] = {
            "file": again.name,
            "more_entries": again.more,
            "fork": again.fork,
            **({} if again.declared_by is None else {"declared_by": again.declared_by}),
        }
        verdict = _verdict(line, again)
        more |= {"verdict": verdict, "exit_code": int(Verdict[verdict])} if verdict != line["verdict"] else {}
    return json.dumps(line | more, separators=(",", ":")) + "\n"
