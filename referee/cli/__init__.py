"""The ``referee`` command: a package for each panel of its help, and one for the helpers that panels share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from errno import ENOSPC
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.exceptions import TyperException

import referee as program
from referee import console, core
from referee.cli.shared import output
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Failure, missing
from referee.text.notation.violations import BadWord

PANELS: Final[Mapping[str, Mapping[str, str]]] = {
    "The referee": {
        "serve": "operators.serve",
        "web": "operators.web",
        "keys": "operators.keys",
        "new": "operators.new",
        "abort": "operators.games",
        "games": "operators.games",
        "name": "operators.games",
        "token": "operators.token",
        "status": "operators.status",
        "health": "operators.status",
        "backup": "operators.backup",
        "restore": "operators.backup",
        "recover": "operators.recover",
        "migrate": "operators.backup",
        "cluster": "operators.cluster",
    },
    "Playing": {
        "play": "players.play",
        "bot": "players.bot",
        "change-key": "players.acts",
        "resign": "players.acts",
        "take-back": "players.acts",
        "consent": "players.acts",
        "protest": "players.acts",
        "appeal": "players.acts",
        "call": "players.acts",
    },
    "Bots and engines of your own": {
        "bot-lint": "bots.check",
        "bot-check": "bots.check",
        "vectors": "bots.vectors",
        "arena": "tournament.match",
        "demo": "bots.demo",
    },
    "Arbiters": {"arbiter": "arbiters.arbiter", "rule": "arbiters.rule", "docket": "arbiters.docket"},
    "Games and their logs": {
        "fetch": "files.fetch",
        "show": "files.show",
        "audit": "files.audit",
        "inspect": "files.inspect",
        "dynasty": "files.dynasty",
        "prove-inclusion": "files.proofs",
        "prove-fork": "files.proofs",
        "reprove": "files.reprove",
    },
    "The public log": {"log": "public_log", "witness": "public_log.witness"},
    "Games over the board": {
        "desk": "board.desk",
        "record": "board.record",
        "adjudicate": "board.adjudicate",
        "score": "board.score",
        "report": "board.report",
    },
    "Tournaments": {"event": "tournament", "match": "tournament.match"},
    "The solver": {
        "prove": "solver.prove",
        "best-turn": "solver.turns",
        "longest-wall": "solver.longest_wall",
        "best-kingdom": "solver.best_kingdom",
        "rebuild-distance": "solver.turns",
        "prove-decided": "solver.prove",
    },
}
"""The help's groups of commands: a package for each panel, and the module of each command."""
GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "event": {
        **dict.fromkeys(
            ("new", "enter", "checkin", "share", "draw", "withdraw", "readmit", "absent", "expel", "forbid"),
            "tournament.entrants",
        ),
        **dict.fromkeys(
            ("pair", "plan", "publish", "result", "amend", "award", "void", "reopen", "close"), "tournament.rounds"
        ),
        "open": "tournament.network:open_",
        "desk": "tournament.desk",
        **dict.fromkeys(("status", "standings", "arbiters", "show", "check"), "tournament.standings"),
        "export": "tournament.export",
        "import": "tournament.export:import_",
        "run": "tournament.run",
        "sign": "tournament.rounds",
        "simulate": "tournament.simulate",
    },
    "log": {"watch": "public_log.watch", "check": "public_log.watch", "recover": "public_log.recover:recover_"},
}
"""Commands whose own commands are in several modules: of which only the one that is asked for is imported."""
COMMANDS: Final[Mapping[str, str]] = {name: module for panel in PANELS.values() for name, module in panel.items()}
_HELP: Final = r'^(?:@{word}\.callback\([^\n]*\ndef \w+|def _?{word})\(.*?:\n    """(.*?)"""'
"""The docstring of a command's function, or of the callback of its group."""
_COMPLETING: Final = "_REFEREE_COMPLETE"
"""The variable with which a shell asks what a word can become."""
_PANEL_OF: Final = {name: panel for panel, commands in PANELS.items() for name in commands}


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the command with these subcommands, such as ``audit`` or ``event check``; no other one is imported."""
    # Before gRPC is imported, as it looks only then: we report errors ourselves, in one line.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    app = _bare()
    for name in names:
        word, _, inner = name.partition(" ")
        command = _function(COMMANDS[word], word)
        if word in GROUPS:
            wanted = [inner] if inner else GROUPS[word]
            command = _group(command, {each: _function(GROUPS[word][each], each) for each in wanted})
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=word, rich_help_panel=_PANEL_OF[word])
        else:
            app.command(word, rich_help_panel=_PANEL_OF[word])(command)
    return app


def overview(group: str = "") -> typer.Typer:
    """Return the command, or this group, with only the help of its subcommands: to import them all takes seconds."""
    app = _bare(completion=not group)
    if group:
        inner = dict.fromkeys(GROUPS[group], _nothing)
        app.add_typer(_group(_function(COMMANDS[group], group), inner, GROUPS[group]), name=group)
        return app
    for name, module in COMMANDS.items():
        app.command(name, rich_help_panel=_PANEL_OF[name], help=_summary(module, name))(_nothing)
    return app


def _bare(*, completion: bool = False) -> typer.Typer:
    """Return it without commands. ``completion``: with the options that install completion, of which one is asked."""
    app = typer.Typer(name="referee", no_args_is_help=True, add_completion=completion, rich_markup_mode="markdown")
    app.callback()(referee)
    return app


def _group(
    callback: Callable[[], None], commands: Mapping[str, Callable[..., Any]], modules: Mapping[str, str] | None = None
) -> typer.Typer:
    """Return a group of these commands. With modules, their help is read there, not from the functions."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
    group.callback()(callback)
    for name, command in commands.items():
        group.command(name, help=_summary(modules[name], name) if modules else None)(command)
    return group


