"""``referee log recover``: the contents of a public log, put back into a database that has lost them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared.failure import Failure
from referee.cli.shared.log_policy import log_policy
from referee.log.errors import LogError
from referee.log.public.sources import Folder, open_source
from referee.server.publishing.recovery import CannotRecover, Recovered, recover
from referee.server.service import logs
from referee.server.service.data import DataError, no_upgrade, open_data, origin_of
from referee.server.service.files import STORE_ADDRESS_FILE, STORE_FILE
from referee.server.service.public_log import log_signer
from referee.server.store.store import StoreFailed


def recover_(
    *,
    folder: Annotated[Path, Parameter(name="--log", metavar="FOLDER", help="As `referee serve` takes it.")],
    data: Annotated[Path, Parameter(metavar="DIR", help="The referee's data directory.")] = Path("referee-data"),
    copy: Annotated[
        str | None,
        Parameter(
            name="--from",
            metavar="PLACE",
            help="Read the log here, another folder or an address: for example a copy that a monitor kept.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        Parameter(
            name="--log-policy",
            metavar="FILE",
            help="Take only a log that this policy's witnesses signed.",
            show_default=False,
        ),
    ] = None,
    marks: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
) -> None:
    """Bring back what the public log knows and a stopped referee's database has lost.

    The leaves of the log get their places back, and each lost head becomes a mark: `referee recover` then lists the
    games that lack entries, and can restore them from a player's copy. The log itself has no entries. All of the log
    is read and compared with its signed checkpoint first; unless it is as it was signed, nothing is changed.

    Files beyond the checkpoint are removed, as no one signed for them.

    Exit codes: 0 done; 1 there was nothing to do, or the log or the directory cannot be used; 2 wrong usage.

    Example: `referee log recover --data club --log /srv/www/log`
    """
    trusted = log_policy("--log-policy", policy) if policy is not None else None
    if not ((data / STORE_FILE).exists() or (data / STORE_ADDRESS_FILE).exists()):
        raise Failure(f"{data / STORE_FILE}: No such file; expected --data with a referee's directory")
    try:
        source = open_source(copy) if copy is not None else Folder(folder)
    except ValueError as error:
        raise Failure(f"--from {copy}: {error}") from None
    logs.configure("text", "critical")  # the command prints what would be logged
    try:
        opened = open_data(
            data, origin_of(data, None), marks=marks, seal_key=seal_key, alone=True, on_upgrade=no_upgrade
        )
    except DataError as error:
        raise Failure(str(error)) from None
    origin = opened.signer.verifier.name

    async def run() -> Recovered:
        try:
            signer = log_signer(data, origin)
            return await recover(opened.store, origin, signer.verifier, source, Folder(folder), trusted)
        finally:
            await opened.close()

    try:
        done = asyncio.run(run())
    except (CannotRecover, DataError, StoreFailed, LogError) as error:
        raise Failure(f"nothing was recovered: {error}") from None
    except OSError as error:
        raise Failure(f"{error.filename or data}: {error.strerror}") from None
    print("\n".join(_told(done)))


def _told(done: Recovered) -> Sequence[str]:
    back = done.size - done.known
    lines = [f"{back} of {done.size} leaves of the log have their places back; {len(done.lost)} heads were lost"]
    for head, contradicts in done.lost:
        what = f"contradicts the marks: {contradicts}" if contradicts else "is a mark now"
        lines.append(f"game {head.game_id.hex()}: its head of {head.size} entries {what}")
    if not back:
        lines = [f"the database has all {done.size} leaves of the log"]
    if done.removed:
        lines.append(f"{done.removed} files beyond the checkpoint are removed, which no one signed for; the next start")
        lines[-1] += " writes what the database has"
    return [*lines, "see `referee recover` for the games that lack entries"] if done.lost else lines
