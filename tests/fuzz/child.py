"""``python -m tests.fuzz.child TARGET …``: one target under libFuzzer, whose options follow. It never returns."""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    atheris = importlib.import_module("atheris")  # untyped, and not everywhere
    with atheris.instrument_imports(include=["referee", "solver"]):
        targets = importlib.import_module("tests.fuzz.targets")
    name, *options = sys.argv[1:]
    run = targets.TARGETS[name].run
    atheris.Setup([sys.argv[0], *options], lambda data: run(data) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
