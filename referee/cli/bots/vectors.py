"""``referee vectors``: what another engine or verifier can be compared with, and the comparison of an engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from referee.cli.shared import output
from referee.cli.shared.commands import group
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.console import printable
from referee.games import registry
from referee.log.vectors.counting import KINDS, BadAnswer, Question, questions
from referee.log.vectors.export import write
from referee.text.notation.questions import shown
from referee_clients.bots import UnknownBot, protocol
from referee_clients.bots.program import PREFIX, Patience, Program, ProgramFailed

EXIT_DIFFERS = 3
_MOST_SHOWN = 3

vectors = group(
    "vectors",
    """Write what another engine or verifier can be compared with, or compare an engine with it.

    Counting files, transcripts with every position's encoding, digest, points and legal moves, the vectors of the log,
    games' files and certificates, good and forged, and MANIFEST.json with a hash of each (docs/vectors.md).

    Example: `referee vectors --out vectors`
    """,
)


@vectors.default
def _vectors(
    *,
    out: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Write them into this folder, which is made.", show_default=False),
    ] = None,
) -> None:
    """Write them."""
    if out is None:
        raise Failure("where to? expected --out DIR, or `referee vectors check`", EXIT_USAGE)
    if out.is_dir() and any(out.iterdir()):
        raise Failure(f"--out {out}: there is something in it; expected an empty folder, or a new one", EXIT_USAGE)
    try:
        number = write(out)
    except OSError as error:
        raise Failure(f"--out {out}: {error.strerror}", EXIT_FAILED) from None
    print(f"wrote {number} files into {out}")


@vectors.command
def check(
    *,
    engine: Annotated[str, Parameter(metavar="exec:COMMAND", help="The engine: a program that answers lines of JSON.")],
    game: Annotated[
        list[str] | None, Parameter(help="Ask about this game; may be repeated.", show_default="all games")
    ] = None,
    most: Annotated[
        int, Parameter(metavar="N", help="Ask for no count that is larger.", validator=Number(gte=1))
    ] = 20_000,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON document instead of the table.")] = False,
) -> None:
    """Ask an engine what follows the positions of the counting files, and compare its answers.

    It is asked for counts of sequences of moves, legal moves, points and digests; what it does not know it answers with
    {"unsupported":true}. It runs as you.

    Exit codes: 0 every answer agrees; 1 the engine failed, or answered no question; 2 wrong usage; 3 an answer differs.

    Example: `referee vectors check --engine 'exec:python3 docs/examples/engines/naive.py' --game kingdomino`
    """
    for each in game or ():
        if each not in registry.names():
            raise Failure(f"--game {each}: expected one of {', '.join(registry.names())}", EXIT_USAGE)
    if not engine.startswith(PREFIX):
        raise Failure(f"--engine {engine}: expected {PREFIX}COMMAND, such as {PREFIX}./engine", EXIT_USAGE)
    try:
        asked = Engine(engine)
    except UnknownBot as error:
        raise Failure(str(error), EXIT_USAGE) from None
    chosen = tuple(dict.fromkeys(game)) if game else registry.names()
    wanted = [question for each in chosen for question in questions(each, most)]
    try:
        with asked, Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(wanted))
            agreements = compare(asked, wanted, lambda: progress.update(task, advance=1))
    except ProgramFailed as failed:
        raise Failure(f"the engine failed: {failed}", EXIT_FAILED) from None
    if as_json:
        output.write(json.dumps([_as_json(each) for each in agreements], indent=2) + "\n")
    else:
        _show(agreements)
    if any(each.differences for each in agreements):
        raise Exit(EXIT_DIFFERS)
    if not any(each.answered for each in agreements):
        raise Failure("the engine answered no question: nothing was compared", EXIT_FAILED)


def _as_json(agreement: Agreement) -> dict[str, object]:
    return {
        "game": agreement.game,
        "kind": agreement.kind,
        "answered": agreement.answered,
        "agreed": agreement.agreed,
        "unsupported": agreement.unsupported,
        "differences": agreement.differences,
    }


def _show(agreements: Sequence[Agreement]) -> None:
    console = Console()
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("game")
    for kind in KINDS:
        table.add_column(kind, justify="right")
    for game in dict.fromkeys(each.game for each in agreements):
        of_game = {each.kind: each for each in agreements if each.game == game}
        table.add_row(game, *(_cell(of_game[kind]) if kind in of_game else Text("") for kind in KINDS))
    console.print(table)
    for each in agreements:
        for told in each.differences[:_MOST_SHOWN]:
            console.print(Text(f"{each.game}, {each.kind}, {printable(told)}"), soft_wrap=True)
        more = len(each.differences) - _MOST_SHOWN
        if more > 0:
            console.print(Text(f"{each.game}, {each.kind}: {more} more differ"), soft_wrap=True)


def _cell(agreement: Agreement) -> Text:
    if not agreement.answered:
        return Text("unsupported", "dim")
    told = f"{agreement.agreed} of {agreement.answered}"
    told += f", {agreement.unsupported} unsupported" if agreement.unsupported else ""
    return Text(told, "bold red" if agreement.differences else "green")


ANSWER_S: Final = 60.0


class Engine(Program):
    """A program that answers questions, each line with one line. ``with`` it: it is started, and ended."""

    kind = "engine"

    def __enter__(self) -> Engine:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(None)

    def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return its answer. Raise ``ProgramFailed`` if it has ended, or answers no object within ``ANSWER_S``."""
        patience = Patience.of(ANSWER_S)
        self._send(json.dumps(question, separators=(",", ":")).encode() + b"\n", patience)
        with self._understood():
            return protocol.answer(self._line(patience, "an answer"))


@dataclass(slots=True)
class Agreement:
    """The results of the questions of one kind about one game."""

    game: str
    kind: str
    agreed: int = 0
    unsupported: int = 0
    differences: list[str] = field(default_factory=list)
    """The place, the answer and the expected answer of each difference."""

    @property
    def answered(self) -> int:
        """Return how many questions the engine answered."""
        return self.agreed + len(self.differences)


def compare(engine: Engine, asked: Iterable[Question], told: Callable[[], None]) -> list[Agreement]:
    """Ask all questions, and call ``told`` after each. Raise ``ProgramFailed``."""
    found = dict[tuple[str, str], Agreement]()
    for question in asked:
        agreement = found.setdefault((question.game, question.kind), Agreement(question.game, question.kind))
        told()
        answer = engine.ask(question.asked)
        try:
            said = question.found(answer)
        except BadAnswer as wrong:
            agreement.differences.append(f"{question.where}: {shown(dict(answer))}; expected {wrong}")
            continue
        if said is None:
            agreement.unsupported += 1
        elif said == question.expected:
            agreement.agreed += 1
        else:
            agreement.differences.append(f"{question.where}: {_difference(said, question.expected)}")
    return list(found.values())


def _difference(said: Any, expected: Any) -> str:
    if isinstance(said, tuple) and not all(isinstance(each, int) for each in (*said, *expected)):
        more, less = [m for m in said if m not in expected], [m for m in expected if m not in said]
        parts = [
            f"{word} {', '.join(map(repr, moves[:3]))}" for word, moves in (("also", more), ("not", less)) if moves
        ]
        return f"{len(said)} moves, expected {len(expected)}: {'; '.join(parts) or 'one of them twice'}"
    return f"{said!r}; expected {expected!r}"
