"""Other solvers on the questions that Z3 is asked about the longest wall: the same clauses, one core each.

For some sets of tiles: is there a wall of the longest length, and of one side more, within a region? What the search
learns on the way (passages, holes, second loops) is in the clauses, so that every solver has the same to do.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from referee.games.alhambra.tiles import NAMES, parse_tile
from referee_solver.alhambra.wall_clauses import Question
from referee_solver.alhambra.walls import longest_wall, proofs
from referee_solver.z3run import Budget, OutOfBudget

OTHERS = Path(__file__).parent.parent.parent / ".venv" / "compare" / "bin" / "python"
SIZES = ((8, 3), (10, 3), (12, 4))
"""Tiles, and the steps from the fountain within which they lie."""
_SLACK_SECONDS = 10.0


@dataclass(frozen=True)
class Instance:
    """A question as clauses, and the right answer."""

    name: str
    dimacs: str
    answer: str


def instances(seeds: range, seconds: float) -> Iterator[Instance]:
    """Two of each set of tiles for which Z3 has the answer within the time."""
    for size, region in SIZES:
        for seed in seeds:
            tiles = random.Random(seed).sample(NAMES, size)
            *_, last = longest_wall(tiles, seconds=seconds, region=region)
            if not last.proven:
                continue
            masks = [parse_tile(tile).walls for tile in tiles]
            for target, answer in ((last.best, "sat"), (last.best + 1, "unsat")):
                if target > sum(mask.bit_count() for mask in masks):
                    continue  # nothing to be asked
                if (dimacs := learnt(masks, target, region, seconds)) is not None:
                    yield Instance(f"{size} tiles within {region}: {answer}", dimacs, answer)


def learnt(masks: list[int], target: int, region: int, seconds: float) -> str | None:
    """Return the clauses with all that had to be added; None if the time is over first."""
    question = Question(masks, target, region)
    with suppress(OutOfBudget):
        proofs.answer(question, Budget(None, seconds))
        return question.clauses.dimacs()
    return None


def _command(words: list[str], seconds: float) -> tuple[str, float]:
    """Return the answer of a command of the SAT competitions, and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=seconds + _SLACK_SECONDS)
    except subprocess.TimeoutExpired:
        return "unknown", seconds
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = {"s SATISFIABLE": "sat", "s UNSATISFIABLE": "unsat"}
    answer = next((said[line] for line in done.stdout.splitlines() if line in said), "unknown")
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _z3(file: Path, seconds: float) -> tuple[str, float]:
    words = [str(Path(sys.executable).parent / "z3"), "-dimacs", f"-T:{int(seconds)}", str(file)]
    return _command(words, seconds)


def _cadical(file: Path, seconds: float) -> tuple[str, float]:
    return _command(["cadical", "-q", "-n", "-t", str(int(seconds)), str(file)], seconds)


def _other(name: str) -> Callable[[Path, float], tuple[str, float]]:
    def ask(file: Path, seconds: float) -> tuple[str, float]:
        # -P: a neighbour of the program has the name of a module of the library.
        words = [str(OTHERS), "-P", str(Path(__file__).parent / "other_solvers.py"), name, str(file), str(seconds)]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=True, timeout=2 * seconds + _SLACK_SECONDS
            )
        except subprocess.TimeoutExpired:
            return "unknown", seconds
        answer, spent = done.stdout.split()
        return answer, float(spent)

    return ask


def solvers() -> dict[str, Callable[[Path, float], tuple[str, float]] | None]:
    """How to ask each; None for one that is not installed."""
    others = OTHERS.exists()
    return {
        "Z3": _z3,
        "cadical": _cadical if shutil.which("cadical") else None,
        "CP-SAT": _other("cp-sat") if others else None,
        "clingo": _other("clingo") if others else None,
    }


def table(seeds: range, seconds: float) -> Table:
    """Return seconds of all questions of a kind together; what was not decided counts with the whole time."""
    asked = list(instances(seeds, seconds))
    found = Table(
        "instances", *solvers(), title=f"The same clauses, one core, {seconds:g} s each", title_justify="left"
    )
    with TemporaryDirectory() as folder:
        for name in dict.fromkeys(instance.name for instance in asked):
            same = [instance for instance in asked if instance.name == name]
            cells = [
                "not installed" if ask is None else _together(ask, same, Path(folder), seconds)
                for ask in solvers().values()
            ]
            found.add_row(f"{name}, {len(same)} sets", *cells)
    return found


def _together(
    ask: Callable[[Path, float], tuple[str, float]], asked: list[Instance], folder: Path, seconds: float
) -> str:
    total, undecided = 0.0, 0
    for instance in asked:
        file = folder / "question.cnf"
        file.write_text(instance.dimacs, encoding="ascii")
        answer, spent = ask(file, seconds)
        if answer not in (instance.answer, "unknown"):
            raise AssertionError(f"{instance.name}: {answer}; the solvers disagree")
        undecided += answer == "unknown"
        total += seconds if answer == "unknown" else spent
    return f"{total:.3g} s" + (f", {undecided} undecided" if undecided else "")
