"""Addresses of databases, as the command line takes them and the directory keeps them. Knows no database."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

_SCHEMES = ("postgresql", "postgres")
_EXPECTED = "expected postgresql://USER@HOST/DATABASE"


def check_address(text: str) -> None:
    """Raise ``ValueError`` unless it is the address of a database, without a password; the error does not repeat it."""
    try:
        parts = urlsplit(text)
        # PostgreSQL's library looks for the first @, whatever comes before it; the standard one stops at / ? and #.
        user, at, _ = text.partition("://")[2].partition("@")
        has_password = bool(at and ":" in user) or any("password" in name for name in parse_qs(parts.query))
    except ValueError:
        raise ValueError(f"not an address; {_EXPECTED}") from None
    if has_password:
        what = "a password is in it, which everybody on this machine could read"
        raise ValueError(f"{what}; expected it in ~/.pgpass, or in the file that PGPASSFILE or PGSERVICEFILE names")
    if (
        parts.scheme not in _SCHEMES
        or not text.isascii()
        or any(character.isspace() or character == "#" for character in text)
    ):
        raise ValueError(f"not an address of PostgreSQL; {_EXPECTED}")
