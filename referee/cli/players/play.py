"""``referee play``: a person takes a seat and plays it at the terminal."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee import console
from referee.cli.players.seat_files import NoLogCopy, join_of, key_file
from referee.cli.shared.arguments import verifier_key
from referee.cli.shared.commands import OR_HYPHEN
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.cli.shared.remote import Transport
from referee_clients.sdk.errors import ClientError, Distrust
from referee_clients.terminal.seat.screen import SeatApp
from referee_clients.terminal.seat.seat import SeatKeys

EXIT_DISTRUST = 4


def play(
    join: Annotated[
        str,
        Parameter(
            name="JOIN",
            env_var="REFEREE_JOIN",
            help="The join string that you got: address/game/seat#token. '@FILE' reads it from a file, which keeps "
            "the token out of the process list.",
            show_default=False,
        ),
        OR_HYPHEN,
    ],
    /,
    *,
    key: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Keep the seat's private key in this file (created with mode 0600 if missing).",
            show_default="a file of its own for each seat, in your data directory",
        ),
    ] = None,
    verifier: Annotated[
        str | None,
        Parameter(
            metavar="VKEY",
            help="The referee's verifier key, a .vkey file or its text, to check what the referee signs.",
            show_default=False,
        ),
    ] = None,
    no_log_copy: NoLogCopy = False,
    transport: Transport = Transport(),
) -> None:
    """Take a seat and play it by hand, at this terminal.

    You see the boards, the clocks and who is awaited. You type a move, or choose one with F3. The program checks it by
    the rules and says what it does; the second Enter signs and sends it. A move against the rules is explained, and
    never sent. F1 shows what you can enter. F7 lists what you can do beside the moves: resign, take back, protest,
    appeal, change your key. F9 calls an arbiter.

    The seat's key is saved before the seat is taken, and the command says where. Leave with Ctrl+Q and start the same
    command again to resume the game, days later too. Beside the key is your copy of the game.

    Exit codes:

    - 0 you left
    - 1 the referee does not admit this seat or this key, or the key's file cannot be used
    - 2 wrong usage: not a join string, or no terminal
    - 4 the referee's log contradicts its signatures, the rules or itself

    Examples: `referee play @blue.join --verifier club.vkey`, `referee play @blue.join --key blue.pem`
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("you cannot play by hand without a terminal; expected one, or `referee bot`", EXIT_USAGE)
    seat = join_of("JOIN", join)
    vkey = verifier_key("--verifier", verifier) if verifier is not None else None
    secured = transport.security(seat.address, seat.token)
    path = key or key_file(seat)
    try:
        keys = SeatKeys(path)
    except ClientError as error:
        raise Failure(str(error)) from None
    print(f"the key of player {seat.seat + 1} is kept in {path}", file=sys.stderr)
    ascii_only = not console.has_lines()
    app = SeatApp(seat, keys, verifier=vkey, security=secured, log_copy=not no_log_copy, ascii_only=ascii_only)
    if (ended := asyncio.run(app.run_async())) is not None:
        raise Failure(str(ended), EXIT_DISTRUST if isinstance(ended, Distrust) else EXIT_FAILED)
