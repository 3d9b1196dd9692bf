"""The join string among a command's words: itself, or where it is to be read from."""

from __future__ import annotations

import sys
from pathlib import Path

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee_clients.join import Join, JoinError, parse_join


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
