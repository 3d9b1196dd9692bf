"""The characters that a terminal can show, and those that it must not get."""

from __future__ import annotations

import sys
from io import TextIOWrapper


def accept_every_character() -> None:
    """Print a question mark for characters that a terminal, or a file in another encoding, cannot show, instead of
    failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def has_lines() -> bool:
    """Return whether standard output can show lines for boxes."""
    try:
        "┏╃≈".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def printable(text: str) -> str:
    """Return the text with escapes for whatever is not printable: words of a file must not steer who reads a report."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
