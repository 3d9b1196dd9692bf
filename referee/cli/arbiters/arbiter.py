"""``referee arbiter``: the arbiter's console."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared.arguments import private_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import DEFAULT_SERVER, Server, Transport, token_of
from referee_clients.terminal.console.cases import Post
from referee_clients.terminal.console.screen import ConsoleApp


def arbiter(
    *,
    key: Annotated[Path, Parameter(metavar="FILE", help="The arbiter's private key.", show_default=False)],
    token_file: Annotated[
        list[Path] | None,
        Parameter(
            metavar="FILE",
            help="A file with a token: of one game, as `referee new` prints it, or of all games of the referee, from "
            "`referee token issue NAME --scope arbiter`. Repeatable.",
            show_default=False,
        ),
    ] = None,
    server: Server = DEFAULT_SERVER,
    transport: Transport = Transport(),
) -> None:
    """Watch every game that an arbiter may rule on, and rule with three keys: select, kind of ruling, confirm.

    The console lists the open games that have the arbiter's key, those with calls and open protests first. It shows
    the docket, the clocks and the entries of the selected game. F1 lists the keys. Its rulings are the ones of
    `referee rule`.

    Exit codes: 0 left with Ctrl+Q; 1 the key or a token cannot be used; 2 wrong usage.

    Example: `referee arbiter --key arbiter.pem --token-file ada.token`
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("the console needs a terminal; expected one, or `referee docket` and `referee rule`", EXIT_USAGE)
    private = private_key("--key", key)
    tokens = [token_of(path) for path in token_file or []]
    if not tokens and transport.tls_cert is None:
        raise Failure("no token; expected --token-file FILE, with a token for arbiters", EXIT_USAGE)
    secured = transport.security(server, tokens[0] if tokens else "")
    asyncio.run(ConsoleApp(Post(server, tokens or [""], private, secured)).run_async())
