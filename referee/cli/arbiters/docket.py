"""``referee docket``: how the table of a game stands."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared import output
from referee.cli.shared.arguments import verifier_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import DATA, DataForAddress, ServerOfData, Transport, server_of
from referee.cli.shared.remote_games import whole_id
from referee.cli.shared.table import called
from referee.log.audit import audit
from referee.log.errors import LogError
from referee.log.verdict import Finding, Policy, Verdict
from referee.telling.docket import docket_message
from referee.telling.game_file import GameFile
from referee.v1 import arbiter_service_pb2 as pb
from referee_clients.sdk.arbiter import arbiter
from referee_clients.status import docket_lines

_FINE = (Verdict.COMPLETE, Verdict.PREFIX)


def docket(
    game: Annotated[
        str,
        Parameter(
            name="GAME|FILE", help="The game's id or its first 8 or more digits, or a game file.", show_default=False
        ),
    ],
    /,
    *,
    server: ServerOfData = None,
    data: DataForAddress = DATA,
    key: Annotated[
        str | None, Parameter(metavar="VKEY", help="With a FILE: audit it with the referee's verifier key.")
    ] = None,
    transport: Transport = Transport(),
) -> None:
    """Show the state of a game's table: who has forfeited, strikes, protests, rulings, and what the game waits for.

    For a running game the command asks the referee, which needs no token. A game file is read and replayed offline,
    with the signatures of seats and arbiters; with --key it is also audited, as by `referee audit`.

    Exit codes: 0 shown; 1 the referee cannot be reached or does not have the game; 2 wrong usage; for a file those of
    `referee audit`, but 0 also if the game is not over.

    Examples: `referee docket 0197a1cb1db4c9da428632ae52ec26d7`, `referee docket final.gamelog --key referee.vkey`
    """
    path = Path(game)
    if path.is_file() or path.suffix:
        found, checked = _of_file(path, key)
        output.write("".join(f"{line}\n" for line in (*checked, *docket_lines(found))))
        return
    if key is not None:
        raise Failure(
            "--key is only for files: a running game cannot be audited; expected a game file, or no --key", EXIT_USAGE
        )
    server = server_of(server, data)
    secured = transport.security(server)
    game = whole_id(server, secured, game)

    async def ask() -> pb.Docket:
        async with arbiter(server, game, security=secured) as calls:
            return await calls.docket()

    output.write("".join(f"{line}\n" for line in docket_lines(called(server, ask))))


def _of_file(path: Path, key: str | None) -> tuple[pb.Docket, list[str]]:
    """And what an audit says, with a key. Raise ``Failure``."""
    verifier = None if key is None else verifier_key("--key", key)
    try:
        data = path.read_bytes()
        game_file = GameFile.read(BytesIO(data))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{path}: {error}", int(Finding.of(error).verdict)) from None
    checked = []
    if verifier is not None:
        report = audit(BytesIO(data), Policy(verifier))
        if report.verdict not in _FINE:
            raise Failure(f"{path}: {report.verdict.name}: {report.decisive}", report.exit_code)
        checked.append(f"audit: {report.verdict.name}")
    return docket_message(game_file.record, game_file.texts), checked
