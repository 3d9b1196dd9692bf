"""``referee event open``: the games of a round are opened at a referee, and results of finished games are fetched."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final

import grpc
from cyclopts import Parameter

from referee.cli.shared import output
from referee.cli.shared.arguments import CardLanguage, check_language, public_key, web_origin
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.openings import Office, TableTerms, new_sheet
from referee.cli.shared.pairings import Pairing, told
from referee.cli.shared.remote import DATA, Addresses, Data, NoAnswer, Transport, refused, server_of, token_of
from referee.cli.shared.remote_games import file_of, write_file
from referee.cli.shared.tournament import EventPath, TokenFile, editing
from referee.console import printable
from referee.games.game import InputError
from referee.log.entry import decode_open
from referee.log.events import Moved
from referee.log.intent import GAME_ID_TEXT, parse_game_id
from referee.log.note import VerifierKey
from referee.log.verdict import Policy
from referee.server.live.opening import entrant_principal
from referee.server.service.files import TOKEN_FILE
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import ENGLISH
from referee.tournament.file import EventFile
from referee.tournament.game_logs import LogRead, Where, of_table, read_game
from referee.tournament.input import table_of
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.organiser import newest_round
from referee.tournament.rebuild import read_again
from referee.tournament.rules import State
from referee.tournament.rules.acts import EnterResult, OpenTable
from referee.tournament.rules.round import Round
from referee.tournament.words import called, lines
from referee.v1 import game_pb2, game_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.channel import Security, open_channel
from referee_clients.sdk.opening import Wishes, options_of_games

GAMES_SUFFIX: Final = ".games"
"""The suffix of the folder with the logs of an event's games, beside the event's file."""
_TIMEOUT_S: Final = 60
GamesServer = Annotated[
    str | None,
    Parameter(
        name="--server",
        metavar="ADDRESS",
        help="The referee with the games; grpcs://HOST:PORT for TLS.",
        show_default="the one that keeps the event, or the one that DIR remembers",
    ),
]


def server_of_games(event: EventFile, data: Path) -> str:
    """Return the address of the referee with an event's games."""
    return server_of(None, data) if event.home is None else event.home.server


def verifier_of_games(event: EventFile) -> VerifierKey | None:
    """Return the key of the referee with an event's games, if no other is named: of the one that keeps the event."""
    return None if event.home is None else VerifierKey.parse(event.home.verifier)


def published(state: State) -> Round:
    """Return the newest round, whose games can be opened. Raise ``InputError``."""
    if state.round is None or not state.round.is_published or state.round.is_closed:
        raise InputError("round", "none is being played", "a round that is published")
    return state.round


def tables_to_open(event: EventFile, wishes: Wishes, *, with_joins: bool) -> list[Pairing]:
    """Return the tables of the newest round that have no result. Raise ``InputError``, ``BadWord``.

    ``wishes``: what holds for all games; ``with_joins``: a seat is its bearer's, and not the entrant's principal's.
    """
    state, number = event.log.state, event.log.event_id
    round_ = published(state)
    named = _named(event.log, round_.number)
    tables = []
    for table in round_.undecided:
        players = round_.tables[table - 1]
        principals = [] if with_joins else [entrant_principal(number, who) for who in players]
        asked = replace(
            wishes,
            rules=state.terms.game,
            seats=len(players),
            principals=principals,
            event=number,
            round=round_.number,
            table=table,
        )
        request = asked.request()
        for seat, who in zip(request.seats, players, strict=True):
            seat.player = state.entrants[who].player
        _add_names(request, players, event.names)
        names = tuple(called(who, event.names) for who in players)
        game = round_.games.get(table, b"").hex()
        tables.append(
            Pairing(f"table {table}", (number, round_.number, table), names, request, game, named, of_event=True)
        )
    return tables


def _add_names(request: pb.CreateGameRequest, players: Sequence[int], names: Names) -> None:
    """Give the game the names whose salts are here."""
    for seat, who in enumerate(players):
        person = names.people.get(who)
        if person is not None and person.fits(request.seats[seat].player):
            request.names.add(seat=seat, name=person.name, salt=person.salt)


def _named(log: EventLog, number: int) -> Set[str]:
    """Return every game that was named in a round, however often that was paired."""
    moves = (each.event.move for each in read_again(log) if isinstance(each.event, Moved))
    return frozenset(move.game_id.hex() for move in moves if isinstance(move, OpenTable) and move.round == number)