def _function(module: str, name: str) -> Any:
    """Import a command."""
    path, _, function = module.partition(":")
    return getattr(import_module(f"{__name__}.{path}"), function or name.replace("-", "_"))


def _nothing() -> None:
    """Refuse to run: the first words name what is imported."""
    raise Failure("expected the command as the first word", EXIT_USAGE)


def _summary(module: str, name: str) -> str:
    """Return the docstring of the function that is this command, or group of commands."""
    path, _, function = module.partition(":")
    word = function or name.replace("-", "_")
    source = Path(__file__).parent.joinpath(*path.split("."))
    source = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
    # A look into the text: to parse all of the modules takes as long as to show the help.
    found = re.search(_HELP.format(word=word), source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return cleandoc(found[1]) if found else ""


def _asked(word: str = "", inner: str = "") -> typer.Typer:
    """Return the command with the subcommand that the first words name; without one, for an error message or the
    help."""
    if word not in COMMANDS:
        return overview()
    if word in GROUPS and inner in GROUPS[word]:
        return application([f"{word} {inner}"])
    return overview(word) if word in GROUPS else application([word])


def _completing() -> typer.Typer:
    """Return the command with the subcommand whose words a shell wants to have completed."""
    # Typer exports it nowhere, and calls it only where its own options for completion are in every command.
    from typer.completion import completion_init  # type: ignore[attr-defined]  # noqa: PLC0415 - only shells need it

    completion_init()
    if (typed := os.environ.get("COMP_WORDS")) is not None:  # bash's; one word a line, the first is the program
        words = typed.split("\n")[1 : int(os.environ.get("COMP_CWORD", "1"))]
    else:
        typed = os.environ.get("_TYPER_COMPLETE_ARGS", "")
        words = typed.split()[1:] if typed[-1:].isspace() else typed.split()[1:-1]
    try:
        return _asked(*words[:2])
    except ModuleNotFoundError:  # an extra: the shell gets no message
        return overview()


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
        app = _completing() if _COMPLETING in os.environ else _asked(*sys.argv[1:3])
        code = app(standalone_mode=False)
        with suppress(typer.Exit):  # the reader has left: the code is that of the command all the same
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
    # It may have the name of a foreign file: no name steers a terminal, or makes a second line.
    print(f"referee: {console.printable(message)}", file=sys.stderr)
    return code
