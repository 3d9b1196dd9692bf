"""`referee prove` as a process that reads claims and writes verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.inside import referee

FIELDS = ["verdict", "rules", "reasons", "core", "certificate", "ms"]


def lines(questions: list[Any]) -> str:
    return "".join(json.dumps(question) + "\n" for question in questions)


def prove(questions: list[Any], *words: str | Path) -> list[dict[str, Any]]:
    done = referee("prove", *words, stdin=lines(questions))
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers
