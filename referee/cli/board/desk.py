"""``referee desk``: the entry of a game at a physical table while it is played."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import structlog
from cyclopts import Parameter

from referee import console
from referee.cli.shared import components
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import Transport, token_of
from referee.server.service import logs
from referee.server.service.data import DataError, origin_of
from referee.server.service.server import Config, ListenError, Server
from referee_clients.sdk.channel import Security
from referee_clients.terminal.desk.app import DeskApp
from referee_clients.terminal.desk.folder import Folder, FolderError, Place

_LOG = "referee.log"


def desk(
    *,
    folder: Annotated[
        Path,
        Parameter(
            metavar="DIR",
            help="Folder for the scribe's key, the names, the game files and the desk's own referee; "
            "created if missing.",
        ),
    ] = Path("desk"),
    server: Annotated[
        str | None,
        Parameter(
            metavar="ADDRESS",
            help="Enter games at this referee; grpcs://HOST:PORT for TLS. By default the desk runs "
            "its own referee, for this machine only, and stops it when you leave.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="With --server: the organiser's token, which opens games.",
            show_default=False,
        ),
    ] = None,
    origin: Annotated[
        str | None,
        Parameter(
            metavar="NAME",
            help="The name under which the desk's own referee signs. A new folder takes it (by "
            "default referee.local) and keeps it for ever.",
            show_default=False,
        ),
    ] = None,
    arbiter_key: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="The arbiter's private key, for rulings; by default arbiter.pem in DIR, which a new game makes.",
            show_default=False,
        ),
    ] = None,
    transport: Transport = Transport(),
) -> None:
    """Run a desk for the scribe of a game at a physical table, who types every draw and move as it happens.

    Type moves in the notation of docs/notation.md, one per line; the desk helps and completes. It judges each by the
    rules and signs it; when it shows a line as accepted, the line is on disk. A desk that is started again on its
    folder continues where it stopped. docs/desk.md is the guide for scribes.

    Exit codes: 0 left with Ctrl+Q; 1 the folder or the referee cannot be used; 2 wrong usage.

    Examples: `referee desk --folder club-night`, `referee desk --server 192.0.2.7:50051 --token-file club.token`
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure(
            "the desk needs a terminal; expected one, or `referee record` for the text of a game",
            EXIT_USAGE,
        )
    if server is None and (token_file or transport.tls_cert):
        raise Failure("--token-file and --tls-cert are for another referee; expected --server with them", EXIT_USAGE)
    if server is not None and origin is not None:
        raise Failure("--origin: the referee at --server already has a name; expected no --origin", EXIT_USAGE)
    try:
        files = Folder(folder, arbiter_key)
        if server is None:
            asyncio.run(_with_own_referee(files, origin))
        else:
            token = token_of(token_file) if token_file is not None else ""
            secured = transport.security(server, token)
            asyncio.run(_run(files, Place(server, token, secured, server)))
    except (FolderError, DataError, ListenError) as error:
        raise Failure(str(error)) from None
    except PermissionError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None


async def _with_own_referee(files: Folder, origin: str | None) -> None:
    """Run the desk with a referee in this process, which never outlives it; its reports to the operator go to a
    file."""
    with (files.path / _LOG).open("a", encoding="utf-8") as log:
        logs.configure("json", "warning", log)
        data = files.referee
        server = await Server.start(Config(data, origin=origin_of(data, origin), solver_workers=0))
        try:
            token = server.data.token_path.read_text(encoding="ascii").strip()
            await _run(files, Place(server.address, token, Security()))
        finally:
            await server.stop()
            structlog.reset_defaults()


async def _run(files: Folder, place: Place) -> None:
    await DeskApp(files, place, _components, ascii_only=not console.has_lines()).run_async()


def _components(rules_id: str, path: Path) -> bytes:
    try:
        return components.components(rules_id, path, str(path))
    except Failure as failure:
        raise ValueError(str(failure)) from None
