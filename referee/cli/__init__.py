"""The ``referee`` command. Each module here is one command: a function of the same name."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

import typer

from referee.cli.failure import Failure

COMMANDS = ("serve", "keys", "new", "bot", "show", "audit", "inspect")

app = typer.Typer(
    name="referee",
    help="A referee for tile-laying games: it deals, rules on every move and keeps a log that anyone can verify.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

for name in COMMANDS:
    if find_spec(f"{__name__}.{name}"):
        app.command(name)(getattr(import_module(f"{__name__}.{name}"), name))


def main() -> None:
    """Runs the command; a ``Failure`` is one line on standard error and its exit code."""
    try:
        app()
    except Failure as failure:
        print(f"referee: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code)
    except BrokenPipeError:
        sys.exit(0)
