"""The names of the files in a referee's directory; commands use them without loading the referee."""

from __future__ import annotations

KEY_FILE = "referee.pem"
VERIFIER_FILE = "referee.vkey"
LOG_KEY_FILE = "log.pem"
LOG_VERIFIER_FILE = "log.vkey"
"""Of the public log, which has a key of its own."""
TOKEN_FILE = "organiser.token"  # noqa: S105 - a name
STORE_FILE = "referee.db"
STORE_ADDRESS_FILE = "store"
"""Of a directory whose games are not in ``STORE_FILE``: the address of their database."""
CLUSTER_MARK_FILE = "cluster.mark"
"""Of one of several referees: its last sign of life in the database."""
LOCK_FILE = "lock"
ALIVE_FILE = "alive"
BACKUP_FILE = "backup"
"""Its time is that of the newest copy that ``referee backup`` made."""
ADDRESS_FILE = "address"

DEFAULT_ORIGIN = "referee.local"
"""The name that a referee signs under if it is given no other."""
