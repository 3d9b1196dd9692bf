"""The ``referee`` command. Each module here is one command: a function of the same name."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer
from typer.exceptions import TyperException

from referee import __version__
from referee.cli.failure import EXIT_USAGE, Failure

COMMANDS = ("serve", "keys", "new", "bot", "show", "audit", "inspect")

app = typer.Typer(name="referee", no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

for name in COMMANDS:
    if find_spec(f"{__name__}.{name}"):
        app.command(name)(getattr(import_module(f"{__name__}.{name}"), name))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"referee {__version__}")
        raise typer.Exit


@app.callback()
def referee(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit.")
    ] = False,
) -> None:
    """A referee for tile-laying games: it deals, rules on every move and keeps a log that anyone can verify.

    Exit codes of every command: 0 done; 1 it failed, for a reason told in one line; 2 wrong usage. `audit` and `show`
    have codes of their own for what is wrong with a file.
    """


def main() -> None:
    """Runs the command; whatever stops it is one line on standard error and an exit code."""
    try:
        code = app(standalone_mode=False)
    except Failure as failure:
        code = _stop(str(failure), failure.exit_code)
    except TyperException as error:  # words that typer does not know; the message is empty where it has shown the help
        message = error.format_message()
        code = _stop(f"{message} Try --help.", EXIT_USAGE) if message else EXIT_USAGE
    except BrokenPipeError:
        code = 0
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _stop(message: str, code: int) -> int:
    print(f"referee: {message}", file=sys.stderr)
    return code
