"""Runs a ``referee`` command in this process, as starting one for every game would take the longest."""

from __future__ import annotations

from typing import NamedTuple

from typer.testing import CliRunner

from referee.cli import application
from referee.cli.failure import Failure


class Done(NamedTuple):
    """What came of it."""

    code: int
    out: str
    failure: str = ""
    """The one line on standard error of what stops a command."""


def referee(*words: object) -> Done:
    """Raises whatever is no answer of a command's."""
    texts = list(map(str, words))
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"})
    result = runner.invoke(application([texts[0]]), texts, standalone_mode=False)
    if isinstance(result.exception, Failure):
        return Done(result.exception.exit_code, result.stdout, str(result.exception))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    code = result.return_value if isinstance(result.return_value, int) else result.exit_code
    return Done(code, result.stdout)
