"""Opens games at a referee, one or those of a round, and hands out their join strings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import grpc

from referee.cli.addresses import Addresses
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.finding import Games
from referee.cli.pairings import Pairing
from referee.cli.remote import refused
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc
from referee_clients.join import format_join
from referee_clients.opening.wishes import bad_field
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import answer_of

_TIMEOUT_S = 15
UNREACHABLE: Final = (
    "warning: these join strings work on this machine only, as they carry the address {}. For players elsewhere, give "
    "referee serve their address with --public HOST:PORT, or referee new with --server HOST:PORT"
)


def public_of(data: Path, address: str) -> str:
    """Return the address for the join strings of a referee whose directory gave the other address."""
    addresses = Addresses.remembered(data)
    return address if addresses is None else addresses.public


@dataclass(frozen=True, slots=True)
class Office:
    """An organiser at one referee."""

    server: str
    public: str
    """The address in join strings."""
    token: str
    secured: Security

    async def open_game(self, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
        """Open one game. Raise ``Failure``."""
        async with open_channel(self.server, self.token, self.secured) as channel:
            return await self._create(channel, request)

    async def open_round(self, tables: Sequence[Pairing], out: Path | None, *, dry_run: bool) -> list[dict[str, Any]]:
        """Open a game for each table that has none; return what there is to be told of each. Raise ``Failure``."""
        async with open_channel(self.server, self.token, self.secured) as channel:
            there = await self._there(channel, tables)
            new = [table for table in tables if table.key not in there]
            paths = {table.key: out / table.file_name for table in new} if out is not None else {}
            for path in paths.values():
                if path.exists():
                    raise Failure(
                        f"{path}: there is such a file, but no game of that table; expected another --out", EXIT_USAGE
                    )
            if out is not None and not dry_run:
                _make_folder(out)
            told = []
            for table in tables:
                if table.key in there:
                    told.append({**table.told, "game": there[table.key], "is": "there already"})
                elif dry_run:
                    told.append({**table.told, "is": "to be opened"})
                else:
                    told.append(await self._open(channel, table, paths.get(table.key)))
            return told

    async def _open(self, channel: grpc.aio.Channel, table: Pairing, path: Path | None) -> dict[str, Any]:
        with new_file(path) as file:
            try:
                created = await self._create(channel, table.request)
            except Failure as error:
                raise Failure(f"{table.where}: {error}; the tables before it are open") from None
            joins = self.joins(created)
            if file is not None:
                file.write(joins_text(created, joins))
        secrets: dict[str, Any] = {"joins in": str(path)}
        if path is None:
            secrets = {"joins": {str(seat): join for seat, join in joins.items()}, **tokens_of(created)}
        return {**table.told, "game": created.game.id, "is": "opened", **secrets}

    async def _there(self, channel: grpc.aio.Channel, tables: Sequence[Pairing]) -> dict[Any, str]:
        """Return the games of the rounds that may have a result, by event, round and table."""
        found = {}
        games = Games(self.server, channel, self.token)
        for event, round_ in dict.fromkeys(table.key[:2] for table in tables):
            async for game in games.every(pb.ListGamesRequest(event_id=event, round=round_)):
                if game.HasField("table") and not (game.HasField("result") and not game.result.places):
                    found[event, round_, game.table] = game.id
        return found

    async def _create(self, channel: grpc.aio.Channel, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        try:
            return await stub.CreateGame(request, timeout=_TIMEOUT_S, metadata=bearer(self.token))
        except grpc.aio.AioRpcError as error:
            raise _refused(self.server, error) from None

    def joins(self, created: pb.CreateGameResponse) -> dict[int, str]:
        """Return the join strings by seat; seats without a token have none."""
        return {
            seat: format_join(self.public, created.game.id, seat, token)
            for seat, token in enumerate(created.seat_tokens)
            if token
        }


def tokens_of(created: pb.CreateGameResponse) -> dict[str, str]:
    """Return the tokens of those who are at no seat; empty where there are none."""
    return {"scribe": created.scribe_token, "arbiter": created.arbiter_token}


def joins_text(created: pb.CreateGameResponse, joins: dict[int, str]) -> str:
    """Return what a file of join strings holds: a line for each, then the tokens of scribes and arbiters."""
    lines = [*joins.values(), *(f"{role} {token}" for role, token in tokens_of(created).items() if token)]
    return "".join(f"{line}\n" for line in lines)


@contextmanager
def new_file(path: Path | None) -> Iterator[TextIO | None]:
    """Make a new file that only its owner can read, and that is gone again if the game is not opened."""
    if path is None:
        yield None
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Failure(f"--out {path}: {error.strerror}", EXIT_USAGE) from None
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            yield file
    except OSError as error:
        raise Failure(f"--out {path}: {error.strerror}; the game is open, but its join strings are lost") from None
    except BaseException:
        path.unlink()
        raise


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"--out {path}: {error.strerror}", EXIT_USAGE) from None


def _refused(server: str, error: grpc.aio.AioRpcError) -> Failure:
    """Return what the referee finds wrong, by the option that said it."""
    found = answer_of(error)
    field, what = (found.metadata.get(name, "") for name in ("field", "what"))
    return Failure(str(bad_field(field, what))) if what else refused(server, error)
