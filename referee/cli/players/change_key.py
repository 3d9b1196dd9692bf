"""``referee change-key``: a seat goes on with another key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.players.seat_acts import SeatWords, command
from referee.cli.shared.arguments import new_private_key, public_key
from referee.log.v1 import log_pb2


def _change_key(
    new_key: Annotated[
        str,
        typer.Option(
            metavar="KEY",
            help="The seat's new key: a file with a private or public key, or the public key in hex.",
            show_default=False,
        ),
    ],
    new: Annotated[
        bool, typer.Option("--new", help="Create the file of --new-key with a new key, readable only by you.")
    ] = False,
) -> log_pb2.ChangeKey:
    """Play on with another key, as a seat; --key is the one until now.

    The new key counts from the first act that it signs: sign the next move with it, and the old key ends. Until then
    you can go on with either. If the old key is lost, ask an arbiter (`referee rule change-key`). No key is changed
    before play: the seat's share of the deck follows from the key with which it joined.

    Exit codes: 0 entered; 1 not allowed now, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee change-key @join.txt --key seat.pem --new-key new.pem --new`
    """
    if new:
        new_private_key(Path(new_key), instead="the name of a new file, or no --new to use this one")
    return log_pb2.ChangeKey(key=public_key(f"--new-key {new_key}", new_key))


change_key = command(SeatWords, _change_key, anywhere=True)
