"""``referee fetch``: the files of games from a referee, one or all that are over."""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path
from typing import Annotated

import grpc
from cyclopts import Parameter

from referee.cli.shared import output
from referee.cli.shared.bulk import SUFFIX
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import Operated, patiently
from referee.cli.shared.remote_games import (
    Filter,
    Games,
    State,
    file_of,
    names_at,
    save_names,
    unread_because,
    whole_id,
    write_file,
)
from referee.log import file
from referee.log.errors import LogError
from referee.log.file import FrameType
from referee.log.note import Checkpoint, Note, TlogProof
from referee.log.public.checkpoint import SUFFIX as PROOF_SUFFIX
from referee.text.notation.outcomes import counted
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc
from referee_clients.sdk.channel import open_channel

_TIMEOUT_S = 60
_PROOF_S = 10.0


def fetch(
    game: Annotated[
        str | None,
        Parameter(help="The game's id, or its first 8 or more hexadecimal digits.", show_default=False),
    ] = None,
    /,
    *,
    every: Annotated[bool, Parameter(name="--all", help="Fetch every game that is over into a folder.")] = False,
    out: Annotated[
        Path | None,
        Parameter(
            metavar="PATH",
            help="Where to write the file, by default GAME.gamelog; with --all the folder, by default this one.",
        ),
    ] = None,
    with_proof: Annotated[
        bool,
        Parameter(help="Also write GAME.tlog-proof: the proof that the game is in the referee's public log."),
    ] = False,
    chosen: Filter = Filter(),
    token_file: Annotated[
        Path | None, Parameter(metavar="FILE", help="A token for --principal, if it is not in DIR.")
    ] = None,
    home: Operated = Operated(),
) -> None:
    """Fetch a game's file; for a running game, everything so far. Or fetch all games that are over.

    No token is needed, but for --principal. Use `referee show` to read a file and `referee audit` to check it. An
    existing file is replaced once the new one is complete; but with --all, a file that is there stays: one that is
    equal is skipped, one that differs is named.

    Names of the players, which are in no log, are written beside it as GAME.names.csv: the commands that read a game's
    file take them from there. With that file anyone can prove who played.

    With --with-proof the proof is waited for up to 10 s, as witnesses may have to sign first; an auditor takes it from
    beside the file. One that is there is replaced: a newer one has newer signatures.

    A game that the referee cannot read just now, or has set aside, is named: it may be over.

    Exit codes: 0 fetched; 1 the referee cannot be reached or does not have the game, a file differs, a game cannot be
    read, or there is no proof; 2 wrong usage.

    Examples: `referee fetch 0197a1cb --out final.gamelog`, `referee fetch --all --event 7 --out games`
    """
    if every == (game is not None):
        raise Failure("expected a game, or --all", EXIT_USAGE)
    request = chosen.request(State.OVER)
    if not every and chosen != Filter():
        raise Failure(
            "--event, --round, --table, --principal, --from and --to choose among all games; expected --all with them",
            EXIT_USAGE,
        )
    server = home.address
    token = home.token(token_file, needed=home.transport.tls_cert is None) if chosen.principal else ""
    secured = home.transport.security(server, token)

    async def one(found: str, path: Path) -> None:
        async with open_channel(server, security=secured) as channel:
            write_file(path, content := await file_of(channel, server, found))
            output.write(f"{path}, {len(content)} bytes\n")
            save_names((await names_at(channel, server, [found])).get(found, []), path)
            if with_proof:
                await _prove(channel, server, found, path, content)

    async def all_of_them(folder: Path) -> list[str]:
        async with open_channel(server, token, secured) as channel:
            found = [game async for game in Games(server, channel, token).every(request)]
            names = await names_at(channel, server, [each.id for each in found])
            kept = _Kept(folder)
            for each in reversed(found):
                if unread := unread_because(each.state):
                    kept.leave_out(each.id, unread)
                else:
                    path = kept.take(each.id, content := await file_of(channel, server, each.id))
                    if path is not None:
                        save_names(names.get(each.id, []), path)
                    if with_proof and path is not None:
                        await _prove(channel, server, each.id, path, content)
        return kept.tell()

    if game is not None:
        found = whole_id(server, secured, game)
        asyncio.run(one(found, out or Path(f"{found}{SUFFIX}")))
    elif problems := asyncio.run(all_of_them(out or Path())):
        raise Failure("; ".join(problems))


class _Kept:
    """Files of games in a folder. Never replaces one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._new = self._equal = self._differing = self._missing = 0

    def take(self, name: str, data: bytes) -> Path | None:
        """Write the game's file, unless there is one; return its path, None if it differs. Raise ``Failure``."""
        path = self._folder / f"{name}{SUFFIX}"
        try:
            there = path.read_bytes()
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_file(path, data)
            self._new += 1
            output.write(f"{path}, {len(data)} bytes\n")
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}") from None
        else:
            if there == data:
                self._equal += 1
            else:
                self._differing += 1
                output.write(f"{path} DIFFERS: {len(there)} bytes here, {len(data)} bytes at the referee\n")
                return None
        return path

    def leave_out(self, name: str, why: str) -> None:
        """Name a game that may be over, and that the referee cannot give."""
        self._missing += 1
        output.write(f"{name} MISSING: {why}\n")

    def tell(self) -> list[str]:
        """Print what was done; return what is left to do."""
        differing = f", {self._differing} differing" if self._differing else ""
        missing = f", {self._missing} missing" if self._missing else ""
        output.write(f"{self._new} fetched, {self._equal} there already{differing}{missing}\n")
        problems = []
        if self._missing:
            problems.append(
                f"{counted(self._missing, 'game')} cannot be fetched; fetch again when the referee can read"
            )
        if self._differing:
            left = f"{counted(self._differing, 'file')} left as {'it is' if self._differing == 1 else 'they are'}"
            problems.append(f"{left}; to replace one, fetch that game alone")
        return problems


async def _prove(channel: grpc.aio.Channel, server: str, game: str, path: Path, data: bytes) -> None:
    """Write the proof that the game of this file is in the referee's public log. Raise ``Failure``."""
    stub = game_service_pb2_grpc.GameServiceStub(channel)
    request = pb.GetLogProofRequest(game_id=game, size=_last_head(game, data).size)
    found: pb.GetLogProofResponse = await patiently(
        lambda: stub.GetLogProof(request, timeout=_TIMEOUT_S), server, {"LIMIT", "NOT_LOGGED"}, _PROOF_S
    )
    try:
        TlogProof.parse(found.proof)
    except LogError as error:
        raise Failure(f"the referee sent no proof: {error}") from None
    beside = path.with_suffix(PROOF_SUFFIX)
    write_file(beside, found.proof)
    output.write(f"{beside}, leaf {found.index} of the public log\n")


def _last_head(game: str, data: bytes) -> Checkpoint:
    """Return the head that the file of a game that is over ends with. Raise ``Failure``."""
    try:
        notes = [frame.payload for frame in file.read(BytesIO(data)) if frame.type == FrameType.CHECKPOINT]
        if not notes:
            raise Failure(f"game {game} is not over, and its last head is logged then; expected --with-proof later")
        return Checkpoint.parse(Note.parse(notes[-1]).text)
    except LogError as error:
        raise Failure(f"the referee sent a damaged file: {error}") from None