def opened_now(state: State, told: Sequence[Mapping[str, Any]]) -> list[OpenTable]:
    """Return the acts by which the event learns of open games. ``told``: the result of ``Office.open_round``."""
    round_ = published(state)
    games = {each["table"]: bytes.fromhex(each["game"]) for each in told}
    return [OpenTable(round_.number, n, game) for n, game in games.items() if round_.games.get(n) != game]


class Found(Enum):
    """The state of a table's game."""

    NO_GAME = "no game"
    RUNNING = "running"
    RESULT = "result"
    NO_RESULT = "no result"
    """Its game is over, or cannot be had, and gives no result that can be entered."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table without a result: how far its game is, and that in words."""

    number: int
    found: Found
    words: str

    def __str__(self) -> str:
        return f"table {self.number}: {self.words}"


@dataclass(frozen=True, slots=True)
class Taking:
    """Results from games that are over."""

    event: EventFile
    server: str
    security: Security
    folder: Path
    """The folder of the logs."""
    verifier: VerifierKey | None
    """The verifier of the referee with the games; None: it is not known, and signatures may be any referee's."""

    async def find(self) -> tuple[list[Table], list[EnterResult]]:
        """Return each table without a result, and the results that can be entered.

        Raise ``Failure``, ``OSError``.
        """
        state, results = self.event.log.state, list[EnterResult]()
        round_ = published(state)
        async with open_channel(self.server, security=self.security) as channel:
            tables = [Table(n, *await self._table(channel, state, n, results)) for n in round_.undecided]
        return tables, results

    async def _table(
        self, channel: grpc.aio.Channel, state: State, table: int, results: list[EnterResult]
    ) -> tuple[Found, str]:
        round_ = published(state)
        if (game := round_.games.get(table)) is None:
            return Found.NO_GAME, "no game is known; `referee event open`, or enter its result"
        try:
            read = await self._read(channel, state, Where(self.event.log.event_id, round_.number, table), game)
        except NoAnswer:
            raise
        except Failure as error:  # one game that cannot be had is no hindrance to the others
            return Found.NO_RESULT, f"NOT ENTERED, game {game.hex()}: {error}"
        if read is None:
            return Found.RUNNING, f"game {game.hex()} is not over"
        if read.result is None or read.against:
            return Found.NO_RESULT, f"NOT ENTERED, game {game.hex()}: {'; '.join(read.against)}"
        results.append(EnterResult(round_.number, table, read.result))
        return Found.RESULT, f"places {', '.join(map(str, read.result.places))}, from game {game.hex()}"

    async def _read(self, channel: grpc.aio.Channel, state: State, where: Where, game: bytes) -> LogRead | None:
        """Fetch and read the game's log; None while the game is not over. Raise ``Failure``, ``OSError``."""
        if (await game_of(channel, self.server, game)).state != game_pb2.GAME_STATE_OVER:
            return None
        path = self.folder / f"{game.hex()}.gamelog"
        content = await file_of(channel, self.server, game.hex())
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
        read = read_game(path, Policy(verifier=self.verifier), state, where)
        if read.result is not None and read.result.log is not None and read.result.log.game_id != game:
            raise Failure(f"{self.server}: gave the log of game {read.result.log.game_id.hex()}; expected {game.hex()}")
        return read


async def check_game(server: str, secured: Security, state: State, where: Where, game: bytes) -> None:
    """Ask the referee for a game. Raise ``Failure`` if it has none, or one that was opened for another table."""
    async with open_channel(server, security=secured) as channel:
        found = await game_of(channel, server, game)
    if wrong := [*of_table(decode_open(found.open), state, where)]:
        raise Failure(f"game {game.hex()}: {'; '.join(wrong)}")


async def game_of(channel: grpc.aio.Channel, server: str, game: bytes) -> game_pb2.Game:
    """Return the referee's facts about a game. Raise ``Failure``."""
    stub = game_service_pb2_grpc.GameServiceStub(channel)
    try:
        found = (await stub.GetGame(pb.GetGameRequest(game_id=game.hex()), timeout=_TIMEOUT_S)).game
    except grpc.aio.AioRpcError as error:
        raise refused(server, error) from None
    if found.id != game.hex():
        raise Failure(f"{server}: answered with game {printable(found.id[:40])!r}; expected {game.hex()}")
    return found


