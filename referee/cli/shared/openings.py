"""Games are opened at a referee, one or those of a round: their terms, join strings, links and cards of seats."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

import grpc
from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.pairings import Pairing
from referee.cli.shared.remote import NoAnswer, refused
from referee.cli.shared.remote_games import Games
from referee.log.entry import decode_open
from referee.text.words.catalogue import ENGLISH
from referee.v1 import game_pb2, game_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import format_join, format_link
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import answer_of
from referee_clients.sdk.opening import CLOCK_EXPECTED, bad_field
from referee_clients.web.cards import Card, sheet

_TIMEOUT_S = 15
UNREACHABLE: Final = (
    "warning: these join strings work on this machine only, as they carry the address {}. For players elsewhere, give "
    "referee serve their address with --public HOST:PORT, or referee new with --server HOST:PORT"
)
LINKS_UNREACHABLE: Final = (
    "warning: these links work on this machine only, as they carry the address {}. For players elsewhere, give --web "
    "https://NAME, or give it as --web-origin to referee serve"
)


@dataclass(frozen=True, slots=True)
class Office:
    """An organiser at one referee."""

    server: str
    public: str
    """The address in join strings."""
    web: str
    """The origin in links, such as ``https://club.example``; empty: there are no links."""
    token: str
    secured: Security

    async def open_game(self, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
        """Open one game. Raise ``Failure``."""
        async with open_channel(self.server, self.token, self.secured) as channel:
            return await self._create(channel, request)

    async def open_round(
        self, tables: Sequence[Pairing], out: Path | None, cards: list[Card], *, dry_run: bool
    ) -> list[dict[str, Any]]:
        """Open a game for each table that has none; return a report on each. Raise ``Failure``.

        Another organiser may do the same at the same time: the first game of a table stays, and ours is aborted.

        ``cards`` gets those of the seats, table by table, also of the tables before one that cannot be opened.
        """
        async with open_channel(self.server, self.token, self.secured) as channel:
            there = await self._there(channel, tables)
            new = [table for table in tables if table.key not in there]
            paths = {table.key: out / table.file_name for table in new} if out is not None else {}
            for path in paths.values():
                _unlink_empty(path)
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
                    told.append(await self._open(channel, table, paths.get(table.key), cards))
            return told

    async def _open(
        self, channel: grpc.aio.Channel, table: Pairing, path: Path | None, cards: list[Card]
    ) -> dict[str, Any]:
        with new_file(path) as file:
            try:
                created = await self._create(channel, table.request)
            except Failure as error:
                raise type(error)(f"{table.where}: {error}; the tables before it are open") from None
            seats = self.cards(created, table.names)
            if file is not None:
                file.write(seats_text(created, seats))
        if (first := await self._first(channel, table, created.game.id)) != created.game.id:
            await self._abort(channel, created.game.id)
            _unlink(path)
            return {**table.told, "game": first, "is": "there already"}
        cards += seats
        secrets: dict[str, Any] = {"joins in": str(path)}
        if path is None:
            secrets = {**joins_and_links(seats), **tokens_of(created)}
        return {**table.told, "game": created.game.id, "is": "opened", **secrets}

    async def _there(self, channel: grpc.aio.Channel, tables: Sequence[Pairing]) -> dict[Any, str]:
        """Return the games of the rounds that may have a result, by event, round and table."""
        listed: defaultdict[Any, list[str]] = defaultdict(list)
        games = Games(self.server, channel, self.token)
        for event, round_ in dict.fromkeys(table.key[:2] for table in tables):
            async for game in games.every(pb.ListGamesRequest(event_id=event, round=round_)):
                if game.HasField("table") and not _is_aborted(game):
                    listed[event, round_, game.table].append(game.id)
        found = dict[Any, str]()
        for table in tables:
            if table.game and not await self._named_is_aborted(channel, table.game):
                found[table.key] = table.game
                continue
            for game_id in listed[table.key]:  # the newest comes first
                if await self._is_of(channel, table, game_id):
                    found[table.key] = game_id
                    break
        return found

    async def _is_of(self, channel: grpc.aio.Channel, table: Pairing, game_id: str) -> bool:
        """Return whether a game of the table's number is the table's: a round that was paired again may have others."""
        players = [seat.player for seat in table.request.seats] if table.of_event else []
        return game_id not in table.named and (not any(players) or await self._players(channel, game_id) == players)

    async def _first(self, channel: grpc.aio.Channel, table: Pairing, ours: str) -> str:
        """Return the game that was opened first for a table: ours, or another organiser's, which came in between.

        Each of two organisers sees the other's game or has opened the first one, so one game stays.
        """
        event, round_, number = table.key
        first, is_older = ours, False  # the newest comes first
        request = pb.ListGamesRequest(event_id=event, round=round_, table=number)
        async for game in Games(self.server, channel, self.token).every(request):
            if is_older and not _is_aborted(game) and await self._is_of(channel, table, game.id):
                first = game.id
            is_older |= game.id == ours
        return first

    async def _abort(self, channel: grpc.aio.Channel, game_id: str) -> None:
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        try:
            await stub.AbortGame(pb.AbortGameRequest(game_id=game_id), timeout=_TIMEOUT_S, metadata=bearer(self.token))
        except grpc.aio.AioRpcError as error:
            raise refused(self.server, error) from None

    async def _named_is_aborted(self, channel: grpc.aio.Channel, game_id: str) -> bool:
        """Return whether it is known that a game of the event has no result and gets none. Raise ``NoAnswer``."""
        try:
            return _is_aborted(await self._game(channel, game_id))
        except NoAnswer:
            raise
        except Failure:  # it stays the table's, until the organiser names another
            return False

    async def _players(self, channel: grpc.aio.Channel, game_id: str) -> list[bytes]:
        return [seat.player for seat in decode_open((await self._game(channel, game_id)).open).seats]

    async def _game(self, channel: grpc.aio.Channel, game_id: str) -> game_pb2.Game:
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        try:
            return (await stub.GetGame(pb.GetGameRequest(game_id=game_id), timeout=_TIMEOUT_S)).game
        except grpc.aio.AioRpcError as error:
            raise refused(self.server, error) from None

    async def _create(self, channel: grpc.aio.Channel, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        try:
            return await stub.CreateGame(request, timeout=_TIMEOUT_S, metadata=bearer(self.token))
        except grpc.aio.AioRpcError as error:
            raise _refused(self.server, error) from None

    def cards(self, created: pb.CreateGameResponse, names: Sequence[str] = ()) -> list[Card]:
        """Return a card for each seat that has a token. ``names``: players by seat, if they are known."""
        game = created.game
        return [
            Card(
                game.rules_id,
                seat,
                format_join(self.public, game.id, seat, token),
                format_link(self.web, game.id, seat, token) if self.web else "",
                names[seat] if seat < len(names) else "",
                game.event_id if game.HasField("event_id") else None,
                game.round if game.HasField("round") else None,
                game.table if game.HasField("table") else None,
            )
            for seat, token in enumerate(created.seat_tokens)
            if token
        ]


def _is_aborted(game: game_pb2.Game) -> bool:
    return game.HasField("result") and not game.result.places


def tokens_of(created: pb.CreateGameResponse) -> dict[str, str]:
    """Return the tokens of those who are at no seat; empty where there are none."""
    return {"scribe": created.scribe_token, "arbiter": created.arbiter_token}


def joins_and_links(cards: Sequence[Card]) -> dict[str, dict[str, str]]:
    """Return both by seat, as JSON has them; a seat without a link is not among the links."""
    return {
        "joins": {str(card.seat): card.join for card in cards},
        "links": {str(card.seat): card.link for card in cards if card.link},
    }


def seats_text(created: pb.CreateGameResponse, cards: Sequence[Card]) -> str:
    """Return what a file of join strings holds: a line for each, then links, then tokens of scribes and arbiters."""
    lines = [card.join for card in cards]
    lines += [f"link {card.link}" for card in cards if card.link]
    lines += [f"{role} {token}" for role, token in tokens_of(created).items() if token]
    return "".join(f"{line}\n" for line in lines)


@contextmanager
def new_file(path: Path | None) -> Iterator[TextIO | None]:
    """Make a new file that only its owner can read, and that is gone again if the game is not opened."""
    if path is None:
        yield None
        return
    made = _new("--out", path)
    try:
        with made as file:
            yield file
    except OSError as error:
        raise Failure(f"--out {path}: {error.strerror}; the game is open, but its join strings are lost") from None
    except BaseException:
        path.unlink()
        raise


@contextmanager
def new_sheet(path: Path | None, language: str = ENGLISH) -> Iterator[list[Card]]:
    """Take cards, and make a new file that only its owner can read: their sheet. Without cards there is none.

    Cards of games that were opened before something failed are on it.
    """
    cards: list[Card] = []
    if path is None:
        yield cards
        return
    with _new("--sheet", path) as file:
        try:
            yield cards
        finally:
            if cards:
                _write(file, path, sheet(cards, language))
            else:
                path.unlink()


def _new(option: str, path: Path) -> TextIO:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Failure(f"{option} {path}: {error.strerror}", EXIT_USAGE) from None
    return os.fdopen(descriptor, "w", encoding="utf-8")


def _write(file: TextIO, path: Path, text: str) -> None:
    try:
        file.write(text)
        file.flush()
    except OSError as error:
        raise Failure(f"--sheet {path}: {error.strerror}; the games are open, but their cards are lost") from None


def _unlink(path: Path | None) -> None:
    if path is not None:
        path.unlink()


def _unlink_empty(path: Path) -> None:
    """Remove a file that was made for a game that was not opened then, as the command was killed."""
    try:
        if not path.stat().st_size:
            path.unlink()
    except FileNotFoundError:
        pass


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


@Parameter(name="*", group="The table")
@dataclass(frozen=True, kw_only=True, slots=True)
class TableTerms:
    """The options of what holds at a table."""

    clock: Annotated[
        str | None,
        Parameter(
            metavar="CLOCK",
            help=f"Time for moves: {CLOCK_EXPECTED}. A seat that runs out of time forfeits. By default there is no "
            "clock.",
        ),
    ] = None
    lag: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="Network allowance per move, not charged to the clock, such as 500ms.",
        ),
    ] = None
    illegal: Annotated[
        list[str] | None,
        Parameter(
            metavar="WHAT",
            help="The consequence of an illegal move: retry (the seat moves again, the default), record "
            "(the log also records the attempt), strikes:N (the seat forfeits on its Nth), "
            "penalty:TIME (comes off its clock), forfeit (at once). Repeatable.",
        ),
    ] = None
    absence: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="Forfeit a seat that is on turn and disconnected, or does not join, for this long.",
        ),
    ] = None
    take_backs: Annotated[bool, Parameter(help="Let seats agree to take moves back.")] = False
    protest_time: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="Delay before the result is recorded, to allow protests; each further act restarts it.",
        ),
    ] = None
    grace: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="After the referee was away, clocks wait until the seats on turn are back, for this long at most; 0s: "
            "not at all.",
            show_default="60s",
        ),
    ] = None
