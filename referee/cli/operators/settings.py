"""The settings of ``serve`` and ``web`` beside their options: from a file, and from the environment.

An option counts before the environment, that before the file, and the file before the default. Lists do not merge.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

from cyclopts import ArgumentCollection, Parameter, Token

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.console import printable

COMMANDS: Final = ("serve", "web")
FILE_VARIABLE: Final = "REFEREE_CONFIG"
_MOST_BYTES: Final = 65_536
_SOURCES: Final[Mapping[str, str]] = {"cli": "option", "env": "environment"}
_NO_SETTINGS: Final = frozenset({"--config", "--show-config", "--hashes"})
"""Options that are none of the settings."""
_OTHERS: Final = frozenset(
    "REFEREE_" + name
    for name in ("CONFIG", "GATEWAY_TOKEN", "INSECURE", "JOIN", "PROTO", "SERVER", "TLS_CA", "TLS_CERT", "TLS_KEY")
)
"""Variables with a meaning of their own."""
_SAID: Final[Mapping[type, str]] = {bool: "true or false", int: "a whole number", float: "a number"}


class _Setting(NamedTuple):
    """An option that is a setting."""

    kind: type
    """The type of one value: ``bool``, ``int``, ``float``, ``Path`` or ``str``, or an enumeration of texts."""
    is_list: bool

    def of_file(self, value: Any, where: str, folder: Path) -> Any:
        """Return the value that a file has, whose paths are relative to this folder. Raise ``Failure``."""
        values = value if self.is_list and isinstance(value, list) else [value]
        if isinstance(value, list) != self.is_list or not all(map(self._is_right, values)):
            what = f"a list, each of it {self._said}" if self.is_list else self._said
            raise Failure(f"{where}: expected {what}", EXIT_USAGE)
        if self.kind is Path:
            values = [str(folder / each) for each in values]
        return values if self.is_list else values[0]

    def of_environment(self, text: str, variable: str) -> Any:
        """Return the value that a variable has; a list is separated by spaces. Raise ``Failure``."""
        if self.is_list:
            return text.split()
        try:
            value = _READ.get(self.kind, str)(text)
        except ValueError:
            value = None
        if value is None or not self._is_right(value):
            raise Failure(f"{variable}: expected {self._said}", EXIT_USAGE)
        return value

    @property
    def _said(self) -> str:
        if issubclass(self.kind, StrEnum):
            return f"one of {', '.join(self.kind)}"
        return _SAID.get(self.kind, "a text")

    def _is_right(self, value: Any) -> bool:
        kinds = {bool: (bool,), int: (int,), float: (int, float)}.get(self.kind, (str,))
        # In Python true is a number, too.
        is_right = isinstance(value, kinds) and isinstance(value, bool) == (self.kind is bool)
        return is_right and (not issubclass(self.kind, StrEnum) or value in [*self.kind])


def _truth(text: str) -> bool | None:
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text.lower())


_READ: Final[Mapping[type, Callable[[str], Any]]] = {bool: _truth, int: int, float: float}


def take(command: str, given: ArgumentCollection) -> None:
    """Give the options that are not on the command line what the environment says, or else the file.

    Raise ``Failure``.
    """
    settings = _settings(given)
    by_name = {each.name: each for each in given}
    path = next((Path(token.value) for token in by_name["--config"].tokens), None)
    if path is None and (named := os.environ.get(FILE_VARIABLE)):
        path = Path(named)
    found = _of_environment(command, settings)
    if path is not None:
        found = {**_of_file(command, path, settings), **found}
    for word, (value, source) in found.items():
        option = by_name[f"--{word}"]
        if not option.has_tokens:
            for each in value if isinstance(value, list) else [value]:
                given_as = {"implicit_value": each} if isinstance(each, bool) else {"value": str(each)}
                option.append(Token(keyword=option.name, source=source, **given_as))


@Parameter(name="*", group="Settings")
@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """The options about the other options."""

    config: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Take options from this TOML file, with names as here without the dashes, in a table of the command's "
            f"name; paths are relative to the file. By default the one that {FILE_VARIABLE} names. Options that are "
            "given count before it, and so do variables such as REFEREE_SERVE_LISTEN.",
            show_default=False,
        ),
    ] = None
    show_config: Annotated[
        bool, Parameter(help="Print what every option is and where from, as a file for --config, and end.")
    ] = False


def show(command: str, given: ArgumentCollection) -> str:
    """Return every setting of the command as the text of a file, with a comment that says where it is from."""
    lines = [f"[{command}]"]
    for option in given:
        if (word := option.name.removeprefix("--")) not in _settings(given):
            continue
        value = option.value if option.has_tokens else option.field_info.default
        source = next((_SOURCES.get(token.source, token.source) for token in option.tokens), "default")
        if value is None or value in ([], ()):
            lines.append(f"# {word} is not set")
        else:
            lines.append(f"{word} = {_toml(value)}  # {source}")
    return "\n".join(lines)


def _settings(given: ArgumentCollection) -> dict[str, _Setting]:
    """Return the settings of a command, by the names that files have for them."""
    found = dict[str, _Setting]()
    for option in given:
        if not option.parse or option.children or option.name in _NO_SETTINGS:
            continue
        kind = option.hint
        if get_origin(kind) in {Union, UnionType}:
            kind = next(each for each in get_args(kind) if each is not type(None))
        is_list = get_origin(kind) is list
        found[option.name.removeprefix("--")] = _Setting(get_args(kind)[0] if is_list else kind, is_list)
    return found


def _of_file(command: str, path: Path, settings: Mapping[str, _Setting]) -> dict[str, tuple[Any, str]]:
    """Return what a file says to this command, and its name, by setting. Raise ``Failure``."""
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Failure(f"--config {path}: not TOML: {error}", EXIT_USAGE) from None
    for table, values in document.items():
        if table not in COMMANDS or not isinstance(values, dict):
            what = f"{table!r}; expected the tables {' and '.join(f'[{each}]' for each in COMMANDS)}"
            raise Failure(f"--config {path}, line {_line(text, table)}: {what}", EXIT_USAGE)
    found = dict[str, tuple[Any, str]]()
    for key, value in document.get(command, {}).items():
        where = f"--config {path}, line {_line(text, key)}: {key}"
        if (setting := settings.get(key)) is None:
            raise Failure(f"{where} is no option of referee {command}; see its --help", EXIT_USAGE)
        found[key] = setting.of_file(value, where, path.parent), printable(str(path))
    return found


def _read(path: Path) -> str:
    """Return the text of a file that its group and other users cannot change. Raise ``Failure``."""
    try:
        # A pipe is not waited for.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - a descriptor
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Failure(f"--config {path}: expected a file", EXIT_USAGE)
            if found.st_mode & 0o022:
                what = f"others can change it (mode {stat.S_IMODE(found.st_mode):04o})"
                raise Failure(f"--config {path}: {what}; expected: chmod go-w {shlex.quote(str(path))}", EXIT_USAGE)
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise Failure(f"--config {path}: {error.strerror}", EXIT_USAGE) from None
    if len(data) > _MOST_BYTES:
        raise Failure(f"--config {path}: expected at most {_MOST_BYTES} bytes", EXIT_USAGE)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Failure(f"--config {path}: not UTF-8", EXIT_USAGE) from None


def _of_environment(command: str, settings: Mapping[str, _Setting]) -> dict[str, tuple[Any, str]]:
    """Return what the environment says to this command, by setting; warn of variables without a meaning."""
    prefix = f"REFEREE_{command.upper()}_"
    named = {prefix + word.replace("-", "_").upper(): word for word in settings}
    others = ("REFEREE_TESTS_", *(f"REFEREE_{each.upper()}_" for each in COMMANDS if each != command))
    found = dict[str, tuple[Any, str]]()
    for variable, value in sorted(os.environ.items()):
        if (word := named.get(variable)) is not None:
            if value:
                found[word] = settings[word].of_environment(value, variable), "environment"
        elif variable.startswith("REFEREE_") and variable not in _OTHERS and not variable.startswith(others):
            print(f"warning: {variable} means nothing here; see referee {command} --help", file=sys.stderr)
    return found


def _line(text: str, key: str) -> int:
    """Return the first line that sets the key, or begins the table; 1 if it is written in another way."""
    begins = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*[\].=]")
    return next((number for number, line in enumerate(text.splitlines(), 1) if begins.match(line)), 1)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
