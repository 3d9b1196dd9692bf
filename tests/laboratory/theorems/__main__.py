"""Proves the theorems and prints each: ``python -m tests.laboratory.theorems [--slow] [--only NAME]``.

Exit status 1 if one is refuted or undecided.
"""

from __future__ import annotations

import argparse
import sys
from textwrap import fill, indent
from time import process_time

from tests.laboratory.theorems import THEOREMS, Theorem, Undecided


def main(arguments: list[str] | None = None) -> int:
    """Run the theorems and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.laboratory.theorems", description="Theorems about the engine."
    )
    parser.add_argument("--slow", action="store_true", help="those too that take up to a minute")
    parser.add_argument("--only", metavar="NAME", action="append", help="this one; may be given several times")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.only or ()) - {theorem.name for theorem in THEOREMS}:
        parser.error(f"no theorem {', '.join(sorted(unknown))}; they are: {', '.join(each.name for each in THEOREMS)}")
    chosen = [each for each in THEOREMS if (each.name in asked.only if asked.only else asked.slow or not each.slow)]
    proved = sum([_show(theorem) for theorem in chosen])
    left = "" if len(chosen) == len(THEOREMS) or asked.only else f" ({len(THEOREMS) - len(chosen)} more with --slow)"
    print(f"{proved} of {len(chosen)} theorems proved{left}")
    return 0 if proved == len(chosen) else 1


def _show(theorem: Theorem) -> bool:
    """Print the theorem and its answer; whether it is proved."""
    print(f"{theorem.name}: {theorem.scope}")
    for text in (theorem.statement, theorem.formula):
        print(fill(text, 116, initial_indent="  ", subsequent_indent="    " if text is theorem.formula else "  "))
    sys.stdout.flush()
    start = process_time()
    try:
        counterexample = theorem.refute()
        answer = "proved" if counterexample is None else "REFUTED"
    except Undecided as undecided:
        counterexample, answer = str(undecided), "UNDECIDED"
    print(f"  {answer}, {process_time() - start:.2f} s of CPU time")
    if counterexample is not None:
        print(indent(counterexample, "    "))
    print(flush=True)
    return counterexample is None


if __name__ == "__main__":
    sys.exit(main())
