"""An event that a referee keeps, from its organiser's side: the same commands, each act once, whatever breaks."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar

import grpc
import pytest

from referee.games.game import InputError
from referee.log.errors import RulesError
from referee.log.intent import Place, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.verdict import Policy
from referee.tournament.check import check_event
from referee.tournament.file import EventFile
from referee.tournament.log import AwayLog, Home, terms_data
from referee.tournament.organiser import enter_players
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import Abandon, CheckIn, Enter
from referee.tournament.rules.scoring import standings_hash
from referee.v1.event_service_pb2 import CreateEventRequest, CreateEventResponse
from referee.v1.event_service_pb2_grpc import EventServiceStub
from referee.v1.game_service_pb2 import Accepted, GetGameRequest, GetLogRequest, GetLogResponse, WatchGameRequest
from referee.v1.game_service_pb2_grpc import GameServiceStub
from referee_clients.sdk.errors import Denied, Distrust, Unreachable, WentOn
from referee_clients.sdk.tournament import EventKeeper, PartlyEntered
from referee_clients.terminal.event_desk.screen import EventDeskApp
from tests.addresses import free_address
from tests.cli.inside import referee as look
from tests.clients.event_desk.event_desk import Desk
from tests.server.service.conftest import running
from tests.server.service.event import SEED, acts_of, over_the_board
from tests.server.service.player import bearer, connected
from tests.server.service.process import Referee, serve
from tests.waiting import MOST_S, waiting_for


def begun(path: Path, server: str, token: str, terms: Terms | None = None) -> None:
    """A new event at the referee."""
    EventFile.create(path, terms or Terms(), SEED, EventKeeper(server, token))


def enter_all(path: Path, *numbers: int, before_save: Callable[[], None] = lambda: None) -> None:
    """Enter entrants as a command does, all in one go."""
    with EventFile.opened(path, EventKeeper(patience_s=MOST_S)) as event, event.entering():
        for number in numbers:
            event.names, person = event.names.with_one(number, f"Player {number}")
            event.log.enter(Enter(number, person.player))
        before_save()


def entrants(path: Path) -> list[int]:
    return sorted(EventFile.read_only(path).log.state.entrants)


async def lying(channel: grpc.aio.Channel, token: str, change: Callable[[CreateEventRequest], None]) -> grpc.aio.Server:
    """Return a referee that begins another event than it was asked for."""

    async def create(request: CreateEventRequest, _: object) -> CreateEventResponse:
        change(request)
        found: CreateEventResponse = await EventServiceStub(channel).CreateEvent(request, metadata=bearer(token))
        return found

    async def log(request: GetLogRequest, _: object) -> AsyncIterator[GetLogResponse]:
        async for part in GameServiceStub(channel).GetLog(request):
            yield part

    server = grpc.aio.server()
    handlers: dict[tuple[str, str], Any] = {
        ("EventService", "CreateEvent"): grpc.unary_unary_rpc_method_handler(
            create, CreateEventRequest.FromString, CreateEventResponse.SerializeToString
        ),
        ("GameService", "GetLog"): grpc.unary_stream_rpc_method_handler(
            log, GetLogRequest.FromString, GetLogResponse.SerializeToString
        ),
    }
    for (service, method), handler in handlers.items():
        generic = grpc.method_handlers_generic_handler(f"referee.v1.{service}", {method: handler})
        server.add_generic_rpc_handlers([generic])
    return server


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda asked: asked.organiser_keys.append(PrivateKey.generate().public.raw), "other keys that may enter acts"),
        (lambda asked: setattr(asked, "terms", terms_data(Terms(rounds=3))), "other terms"),
    ],
)
async def test_an_event_is_begun_as_it_was_asked_for_or_not_at_all(
    change: Callable[[CreateEventRequest], None], told: str, tmp_path: Path
) -> None:
    async with running(tmp_path / "data") as (_, client):
        server = await lying(client.channel, client.organiser, change)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        keeper = EventKeeper(f"127.0.0.1:{port}", client.organiser)
        with pytest.raises(Distrust, match=f"began an event with {told}; use another referee"):
            await asyncio.to_thread(keeper.begin, Terms(), PrivateKey.generate(), [])
        await server.stop(None)


@pytest.mark.long
async def test_the_commands_of_an_event_do_the_same_over_the_network(tmp_path: Path) -> None:
    """The acts of an event over the board, in many commands: the same standings, and the copy passes the check."""
    board = over_the_board(players=8)
    path = tmp_path / "net.eventlog"

    def play(server: str, token: str) -> None:
        begun(path, server, token, board.state.terms)
        acts = [act for act, _ in acts_of(board)]
        for first in range(0, len(acts), 5):
            with EventFile.opened(path, EventKeeper()) as event, event.entering():
                for act in acts[first : first + 5]:
                    event.log.enter(act)

    async with running(tmp_path / "data") as (server, client):
        await asyncio.to_thread(play, server.address, client.organiser)
        event = EventFile.read_only(path)
        assert standings_hash(event.log.state) == standings_hash(board.state)
        assert event.log.entries == EventFile.read_only(path).log.entries
        assert (await client.log(event.log.record.game_id.hex())) == path.read_bytes()
    policy = Policy(verifier=VerifierKey.parse(path.with_suffix(".vkey").read_text().strip()))
    assert check_event(path, policy, None, Policy()).exit_code == 0


async def test_what_the_rules_forbid_is_not_sent_and_a_dry_run_neither(tmp_path: Path) -> None:
    path = tmp_path / "net.eventlog"
    async with running(tmp_path / "data") as (server, client):

        def twice() -> None:
            with EventFile.opened(path, EventKeeper()) as event, event.entering():
                event.log.enter(Enter(2))
                event.log.enter(Enter(2))

        def wrong() -> None:
            begun(path, server.address, client.organiser)
            enter_all(path, 1)
            with pytest.raises(RulesError):
                twice()
            with EventFile.opened(path, EventKeeper()) as event:
                event.log.enter(Enter(2))  # and never saved
                assert 2 in event.log.state.entrants

        await asyncio.to_thread(wrong)
        game = (await client.games.GetGame(_game(path))).game
        assert (game.size, entrants(path)) == (2, [1])


class Interrupted(EventKeeper):
    """Somebody else acts after its first act."""

    then: ClassVar[Callable[[object], None]]

    def _submit(self, channel: grpc.Channel, home: Home, place: Place, signed: SignedIntent) -> Accepted:
        accepted = super()._submit(channel, home, place, signed)
        type(self).then(self)
        return accepted


async def test_two_organisers_at_once(tmp_path: Path) -> None:
    """The second gets a message, and has what the first entered; in the middle of several acts too. Nothing is lost."""
    first, second = tmp_path / "a" / "net.eventlog", tmp_path / "b" / "net.eventlog"
    first.parent.mkdir()
    async with running(tmp_path / "data") as (server, client):

        def race() -> None:
            begun(first, server.address, client.organiser)
            shutil.copytree(first.parent, second.parent)
            enter_all(second, 1)
            enter_all(first, 2)  # has seen the other's before
            assert entrants(first) == [1, 2]
            with pytest.raises(WentOn, match="another desk or command entered something in this event meanwhile"):
                enter_all(second, 3, before_save=lambda: enter_all(first, 4))
            assert entrants(second) == [1, 2, 4]
            assert EventFile.read_only(second).names[4] == "entrant 4"  # whose name is with the other organiser
            enter_all(second, 3)
            with EventFile.opened(first, EventKeeper()) as event, event.entering():
                event.log.enter(CheckIn(3))
            with pytest.raises(PartlyEntered, match="1 of 3 acts were entered, and the rest was not: another desk"):
                interrupted()
            assert entrants(second) == [1, 2, 3, 4, 5, 9]
            assert EventFile.read_only(second).names[5] == "Player 5"
            assert EventFile.read_only(second).names[6] == "entrant 6"

        def interrupted() -> None:
            Interrupted.then = lambda _: enter_all(first, 9)
            with EventFile.opened(second, Interrupted()) as event, event.entering():
                for number in (5, 6, 7):
                    event.names, person = event.names.with_one(number, f"Player {number}")
                    event.log.enter(Enter(number, person.player))

        await asyncio.to_thread(race)
        assert entrants(first) == [1, 2, 3, 4, 5, 9]


class Cut(EventKeeper):
    """Acts arrive, but no answer comes back as long as it is cut."""

    is_cut: ClassVar[bool]

    def _submit(self, channel: grpc.Channel, home: Home, place: Place, signed: SignedIntent) -> Accepted:
        accepted = super()._submit(channel, home, place, signed)
        self._answer()
        return accepted

    def _follow(self, channel: grpc.Channel, home: Home, log: AwayLog) -> None:
        self._answer()
        super()._follow(channel, home, log)

    def _answer(self) -> None:
        if self.is_cut:
            raise Unreachable("cut")


async def test_the_name_of_an_act_without_an_answer_is_kept_until_it_is_known_what_became_of_it(tmp_path: Path) -> None:
    path = tmp_path / "net.eventlog"

    def enter(event: EventFile, name: str) -> None:
        with event.entering():
            event.names, _ = enter_players(event.log, event.names, [("", name)])

    def play(server: str, token: str) -> None:
        begun(path, server, token)
        Cut.is_cut = False
        with EventFile.opened(path, Cut()) as event:
            Cut.is_cut = True
            with pytest.raises(Unreachable, match="0 of 1 acts were entered, and the next may have been"):
                enter(event, "Anna")
            with pytest.raises(Unreachable):
                enter(event, "Ben")
            Cut.is_cut = False
            with pytest.raises(InputError, match="'Anna' is entrant 1"):
                enter(event, "Anna")
            enter(event, "Cara")
        assert dict(EventFile.read_only(path).names.people) == dict(event.names.people)
        assert [person.name for person in event.names.people.values()] == ["Anna", "Cara"]
        assert [event.names.people[n].player for n in (1, 2)] == [event.log.state.entrants[n].player for n in (1, 2)]

    async with running(tmp_path / "data") as (server, client):
        await asyncio.to_thread(play, server.address, client.organiser)


async def test_nothing_is_left_of_an_event_that_could_not_be_begun(tmp_path: Path) -> None:
    path = tmp_path / "net.eventlog"
    async with running(tmp_path / "data") as (server, client):
        for token, why in (("x" * 43, "UNAUTHENTICATED"), ("", "needs a token")):
            with pytest.raises(Denied, match=why):
                await asyncio.to_thread(begun, path, server.address, token)
        with pytest.raises(Denied, match="one of alhambra"):
            await asyncio.to_thread(begun, path, server.address, client.organiser, Terms(game="chess"))
        assert not path.exists()
        assert not path.with_suffix(".private").exists()
        await asyncio.to_thread(begun, path, server.address, client.organiser)


async def test_an_event_that_is_over_takes_no_acts(tmp_path: Path) -> None:
    path = tmp_path / "net.eventlog"
    async with running(tmp_path / "data") as (server, client):

        def over() -> None:
            begun(path, server.address, client.organiser)
            with EventFile.opened(path, EventKeeper()) as event, event.entering():
                event.log.enter(Abandon("rain"))
            with pytest.raises(RulesError):
                enter_all(path, 1)

        await asyncio.to_thread(over)
    assert EventFile.read_only(path).log.record.is_final


def _game(path: Path) -> GetGameRequest:
    return GetGameRequest(game_id=EventFile.read_only(path).log.record.game_id.hex())


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, 4])
async def test_the_referee_is_killed_in_the_middle_of_a_command(tmp_path: Path, kills: int) -> None:
    """It comes back at the same address: the command continues on its own, and each act is entered once."""
    path, data, log = tmp_path / "net.eventlog", tmp_path / "data", tmp_path / "log"
    listen = ("--listen", free_address(), "--solver-workers", "0")
    referee: Referee = await serve(data, log, *listen)
    await asyncio.to_thread(begun, path, referee.address, referee.token)
    size = 0
    for _ in range(kills):
        numbers = range(size + 1, size + 61)
        command = asyncio.create_task(asyncio.to_thread(enter_all, path, *numbers))
        await _grown(referee, path, size + 10)
        referee.process.kill()
        await referee.process.wait()
        referee = await serve(data, log, *listen)
        await command
        size += 60
        assert entrants(path) == list(range(1, size + 1))
    referee.process.terminate()
    await referee.process.wait()
    assert EventFile.read_only(path).log.record.size == size + 1
    assert [EventFile.read_only(path).names[number] for number in (1, size)] == ["Player 1", f"Player {size}"]


async def _grown(referee: Referee, path: Path, size: int) -> None:
    """Return when the event has more entries."""
    async with connected(referee.address, referee.token) as client, waiting_for("acts to be entered"):
        id_ = _game(path).game_id
        async for message in client.games.WatchGame(WatchGameRequest(game_id=id_, after_seq=-1)):
            if message.seq >= size:
                return


@pytest.mark.long
async def test_a_referee_that_stays_away(tmp_path: Path) -> None:
    """Some acts were entered, or none; the copy has what was entered, and the command says how many."""
    path = tmp_path / "net.eventlog"
    referee = await serve(tmp_path / "data", tmp_path / "log", "--solver-workers", "0")
    await asyncio.to_thread(begun, path, referee.address, referee.token)

    def kill() -> None:
        referee.process.kill()

    def away() -> None:
        with EventFile.opened(path, EventKeeper(patience_s=0)) as event, event.entering():
            event.log.enter(Enter(1))
            kill()

    with pytest.raises(Unreachable, match="0 of 1 acts were entered, and the next may have been"):
        await asyncio.to_thread(away)
    await referee.process.wait()
    assert entrants(path) == []
    looked = await asyncio.to_thread(look, "event", "status", path)
    assert "0 entrants" in looked.stdout
    assert "note: the event as it was up to entry 0: the referee gave no answer" in looked.stderr


@pytest.mark.long
async def test_the_desk_enters_in_an_event_that_a_referee_keeps(tmp_path: Path) -> None:
    """Acts reported as entered are at the referee; when that is gone, the desk says why, and enters nothing."""
    path = tmp_path / "net.eventlog"
    opening = EventFile.opened(path, EventKeeper(patience_s=0))
    async with AsyncExitStack() as stack:
        async with running(tmp_path / "data") as (server, client):
            await asyncio.to_thread(begun, path, server.address, client.organiser)
            app = EventDeskApp(await asyncio.to_thread(opening.__enter__))
            stack.callback(opening.__exit__, None, None, None)
            desk = Desk(app, await stack.enter_async_context(app.run_test(size=(80, 24))))
            assert (await desk.enter("enter Anna")).startswith("Entered: ")
            assert (await client.games.GetGame(_game(path))).game.size == 2
            assert entrants(path) == [1]
        assert "the referee gave no answer" in await desk.enter("enter Ben")
        assert entrants(path) == sorted(desk.state.entrants) == [1]
