"""Files of a seat: its join string, and the key that ``referee bot`` and ``play`` keep for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee_clients.join import Join, JoinError, parse_join
from referee_clients.sdk.channel import TLS_SCHEME


def join_of(word: str, text: str) -> Join:
    """Return the join string; ``-`` reads it from standard input, ``@FILE`` from a file. Raise ``Failure``.

    ``word``: what names it in an error, such as ``--join``; the string itself is never shown.
    """
    try:
        if text == "-":
            text = sys.stdin.readline()
        elif text.startswith("@"):
            text = _only_line(word, Path(text[1:]))
        return parse_join(text)
    except JoinError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    except OSError as error:
        raise Failure(f"{word} {text}: {error.strerror}", EXIT_USAGE) from error
    except UnicodeDecodeError as error:
        raise Failure(f"{word} {text}: {error}", EXIT_USAGE) from error


def _only_line(word: str, file: Path) -> str:
    """Return the only line: what ``referee new --out`` writes has one for every seat."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) > 1:
        raise JoinError(f"{word} @{file}: the file has {len(lines)} lines; expected one join string")
    return lines[0] if lines else ""


NoLogCopy = Annotated[
    bool,
    Parameter(
        name="--no-log-copy",
        help="Keep no file of a game that is over; by default the newest 200 are beside the key, as GAME.gamelog.",
    ),
]


def folder() -> Path:
    """Return the folder, by the XDG Base Directory Specification: relative paths in its variable do not count."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "tile-referee" / "keys"


def key_file(join: Join) -> Path:
    """Return the file of a seat's key, in a folder that only its owner can read. Raise ``Failure``."""
    server = quote(join.address.removeprefix(TLS_SCHEME), safe=":[]")
    keys = folder()
    try:
        keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{keys}: {error.strerror}; expected --key FILE, or --no-keep") from None
    return keys / f"{server}-{join.game_id}-{join.seat}.pem"
