"""Pages of reference that are made from their sources: the commands from their help, the API from its protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import typer
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from hatch_build import PROTO, compile_protos
from referee.cli import PANELS, application

_COMMANDS: Final = """\
# Commands and options

Made from the help of each command by `make docs`. `referee COMMAND --help` says the same in a terminal. Options of
`serve` and `web` can stand in a file and in the environment, too ([how](../operate/reference.md#options)).

Your shell can complete commands and options: `referee --install-completion` sets that up for the shell that you run it
in. In a checkout `make man` writes all of this as manual pages into `build/man`.
"""
_API: Final = """\
# The API

Made from the comments of the protocol (`proto/referee/v1`) by `make docs`. Messages that are signed, those of the log
and of the games, are described in [log-format.md](../log-format.md). A client in another language begins with
[other-languages.md](../other-languages.md).
"""
_SERVICE, _METHOD, _MESSAGE, _FIELD, _ENUM, _NESTED, _VALUE = 6, 2, 4, 2, 5, 3, 2
"""Numbers of fields in paths of ``SourceCodeInfo.Location`` (descriptor.proto)."""


def commands_page() -> str:
    """Return every command with its options as Markdown."""
    group = typer.main.get_command(application())
    lines = [_COMMANDS]
    for panel, commands in PANELS.items():
        lines += [f"## {panel}", ""]
        for name in commands:
            lines += _command(f"referee {name}", group.commands[name], 3)  # type: ignore[attr-defined]
    return "\n".join(lines)


def _command(words: str, command: Any, depth: int) -> Iterator[str]:
    yield from (f"{'#' * depth} {words}", "", paragraphs_of(command.help or ""), "")
    inner = getattr(command, "commands", {})
    arguments, options = parameters_of(command)
    if arguments or (options and not inner):
        usage = [words, *(argument_of(each) for each in arguments), *(["[OPTIONS]"] if options else [])]
        yield from (f"    {' '.join(usage)}", "")
    if arguments or options:
        yield from ("| option | meaning |", "|---|---|")
        yield from (f"| {names_of(each)} | {meaning_of(each)} |" for each in (*arguments, *options))
        yield ""
    for name, each in inner.items():
        yield from _command(f"{words} {name}", each, depth + 1)


def parameters_of(command: Any) -> tuple[list[Any], list[Any]]:
    """Return a command's arguments and its options, as far as the help shows them."""
    shown = [each for each in command.params if not getattr(each, "hidden", False) and each.name != "help"]
    arguments = [each for each in shown if not each.opts[0].startswith("-")]
    return arguments, [each for each in shown if each.opts[0].startswith("-")]


def paragraphs_of(text: str) -> str:
    """Return a help text as Markdown; a block for terminals begins with a backspace there."""
    return text.replace("\b\n", "").strip()


def argument_of(argument: Any) -> str:
    """Return an argument as the first line of a help shows it."""
    name = argument.metavar or argument.name.upper()
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def names_of(parameter: Any) -> str:
    """Return the names of an option, or the word that stands for an argument, as a cell of a table in Markdown."""
    if not parameter.opts[0].startswith("-"):
        return f"`{parameter.metavar or parameter.name.upper()}`".replace("|", "\\|")
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    metavar = "" if getattr(parameter, "is_flag", False) else parameter.metavar or ""
    return (f"{names} {metavar}").strip().replace("|", "\\|")


def meaning_of(parameter: Any) -> str:
    """Return an option's help and default as a cell of a table in Markdown."""
    text = " ".join((parameter.help or "").split())
    default = parameter.default
    if parameter.show_default and default not in (None, (), [], "", False) and not callable(default):
        told = default.value if isinstance(default, Enum) else default
        told = ", ".join(map(str, told)) if isinstance(told, Sequence) and not isinstance(told, str) else told
        text += f" Default: `{parameter.show_default if isinstance(parameter.show_default, str) else told}`."
    if parameter.required:
        text += " Required."
    return text.replace("|", "\\|").strip()


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
