"""Pages of reference that are made from their sources: the commands from their help, the API from its protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from cyclopts import App, Argument, ArgumentCollection, Group
from cyclopts.help import create_parameter_help_panel
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from hatch_build import PROTO, compile_protos
from referee.cli import PANELS, application

_COMMANDS: Final = """\
# Commands and options

Made from the help of each command by `make docs`. `referee COMMAND --help` says the same in a terminal. Options of
`serve` and `web` can stand in a file and in the environment, too ([how](../operate/reference.md#options)).

Your shell can complete commands and options: `referee --install-completion` sets that up for the shell that you run it
in. The script that it writes knows the commands of this version, so run it again after an upgrade. In a checkout
`make man` writes all of this as manual pages into `build/man`.
"""
_API: Final = """\
# The API

Made from the comments of the protocol (`proto/referee/v1`) by `make docs`. Messages that are signed, those of the log
and of the games, are described in [log-format.md](../log-format.md). A client in another language begins with
[other-languages.md](../other-languages.md).
"""
_SERVICE, _METHOD, _MESSAGE, _FIELD, _ENUM, _NESTED, _VALUE = 6, 2, 4, 2, 5, 3, 2
"""Numbers of fields in paths of ``SourceCodeInfo.Location`` (descriptor.proto)."""


class Word(NamedTuple):
    """An option or an argument of a command, as its help shows it."""

    names: tuple[str, ...]
    """The names of an option, or the word that stands for an argument."""
    metavar: str
    help: str
    default: str
    is_required: bool
    is_argument: bool
    is_list: bool


class Command(NamedTuple):
    """A command, as its help shows it."""

    help: str
    words: tuple[Word, ...]
    commands: Mapping[str, Command]

    @property
    def arguments(self) -> list[Word]:
        """Those that are no options."""
        return [word for word in self.words if word.is_argument]

    @property
    def options(self) -> list[Word]:
        """Those with names."""
        return [word for word in self.words if not word.is_argument]


@cache
def the_command() -> Command:
    """Return ``referee`` with all its commands."""
    return command_of(application())


def command_of(*way: App) -> Command:
    """Return a command with those below it. ``way``: those above it, and itself."""
    app = way[-1]
    with way[0].app_stack(list(way)):
        words = app.assemble_argument_collection().filter_by(parse=True) if app.default_command else ()
        told = tuple(_word(each) for each in words if each.show and not each.children)
    below = {name: command_of(*way, app[name]) for name in app if not name.startswith("--")}
    return Command(cleandoc(app.help), told, below)


def _word(argument: Argument) -> Word:
    one = ArgumentCollection([argument])  # type: ignore[no-untyped-call]
    (entry,) = create_parameter_help_panel(Group("one"), one, "plaintext").entries
    is_argument = entry.positional_label is not None
    return Word(
        (entry.positional_label or "",) if is_argument else (*entry.positive_names, *entry.negative_names),
        entry.metavar or "",
        " ".join((argument.parameter.help or "").split()),
        entry.default or "",
        entry.required,
        is_argument,
        argument.token_count()[1],
    )


def commands_page() -> str:
    """Return every command with its options as Markdown."""
    lines = [_COMMANDS]
    for panel, commands in PANELS.items():
        lines += [f"## {panel}", ""]
        for name in commands:
            lines += _command(f"referee {name}", the_command().commands[name], 3)
    return "\n".join(lines)


def _command(words: str, command: Command, depth: int) -> Iterator[str]:
    yield from (f"{'#' * depth} {words}", "", command.help, "")
    if command.arguments or (command.options and not command.commands):
        usage = [words, *map(argument_of, command.arguments), *(["[OPTIONS]"] if command.options else [])]
        yield from (f"    {' '.join(usage)}", "")
    if command.words:
        yield from ("| option | meaning |", "|---|---|")
        yield from (f"| {names_of(each)} | {meaning_of(each)} |" for each in (*command.arguments, *command.options))
        yield ""
    for name, each in command.commands.items():
        yield from _command(f"{words} {name}", each, depth + 1)


def argument_of(argument: Word) -> str:
    """Return an argument as the first line of a help shows it."""
    name = argument.names[0] + ("..." if argument.is_list else "")
    return name if argument.is_required else f"[{name}]"


def names_of(word: Word) -> str:
    """Return the names of an option, or the word that stands for an argument, as a cell of a table in Markdown."""
    names = ", ".join(f"`{name}`" for name in word.names)
    return f"{names} {'' if word.is_argument else word.metavar}".strip().replace("|", "\\|")


def meaning_of(word: Word) -> str:
    """Return an option's help and default as a cell of a table in Markdown."""
    parts = (word.help, f"Default: `{word.default}`." if word.default else "", "Required." if word.is_required else "")
    return " ".join(filter(None, parts)).replace("|", "\\|")


# --- the API --------------------------------------------------------------------------------------------------------


def api_page() -> str:
    """Return every service of the API and every message as Markdown."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "api.binpb")
        names = sorted(path.relative_to(PROTO).as_posix() for path in (PROTO / "referee" / "v1").glob("*.proto"))
        compile_protos("--include_source_info", f"--descriptor_set_out={out}", *names)
        files = FileDescriptorSet.FromString(out.read_bytes()).file
    services = [line for file in files for line in _services(file)]
    messages = [line for file in files for line in _messages(file)]
    return "\n".join([_API, *services, "## Messages", "", *messages])


def _comments(file: FileDescriptorProto) -> dict[tuple[int, ...], str]:
    return {
        tuple(each.path): each.leading_comments or each.trailing_comments for each in file.source_code_info.location
    }


def _services(file: FileDescriptorProto) -> Iterator[str]:
    comments = _comments(file)
    for number, service in enumerate(file.service):
        yield from (f"## {service.name}", "", _prose(comments.get((_SERVICE, number), "")), "")
        for at, method in enumerate(service.method):
            asked, answered = _link(method.input_type), _link(method.output_type)
            asked = f"stream of {asked}" if method.client_streaming else asked
            answered = f"stream of {answered}" if method.server_streaming else answered
            yield from (f"### {service.name}.{method.name}", "", f"{asked} → {answered}", "")
            yield from (_prose(comments.get((_SERVICE, number, _METHOD, at), "")), "")


def _messages(file: FileDescriptorProto) -> Iterator[str]:
    comments = _comments(file)

    def told(message: Any, path: tuple[int, ...], name: str) -> Iterator[str]:
        yield from (f"### {name}", "", _prose(comments.get(path, "")), "")
        if message.field:
            yield from ("| field | type | meaning |", "|---|---|---|")
            for number, field in enumerate(message.field):
                yield f"| `{field.name}` | {_type(field)} | {_cell(comments.get((*path, _FIELD, number), ''))} |"
            yield ""
        for number, inner in enumerate(message.nested_type):
            if not inner.options.map_entry:
                yield from told(inner, (*path, _NESTED, number), f"{name}.{inner.name}")
        for number, enum in enumerate(message.enum_type):
            yield from values(enum, (*path, _MESSAGE, number), f"{name}.{enum.name}")

    def values(enum: Any, path: tuple[int, ...], name: str) -> Iterator[str]:
        yield from (f"### {name}", "", _prose(comments.get(path, "")), "", "| value | meaning |", "|---|---|")
        for number, value in enumerate(enum.value):
            yield f"| `{value.name}` | {_cell(comments.get((*path, _VALUE, number), ''))} |"
        yield ""

    for number, message in enumerate(file.message_type):
        yield from told(message, (_MESSAGE, number), message.name)
    for number, enum in enumerate(file.enum_type):
        yield from values(enum, (_ENUM, number), enum.name)


def _type(field: FieldDescriptorProto) -> str:
    if field.type_name.endswith("Entry") and field.label == FieldDescriptorProto.LABEL_REPEATED:
        return "map"  # a message that the compiler makes
    named = _link(field.type_name) if field.type_name else FieldDescriptorProto.Type.Name(field.type)[5:].lower()
    return f"repeated {named}" if field.label == FieldDescriptorProto.LABEL_REPEATED else named


def _link(name: str) -> str:
    """Return a type's name; those of this page lead to it."""
    package, _, short = name.removeprefix(".").partition("referee.v1.")
    if package or not short:
        return f"`{name.removeprefix('.')}`"
    return f"[{short}](#{re.sub(r'[^a-z0-9_]', '', short.lower())})"


def _prose(comment: str) -> str:
    return "\n".join(line.removeprefix(" ") for line in comment.strip("\n").split("\n")).strip()


def _cell(comment: str) -> str:
    return " ".join(comment.split()).replace("|", "\\|")
