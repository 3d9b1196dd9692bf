"""Where ``referee bot`` keeps the keys of its seats: in the user's own folder, a file for each seat."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from referee.cli.shared.failure import Failure
from referee_clients.join import Join
from referee_clients.sdk.channel import TLS_SCHEME

NoLogCopy = Annotated[
    bool,
    typer.Option(
        "--no-log-copy",
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
