"""``python -m tests.attacks.sandbox``: audits every forgery in a process that may do nothing but compute.

A process of its own, as a hook once added stays for ever.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.attacks import removal
from tests.attacks.corpus import game

FORBIDDEN = (
    *("open", "os.", "socket.", "subprocess.", "shutil.", "urllib.", "http.", "ftplib.", "sqlite3."),
    *("exec", "compile", "marshal.loads", "pickle.find_class", "import", "ctypes.dlopen"),
)


def forbid(event: str, arguments: tuple[Any, ...]) -> None:
    """Python calls it before each such thing is done."""
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"{event} {arguments!r:.200}")


def main() -> int:
    forgeries = removal.forgeries()  # everything that is needed is imported by now
    for table in {table for table, _, _ in forgeries.values()}:
        game(table).audit()  # what is computed once, such as the names of a game's options, is there by now
    sys.addaudithook(forbid)
    for table, forgery, _ in forgeries.values():
        forgery.audit(game(table)).as_text()
    try:
        Path(__file__).read_bytes()
    except PermissionError:
        sys.stdout.write(f"{len(forgeries)} files, and nothing was asked for\n")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
