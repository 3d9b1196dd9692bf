"""``referee event run``: bots play all of an event, over the network."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import grpc
from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared import output
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.openings import Office
from referee.cli.shared.remote import DATA, Data, NoAnswer, Transport, refused, token_of
from referee.cli.shared.tournament import EventPath, TokenFile, opened
from referee.cli.tournament.network import (
    GAMES_SUFFIX,
    Found,
    Taking,
    opened_now,
    published,
    tables_to_open,
    verifier_of_games,
)
from referee.games.game import InputError
from referee.log.keys import PrivateKey
from referee.server.service.files import TOKEN_FILE
from referee.text.notation.outcomes import counted
from referee.tournament.file import EventFile
from referee.tournament.organiser import advance, close, enter_players, pair
from referee.tournament.rules.acts import Act, CheckIn, Publish
from referee.tournament.rules.situation import Due, due
from referee.tournament.words import lines, standing_lines
from referee.v1 import access_service_pb2 as access_pb
from referee.v1.access_service_pb2_grpc import AccessServiceStub
from referee_clients import GameResult, Join, play_all
from referee_clients.bots import UnknownBot, load, maker
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.opening import Wishes
from referee_clients.sdk.tournament import PATIENCE_S

_TIMEOUT_S: Final = 15
_LIFETIME_MS: Final = 24 * 3600 * 1000
_LOOK_S: Final = 5.0
"""The time after which games are looked at, though no bot has said that one is over."""
_AGAIN_S: Final = 1.0
_T = TypeVar("_T")


def run(
    file: EventPath,
    /,
    *,
    bots: Annotated[
        str,
        Parameter(
            metavar="NAMES",
            help="Bots of the event's game, such as greedy,random; entrants have them in turn. Or module:attribute.",
        ),
    ],
    players: Annotated[
        int | None,
        Parameter(
            metavar="N",
            help="How many enter, if no one has.",
            show_default="one for each bot",
            validator=Number(gte=2, lte=1024),
        ),
    ] = None,
    seed: Annotated[int, Parameter(help="Seed for bots that choose at random.", validator=Number(gte=0))] = 1,
    data: Data = DATA,
    token_file: TokenFile = None,
    transport: Transport = Transport(),
) -> None:
    """Let bots play a whole event at the referee that keeps it: enter, check in, pair, play, take results, close.

    Begin the event with `referee event new --server` before. Each entrant has a key and a token, with which its bot
    takes the entrant's seats in all rounds. Keys are kept in `NAME.private`, logs of the games in `NAME.games`. After a
    stop the same command resumes the event. The token has to allow both organise and admin.

    Exit codes: 0 the event is over; 1 failed; 2 wrong usage.

    Example: `referee event run spring.eventlog --bots greedy,random --players 16 --data club`
    """
    sys.path.insert(0, str(Path.cwd()))
    named = [name.strip() for name in bots.split(",")]
    token = token_of(token_file or data / TOKEN_FILE, needed=transport.tls_cert is None or token_file is not None)
    with opened(file) as event:
        if (home := event.home) is None:
            raise InputError(str(file), "it is kept in this file alone", "an event of `referee event new --server`")
        try:
            for name in named:
                load(name, event.log.state.terms.game)
        except UnknownBot as error:
            raise Failure(f"--bots: {error}", EXIT_USAGE) from None
        secured = transport.security(home.server, token)
        office = Office(home.server, home.server, "", token, secured)
        running = Running(event, office, named, players or len(named), seed, file.with_suffix(GAMES_SUFFIX))
        try:
            asyncio.run(running.run())
        except KeyboardInterrupt:
            raise Failure("stopped; the same command resumes the event", 130) from None
        told = list(standing_lines(event.log.state, event.names))
    output.write(lines([*told, f"{file}: the event is over"]))


@dataclass
class Running:
    """An event of bots while it runs."""

    event: EventFile
    office: Office
    bots: Sequence[str]
    players: int
    seed: int
    games: Path
    """The folder of the games' logs."""
    _failed: str = ""
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a bot says that a game is over."""

    async def run(self) -> None:
        """Play until the event is over. Raise ``Failure``, and what commands of an event raise."""
        if not self.event.log.state.entrants:
            await asyncio.to_thread(self._enter)
        for number, entrant in self.event.log.state.entrants.items():
            if not self._key(number).exists() or PrivateKey.load(self._key(number)).public.raw != entrant.key:
                raise InputError("entrant", f"{number} has no key in {self._key(number).parent}", "an event of bots")
        numbers = sorted(self.event.log.state.entrants)
        async with _Tokens(self.office) as tokens:
            issued = [await tokens.issue(self.event.log.event_id, number) for number in numbers]
            playing = [asyncio.create_task(self._play(*each)) for each in zip(numbers, issued, strict=True)]
            try:
                while (step := due(self.event.log.state)) is not Due.NOTHING:
                    await self._step(step)
                    for task in playing:
                        if task.done():
                            task.result()
            finally:
                for task in playing:
                    task.cancel()
                await asyncio.gather(*playing, return_exceptions=True)

    def _enter(self) -> None:
        self._key(1).parent.mkdir(mode=0o700, exist_ok=True)
        keys, names = [], list[tuple[str, str]]()
        for number in range(1, self.players + 1):
            path = self._key(number)
            if not path.exists():
                PrivateKey.generate().save(path)
            keys.append(PrivateKey.load(path).public.raw)
            names.append(("", f"{self._bot(number)} {number}"))
        event = self.event
        with event.entering():
            event.names, entered = enter_players(event.log, event.names, names, keys=keys)
            for number in entered:
                event.log.enter(CheckIn(number))
        print(f"entered {counted(self.players, 'bot')}", flush=True)

    def _key(self, number: int) -> Path:
        return self.event.private / "keys" / f"{number}.pem"

    def _bot(self, number: int) -> str:
        return self.bots[(number - 1) % len(self.bots)]

    async def _play(self, number: int, token: str) -> None:
        """Play all games of an entrant, until cancelled."""

        def ended(game_id: str, result: GameResult | Exception) -> None:
            if isinstance(result, Exception):
                self._failed = f"{self.event.names[number]}, game {game_id}: {result}"
            self._ended.set()

        def key_file(_: Join) -> Path:
            return self._key(number)

        make = maker(self._bot(number), self.seed + number)
        home = self.event.home
        await play_all(
            self.office.server,
            token,
            make,
            ended,
            key_file=key_file,
            log_copy=False,
            verifier=None if home is None else home.verifier,
            security=self.office.secured,
        )

    async def _step(self, step: Due) -> None:
        if step is Due.RESULTS:
            await self._results()
        else:
            await asyncio.to_thread(self._on, step)

    def _on(self, step: Due) -> None:
        """Do what needs no game."""
        event = self.event
        with event.entering():
            match step:
                case Due.ENTRIES | Due.DRAW | Due.PAIR:
                    pair(event.log, event.seed)
                case Due.PUBLISH:
                    number = len(event.log.state.rounds)
                    event.log.enter(Publish(number))
                    print(f"round {number}: {counted(len(event.log.state.rounds[-1].tables), 'table')}", flush=True)
                case Due.CLOSE_ROUND | Due.CUT:
                    advance(event.log)
                case _:
                    close(event.log)

    async def _results(self) -> None:
        """Open the games that are missing, and take the results of one game or more."""
        round_ = published(self.event.log.state)
        if any(table not in round_.games for table in round_.undecided):
            tables = tables_to_open(self.event, Wishes(), with_joins=False)
            told = await _patiently(lambda: self.office.open_round(tables, None, [], dry_run=False))
            await asyncio.to_thread(self._enter_all, opened_now(self.event.log.state, told))
        if self._failed:
            raise Failure(f"a bot failed: {self._failed}; the games of the others continued")
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_S):
                await self._ended.wait()
        self._ended.clear()
        verifier = verifier_of_games(self.event)
        taking = Taking(self.event, self.office.server, self.office.secured, self.games, verifier)
        looked, results = await _patiently(taking.find)
        await asyncio.to_thread(self._enter_all, results)
        for each in looked:
            if each.found is Found.NO_RESULT:
                raise Failure(f"round {round_.number}, {each}")
            if each.found is not Found.RUNNING:
                print(f"round {round_.number}, {each}", flush=True)

    def _enter_all(self, acts: Sequence[Act]) -> None:
        with self.event.entering():
            for act in acts:
                self.event.log.enter(act)


async def _patiently(ask: Callable[[], Awaitable[_T]]) -> _T:
    """Ask until there is an answer. Raise ``Failure``."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + PATIENCE_S
    while True:
        try:
            return await ask()
        except NoAnswer:
            if loop.time() > until_s:
                raise
            await asyncio.sleep(_AGAIN_S)


class _Tokens:
    """Tokens of entrants, which are revoked in the end."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._ids: list[str] = []

    async def __aenter__(self) -> _Tokens:
        self._channel = open_channel(self._office.server, self._office.token, self._office.secured)
        self._stub: Any = AccessServiceStub(self._channel)
        return self

    async def __aexit__(self, *_: object) -> None:
        with suppress(grpc.aio.AioRpcError):  # they expire in any case
            for id_ in self._ids:
                await self._stub.RevokeToken(access_pb.RevokeTokenRequest(id=id_), **self._how)
        await self._channel.close()

    @property
    def _how(self) -> dict[str, Any]:
        return {"timeout": _TIMEOUT_S, "metadata": bearer(self._office.token)}

    async def issue(self, event_id: int, number: int) -> str:
        """Return a token for the entrant. Raise ``Failure``."""
        request = access_pb.IssueTokenRequest(event=str(event_id), entrant=number, lifetime_ms=_LIFETIME_MS)
        try:
            response = await self._stub.IssueToken(request, **self._how)
        except grpc.aio.AioRpcError as error:
            raise refused(self._office.server, error) from None
        self._ids.append(response.token.id)
        return str(response.secret)
