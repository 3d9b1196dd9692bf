"""Write the manual pages of all commands, from the help that docs/reference/commands.md is made from: ``make man``."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import referee as program
from referee.cli import PANELS
from tests.docs.reference import Command, argument_of, meaning_of, names_of, the_command
from tests.sizes import day

MAN: Final = Path(__file__).parent.parent / "build" / "man"
_SECTION: Final = 1


def pages() -> dict[str, str]:
    """Return each page by the name of its file: one of the program, and one of each command."""
    group = the_command()
    found = {"referee": "\n".join(_overview(group))}
    for commands in PANELS.values():
        for name in commands:
            found[f"referee-{name}"] = "\n".join(_page(f"referee {name}", group.commands[name]))
    return {f"{name}.{_SECTION}": text + "\n" for name, text in found.items()}


def _overview(group: Command) -> Iterator[str]:
    yield from _head("referee", group.help)
    yield from (".SH SYNOPSIS", r"\fBreferee\fR \fICOMMAND\fR [\fIOPTIONS\fR]", ".SH DESCRIPTION", *_text(group.help))
    for panel, commands in PANELS.items():
        yield f".SH {_escaped(panel.upper())}"
        for name in commands:
            yield from (".TP", f".BR referee\\-{_escaped(name)} ({_SECTION})")
            yield _escaped(_first(group.commands[name].help))


def _page(words: str, command: Command) -> Iterator[str]:
    yield from _head(words.replace(" ", "-"), command.help)
    inner = command.commands
    yield ".SH SYNOPSIS"
    yield from (
        _synopsis(words, command) if not inner else [f"\\fB{_escaped(words)}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]"]
    )
    yield from (".SH DESCRIPTION", *_text(command.help))
    yield from _options(command, ".SH OPTIONS")
    if inner:
        yield ".SH COMMANDS"
        for name, each in inner.items():
            yield from (f".SS {_escaped(name)}", *_synopsis(f"{words} {name}", each), ".PP", *_text(each.help))
            yield from _options(each)
    yield from (".SH SEE ALSO", f".BR referee ({_SECTION})")


def _head(name: str, text: str) -> Iterator[str]:
    yield f'.TH "{name.upper()}" "{_SECTION}" "{day()}" "tile\\-referee {_escaped(program.__version__)}" "Tile Referee"'
    yield from (".ad l", ".SH NAME", f"{_escaped(name)} \\- {_escaped(_first(text).rstrip('.'))}")


def _synopsis(words: str, command: Command) -> Iterator[str]:
    arguments = [f"\\fI{_escaped(argument_of(each))}\\fR" for each in command.arguments]
    parts = [f"\\fB{_escaped(words)}\\fR", *arguments, *(["[\\fIOPTIONS\\fR]"] if command.options else [])]
    yield " ".join(parts)


def _options(command: Command, title: str = "") -> Iterator[str]:
    if title and command.words:
        yield title
    for each in (*command.arguments, *command.options):
        names = names_of(each).replace("\\|", "|")
        yield from (".TP", _marked(names), _marked(meaning_of(each).replace("\\|", "|")) or r"\&")


def _text(text: str) -> Iterator[str]:
    """Yield paragraphs and lists of a help text."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text)):
        items = re.split(r"^\s*[-*] ", paragraph, flags=re.MULTILINE)
        if number and items[0].strip():
            yield ".PP"
        if items[0].strip():
            yield _marked(" ".join(items[0].split()))
        for item in items[1:]:
            yield from ('.IP "\\(bu" 2', _marked(" ".join(item.split())))


def _first(text: str) -> str:
    """Return a help text's first sentence, without the marks of Markdown."""
    return re.split(r"(?<=\.)\s", " ".join(text.split()))[0].replace("`", "").replace("*", "")


def _marked(text: str) -> str:
    """Return a line of Markdown as one of a manual page: what is code there is bold."""
    parts = re.split(r"`([^`]*)`", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text.replace("**", "")))
    return _begun("".join(f"\\fB{_inner(part)}\\fR" if at % 2 else _inner(part) for at, part in enumerate(parts)))


def _escaped(text: str) -> str:
    return _begun(_inner(text))


def _inner(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


def _begun(line: str) -> str:
    """Return a line that does not begin as a request does."""
    return f"\\&{line}" if line.startswith((".", "'")) else line


def main() -> None:
    """Write them."""
    shutil.rmtree(MAN, ignore_errors=True)
    MAN.mkdir(parents=True)
    made = pages()
    for name, text in made.items():
        (MAN / name).write_text(text, encoding="utf-8")
    print(f"wrote {len(made)} pages into {MAN.relative_to(MAN.parent.parent)}")


if __name__ == "__main__":
    main()
