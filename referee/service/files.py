"""The names of the files in a referee's directory; commands use them without loading the referee."""

from __future__ import annotations

KEY_FILE = "referee.pem"
VERIFIER_FILE = "referee.vkey"
TOKEN_FILE = "organiser.token"  # noqa: S105 - a name
STORE_FILE = "referee.db"
STORE_ADDRESS_FILE = "store"
"""Of a directory whose games are not in ``STORE_FILE``: the address of their database."""
LOCK_FILE = "lock"
ALIVE_FILE = "alive"
ADDRESS_FILE = "address"

DEFAULT_ORIGIN = "referee.local"
"""The name that a referee signs under if it is given no other."""
