"""The ``referee`` command: a package for each panel of its help, and one for the helpers that panels share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from errno import ENOSPC
from importlib import import_module
from inspect import cleandoc
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import App, ArgumentCollection, CycloptsError, Group, Parameter

import referee as program
from referee import console, core
from referee.cli.shared import output
from referee.cli.shared.commands import OPTIONS, group
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure, missing
from referee.text.notation.violations import BadWord

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions

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
_BEGINNINGS: Final = ("\n{} = group(", "\ndef {}(", "\ndef _{}(")
"""The ways in which a module begins a command, or a group of commands: the next docstring is its help."""
_SETTINGS: Final = ("serve", "web")
"""Commands whose options can stand in a file and in the environment."""
_PANEL_OF: Final = {
    name: panel
    for number, (title, commands) in enumerate(PANELS.items())
    for panel in [Group(title, sort_key=OPTIONS.sort_key + 1 + number)]
    for name in commands
}


def application(names: Iterable[str] = COMMANDS) -> App:
    """Return the command with these subcommands, such as ``audit`` or ``event check``; no other one is imported."""
    # Before gRPC is imported, as it looks only then: we report errors ourselves, in one line.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    app = _bare()
    wanted: dict[str, list[str]] = {}
    for name in names:
        word, _, inner = name.partition(" ")
        wanted.setdefault(word, []).extend([inner] if inner else GROUPS.get(word, ()))
    for word, inners in wanted.items():
        command = _function(COMMANDS[word], word)
        if word in GROUPS:
            command = _filled(word, command, {each: _function(GROUPS[word][each], each) for each in inners})
        app.command(command, name=word)
        app[word].group = _PANEL_OF[word]
    return app


def overview(word: str = "") -> App:
    """Return the command, or this group, with only the help of its subcommands: to import them all takes seconds."""
    app = shown = _bare()
    if word:
        inner = dict.fromkeys(GROUPS[word], _nothing)
        shown = _filled(word, _function(COMMANDS[word], word), inner, GROUPS[word])
        app.command(shown, name=word)
    else:
        for number, (name, module) in enumerate(COMMANDS.items()):
            app.command(_nothing, name=name, group=_PANEL_OF[name], help=_summary(module, name), sort_key=number)
        app.command(install_completion, name="--install-completion", group=OPTIONS)
        app.command(show_completion, name="--show-completion", group=OPTIONS)
    # To load what reads Markdown takes as long as everything else, and to draw boxes as well.
    shown.help_format, shown.help_formatter = "plaintext", _in_columns
    shown.help = "\n\n".join(" ".join(each.split()) for each in shown.help.split("\n\n"))
    shown.usage = f"Usage: {' '.join(filter(None, ('referee', word)))} COMMAND"
    return app


def _in_columns(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Print a panel of the overview."""
    names = [entry.display_labels[0] for entry in panel.entries]
    left = max(map(len, names)) + 4
    lines = [panel.title]
    for name, entry in zip(names, panel.entries, strict=True):
        told = wrap(str(getattr(entry.description, "primary_renderable", "")), options.max_width - left)
        lines += [f"  {first:{left - 2}}{text}" for first, text in zip_longest([name], told, fillvalue="")]
    console.print(*lines, "", sep="\n", markup=False, highlight=False)


def _bare() -> App:
    """Return it without commands."""
    app = group("referee", referee.__doc__ or "", version=_version)
    app["--help"].group = app["--version"].group = OPTIONS
    return app


def _filled(
    name: str,
    about: Callable[[], None],
    commands: Mapping[str, Callable[..., Any]],
    modules: Mapping[str, str] | None = None,
) -> App:
    """Return a group of these commands. With modules, their help is read there, not from the functions."""
    found = group(name, about.__doc__ or "", group=_PANEL_OF[name])
    for number, (word, command) in enumerate(commands.items()):
        found.command(command, name=word, help=_summary(modules[word], word) if modules else None, sort_key=number)
    return found


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
    text = source.read_text(encoding="utf-8")
    at = next(at for begins in _BEGINNINGS if (at := text.find(begins.format(word))) >= 0)
    return cleandoc(text[at:].split('\n    """', 1)[1].split('"""', 1)[0])


def _asked(word: str = "", inner: str = "") -> App:
    """Return the command with the subcommand that the first words name; without one, for an error message or the
    help."""
    if word not in COMMANDS:
        return overview()
    if word in GROUPS and inner in GROUPS[word]:
        return application([f"{word} {inner}"])
    return overview(word) if word in GROUPS else application([word])


_Shell = Annotated[Literal["bash", "zsh", "fish"] | None, Parameter(show_default="yours")]


def install_completion(shell: _Shell = None, /) -> None:
    """Install completion of commands and options for your shell. Install it again with a new version."""
    print(f"installed {_complete().install_completion(shell=shell)}; it works in new shells")


def show_completion(shell: _Shell = None, /) -> None:
    """Print the script that completes commands and options in your shell."""
    print(_complete().generate_completion(shell=shell))


def _complete() -> App:
    """Return the command with all subcommands for which no extra is missing."""
    names = []
    for name in [*(COMMANDS.keys() - GROUPS), *(f"{word} {inner}" for word in GROUPS for inner in GROUPS[word])]:
        with suppress(ModuleNotFoundError):
            application([name])
            names.append(name)
    return application(names)


def _version() -> str:
    return f"referee {program.__version__}" + (" (compiled core)" if core.is_compiled() else "")


def referee() -> None:
    """A referee for tile-laying games: it deals, rules on every move and keeps a log that anyone can verify.

    Exit codes of every command: 0 done; 1 failed, with the reason in one line; 2 wrong usage. Commands that judge a
    game or a file have further codes, which their help lists.
    """


def run(words: Sequence[str]) -> None:
    """Run the command that the words name. Raise ``Failure``, ``Exit``, ``CycloptsError``."""
    if words[0:1] == ["rule"] and words[1:] and words[1].startswith("--sign="):
        words = ["rule", *words[1].split("=", 1), *words[2:]]
    app, found = _asked(*words[:2]), ArgumentCollection()  # type: ignore[no-untyped-call]

    def settled(_: App, names: tuple[str, ...], arguments: ArgumentCollection) -> None:
        found.extend(arguments)
        if names[0] in _SETTINGS:
            import_module(f"{__name__}.operators.settings").take(names[0], arguments)

    app.config = settled
    command, bound, wanted = app.parse_args(words, exit_on_error=False, print_error=False)
    command(*bound.args, **bound.kwargs, **dict.fromkeys(wanted, found))
    if command == app.help_print and "--help" not in words:
        raise Exit(EXIT_USAGE)


def main() -> None:
    """Run the command; whatever stops it is one line on standard error and an exit code."""
    console.accept_every_character()
    code = 0
    try:
        run(sys.argv[1:])
        output.write("")
    except Exit as ended:
        code = ended.exit_code
        with suppress(Exit):  # the reader has left: the code is that of the command all the same
            output.write("")
    except Failure as failure:
        code = _stop(str(failure), failure.exit_code)
    except ModuleNotFoundError as error:
        if (lacking := missing(" ".join(sys.argv[1:2]), error.name or "")) is None:
            raise
        code = _stop(str(lacking), lacking.exit_code)
    except BadWord as error:
        code = _stop(str(error), EXIT_USAGE)
    except CycloptsError as error:  # words that no command knows
        code = _stop(f"{' '.join(str(error).split())} Try --help.", EXIT_USAGE)
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