def open_(
    file: EventPath,
    table: Annotated[str, Parameter(name="TABLE", help="With GAME: the table, by its number or slip.")] = "",
    game: Annotated[
        str, Parameter(name="GAME", help="The whole id of a game that is open already, for this table.")
    ] = "",
    /,
    *,
    joins: Annotated[
        Path | None,
        Parameter(
            metavar="DIR",
            help="Make join strings, in a file for each table in this folder, for players without tokens of their own.",
        ),
    ] = None,
    web: Annotated[
        str | None,
        Parameter(
            metavar="ORIGIN",
            help="With --joins: where browsers reach the referee's pages, such as https://club.example; every seat "
            "gets a link, too.",
            show_default="the address that DIR remembers from referee serve --web",
        ),
    ] = None,
    sheet: Annotated[
        Path | None, Parameter(metavar="FILE", help="With --joins: a new page with a card for each seat, to print.")
    ] = None,
    language: CardLanguage = ENGLISH,
    options: Annotated[str | None, Parameter(metavar="JSON", help=f"The games' options. {options_of_games()}.")] = None,
    terms: TableTerms = TableTerms(),
    arbiter_key: Annotated[
        list[str] | None, Parameter(metavar="KEY", help="Public key of an arbiter of all games. Repeatable.")
    ] = None,
    server: GamesServer = None,
    data: Data = DATA,
    token_file: TokenFile = None,
    transport: Transport = Transport(),
) -> None:
    """Open a game at a referee for each table of the published round, and name it in the event.

    Seats are for the entrants' own tokens: `referee token issue --event EVENT --entrant NUMBER` makes one that takes
    every seat of its entrant in this event. With --joins each is for the player who has its join string.

    The command can be repeated, also after it was stopped in the middle: only games that are missing are opened.

    With TABLE and GAME a game that is open already is named: one of `referee new --event` for this table, or one that
    was opened for no event.
    """
    wishes = Wishes(
        options=options,
        illegal=terms.illegal or [],
        clock=terms.clock,
        lag=terms.lag,
        absence=terms.absence,
        take_backs=terms.take_backs,
        protest_time=terms.protest_time,
        grace=terms.grace,
        arbiter_keys=[public_key(f"--arbiter-key {key}", key) for key in arbiter_key or []],
    )
    if bool(table) != bool(game):
        raise Failure("GAME: none; expected one with TABLE, or neither", EXIT_USAGE)
    if (web or sheet) and joins is None:
        raise Failure("--web and --sheet are for join strings; expected --joins DIR with them", EXIT_USAGE)
    check_language(language, sheet, "--sheet", "web")
    with editing(file) as event:
        if game:
            number = newest_round(event.log.state)
            if (game_id := parse_game_id(game)) is None:
                raise InputError("GAME", repr(game[:40]), GAME_ID_TEXT)
            at = table_of("TABLE", table, event.log.event_id, number)
            address = server or server_of_games(event, data)
            secured = transport.security(address)
            where = Where(event.log.event_id, number, at)
            asyncio.run(check_game(address, secured, event.log.state, where, game_id))
            event.log.enter(OpenTable(number, at, game_id))
            said = [f"round {number}, table {at}: game {game}"]
        else:
            address = server or server_of_games(event, data)
            token = token_of(
                token_file or data / TOKEN_FILE, needed=transport.tls_cert is None or token_file is not None
            )
            secured = transport.security(address, token)
            remembered = Addresses.remembered(data)
            public = address if remembered is None or remembered.here != address else remembered.public
            pages = web_origin("--web", web) if web is not None else "" if remembered is None else remembered.web
            try:
                tables = tables_to_open(event, wishes, with_joins=joins is not None)
            except BadWord as error:
                raise Failure(str(error), EXIT_USAGE) from None
            with new_sheet(sheet, language) as cards:
                office = Office(address, public, pages, token, secured)
                found = asyncio.run(office.open_round(tables, joins, cards, dry_run=False))
            for each in opened_now(event.log.state, found):
                event.log.enter(each)
            said = told(found)
            if sheet is not None:
                print(f"{len(cards)} cards in {sheet}", file=sys.stderr)
    output.write(lines(said))
