"""The ``referee`` command. A module here is one command, a function or a group of them, or what several share."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from errno import ENOSPC
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

import referee as program
from referee import console, core
from referee.cli.shared import output
from referee.cli.shared.extras import missing
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.text.notation.errors import BadWord

PANELS = {
    "The referee": (
        "serve",
        "web",
        "keys",
        "new",
        "abort",
        "games",
        "token",
        "status",
        "health",
        "backup",
        "restore",
        "recover",
        "migrate",
        "cluster",
    ),
    "Playing": ("play", "bot", "change-key", "resign", "take-back", "consent", "protest", "appeal", "call"),
    "Bots and engines of your own": ("bot-lint", "bot-check", "vectors", "arena", "demo"),
    "Arbiters": ("arbiter", "rule", "docket"),
    "Games and their logs": (
        "fetch",
        "show",
        "audit",
        "inspect",
        "dynasty",
        "prove-inclusion",
        "prove-fork",
        "reprove",
    ),
    "The public log": ("log", "witness"),
    "Games over the board": ("desk", "record", "adjudicate", "score", "report"),
    "Tournaments": ("event", "match"),
    "The solver": ("prove", "best-turn", "longest-wall", "best-kingdom", "rebuild-distance", "prove-decided"),
}
"""How the help groups the commands."""
COMMANDS = tuple(name for names in PANELS.values() for name in names)


def application(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Return the command with these subcommands; what the others need is not imported."""
    # Before gRPC is imported, as it looks only then: what goes wrong is told by us, in one line.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    app = _bare()
    panels = {name: panel for panel, named in PANELS.items() for name in named}
    for name in names:
        word = name.replace("-", "_")
        command = getattr(import_module(f"{__name__}.{word}"), word)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panels[name])
        else:
            app.command(name, rich_help_panel=panels[name])(command)
    return app


def _bare() -> typer.Typer:
    app = typer.Typer(name="referee", no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")
    app.callback()(referee)
    return app


def overview() -> typer.Typer:
    """Return the command that only knows what its subcommands are for: to import them all takes seconds."""
    app = _bare()
    for panel, names in PANELS.items():
        for name in names:
            app.command(name, rich_help_panel=panel, help=_summary(name.replace("-", "_")))(_nothing)
    return app


def _nothing() -> None:
    """Do nothing: a word that names a command imports it."""


def _summary(word: str) -> str:
    """Return the docstring of the function that is the command, or the group, of this module."""
    spec = find_spec(f"{__name__}.{word}")
    assert spec is not None  # noqa: S101 - each command has a module
    assert spec.origin is not None  # noqa: S101
    functions = {
        (word if any("callback" in ast.dump(mark) for mark in each.decorator_list) else each.name): each
        for each in ast.parse(Path(spec.origin).read_bytes()).body
        if isinstance(each, ast.FunctionDef)
    }
    return ast.get_docstring(functions.get(word) or functions[f"_{word}"]) or ""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"referee {program.__version__}" + (" (compiled core)" if core.is_compiled() else ""))
        raise typer.Exit


def referee(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A referee for tile-laying games: it deals, rules on every move and keeps a log that anyone can verify.

    Exit codes of every command: 0 done; 1 failed, with the reason in one line; 2 wrong usage. Commands that judge a
    game or a file have further codes, which their help lists.
    """


def main() -> None:
    """Run the command; whatever stops it is one line on standard error and an exit code."""
    console.accept_every_character()
    try:
        word = sys.argv[1:2]
        # Without one there is a mistake to tell, or the help.
        code = (application(word) if word and word[0] in COMMANDS else overview())(standalone_mode=False)
        with suppress(typer.Exit):  # nobody reads any more: the code is that of the command all the same
            output.write("")
    except Failure as failure:
        code = _stop(str(failure), failure.exit_code)
    except ModuleNotFoundError as error:
        if (lacking := missing(" ".join(sys.argv[1:2]), error.name or "")) is None:
            raise
        code = _stop(str(lacking), lacking.exit_code)
    except BadWord as error:
        code = _stop(str(error), EXIT_USAGE)
    except TyperException as error:  # words that typer does not know; the message is empty where it has shown the help
        # Choices come one a line, and what is wrong with one with the name of a Python error.
        message = " ".join(error.format_message().split()).replace(": Value error, ", ": ")
        sentence = message if message.endswith((".", "?")) else f"{message}."
        code = _stop(f"{sentence} Try --help.", EXIT_USAGE) if message else EXIT_USAGE
    except OSError as error:
        if error.filename is not None:
            code = _stop(f"{error.filename}: {error.strerror}", EXIT_FAILED)
        elif error.errno == ENOSPC:
            output.discard()
            code = _stop(f"standard output: {error.strerror}", EXIT_FAILED)
        else:
            raise
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _stop(message: str, code: int) -> int:
    # It may have the name of a file, which came from somebody else: no name steers a terminal, or makes a second line.
    print(f"referee: {console.printable(message)}", file=sys.stderr)
    return code
