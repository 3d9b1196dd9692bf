"""The names of the files in a referee's directory, and the form of a database's address. Loads no other module."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

KEY_FILE = "referee.pem"
VERIFIER_FILE = "referee.vkey"
LOG_KEY_FILE = "log.pem"
LOG_VERIFIER_FILE = "log.vkey"
"""The file of the public log's verifier: the log has a key of its own."""
TOKEN_FILE = "organiser.token"  # noqa: S105 - a name
STORE_FILE = "referee.db"
STORE_ADDRESS_FILE = "store"
"""The file with the database's address, in a directory whose games are not in ``STORE_FILE``."""
CLUSTER_MARK_FILE = "cluster.mark"
"""The file of a cluster's referee with its last sign of life in the database."""
LOCK_FILE = "lock"
ALIVE_FILE = "alive"
BACKUP_FILE = "backup"
"""Its time is that of the newest copy that ``referee backup`` made."""
ADDRESS_FILE = "address"

DEFAULT_ORIGIN = "referee.local"
"""The name that a referee signs under if it is given no other."""


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
        what = "a password is in it, which every user of this machine could read"
        raise ValueError(f"{what}; expected it in ~/.pgpass, or in the file that PGPASSFILE or PGSERVICEFILE names")
    if (
        parts.scheme not in _SCHEMES
        or not text.isascii()
        or any(character.isspace() or character == "#" for character in text)
    ):
        raise ValueError(f"not an address of PostgreSQL; {_EXPECTED}")
