"""The time of an answer does not depend on the deck's order: the referee does the same work, to the operation.

Times differ from run to run and cannot be held against each other; work can. It is counted as operations of the
interpreter in the code that knows the games, file by file. The work of libraries follows from the bytes that they are
given, and those are equal (``test_equal_bytes``).
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import grpc
import pytest

import referee
from referee.log.entry import decode_entry
from referee.log.replay import Record
from referee.server.live.view import game_state, snapshot_message
from referee.v1 import arbiter_service_pb2 as arbiter_pb
from referee.v1 import arbiter_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2 import Snapshot
from tests.server.service.player import SCRIBE, Play, against_the_rules, connected, token_of
from tests.server.service.twins import GAMES, ForkedServer, Game, lies_in, start
from tests.sizes import campaign

_OURS = str(Path(referee.__file__).parent)
_KNOWS_GAMES = (
    *("games/", "log/", "wire/", "text/notation/", "dealer.py"),
    *(f"server/live/{name}.py" for name in ("acts", "docket", "game", "listing", "live_games", "view")),
    *(f"server/service/{name}.py" for name in ("game_service", "messages")),
)
"""Where games are judged and shown. The rest of ``referee`` waits, and does more or less from run to run."""


class Work:
    """A counter of operations in the code that knows the games, by its file, while it is switched on."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()

    @contextmanager
    def counted(self) -> Iterator[None]:
        gc.disable()  # what it calls has nothing to do with the request
        try:
            with observed(self._operation):
                yield
        finally:
            gc.enable()

    def _operation(self, code: CodeType, _place: int) -> None:
        self.done[code.co_filename[len(_OURS) + 1 :]] += 1


def _is_counted(code: CodeType) -> bool:
    path = code.co_filename
    return path.startswith(_OURS) and path[len(_OURS) + 1 :].startswith(_KNOWS_GAMES)


if sys.version_info >= (3, 12):

    @contextmanager
    def observed(operation: Callable[[CodeType, int], None]) -> Iterator[None]:
        """Call it with each operation that counts. A trace function would miss those of code that runs for the first
        time.
        """
        monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID
        instruction = monitoring.events.INSTRUCTION

        def done(code: CodeType, place: int) -> Any:
            return operation(code, place) if _is_counted(code) else monitoring.DISABLE

        monitoring.use_tool_id(tool, "work")
        monitoring.register_callback(tool, instruction, done)
        monitoring.set_events(tool, instruction)
        try:
            yield
        finally:
            monitoring.set_events(tool, monitoring.events.NO_EVENTS)
            monitoring.register_callback(tool, instruction, None)
            monitoring.free_tool_id(tool)

else:

    @contextmanager
    def observed(operation: Callable[[CodeType, int], None]) -> Iterator[None]:
        """Call it with each operation that counts."""

        def called(frame: FrameType, _event: str, _value: Any) -> Any:
            if not _is_counted(frame.f_code):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            return done

        def done(frame: FrameType, event: str, _value: Any) -> Any:
            if event == "opcode":
                operation(frame.f_code, frame.f_lasti)
            return done

        before = sys.gettrace()
        sys.settrace(called)
        try:
            yield
        finally:
            sys.settrace(before)


@dataclass
class Table:
    """A game that is played without a stream: when a call is answered, all the work for it is done."""

    server: ForkedServer
    play: Play

    async def work(self, number: int) -> tuple[dict[str, Counter[str]], list[bytes]]:
        """Return the work for every request and for the next act, and the chance that follows."""
        await self._catch_up()
        play, id_ = self.play, self.play.id
        games, docket = play.client.games, arbiter_service_pb2_grpc.ArbiterServiceStub(play.client.channel)
        wrong = play.move(0, against_the_rules(play))
        act = play.next_act()
        assert act is not None
        found: dict[str, Counter[str]] = {}
        for name, call in (
            ("GetGame", lambda: games.GetGame(pb.GetGameRequest(game_id=id_))),
            ("ListGames", lambda: games.ListGames(pb.ListGamesRequest())),
            ("ListLegalMoves", lambda: games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=id_))),
            ("GetDocket", lambda: docket.GetDocket(arbiter_pb.GetDocketRequest(game_id=id_))),
            ("an illegal move", lambda: play.submit(wrong, token_of(play, 0))),
            ("an act", lambda: play.submit(*act)),
        ):
            work = Work()
            with suppress(grpc.aio.AioRpcError), work.counted():
                await call()
            found[f"{name}, at act {number}"] = work.done
        return found, await self._catch_up()

    async def _catch_up(self) -> list[bytes]:
        """Return the chance that was new."""
        play, chance = self.play, []
        store = self.server.live_games.context.store
        for row in await store.entries(bytes.fromhex(play.id), len(play.entries), 100):
            play.record.read(row.data)
            play.entries.append(row.data)
            if (entry := decode_entry(row.data)).HasField("chance"):
                chance.append(entry.chance.outcome)
        return chance


@asynccontextmanager
async def tables(path: Path, game: Game, count: int) -> AsyncIterator[list[Table]]:
    """So many games with one history and decks of their own."""
    found: list[Table] = []
    fields: dict[str, Any] = {"rules_id": game.rules_id, "options": game.encoded, "scribed": game.scribed}
    async with AsyncExitStack() as stack:
        for number in range(count):
            server = await start(path / str(number), game)
            stack.push_async_callback(server.stop, grace_s=0)
            organiser = server.data.token_path.read_text().strip()
            client = await stack.enter_async_context(connected(server.address, organiser))
            keys = [SCRIBE.public.raw] if game.scribed else []
            found.append(Table(server, await client.play(game.seats, scribe_keys=keys, **fields)))
        yield found


class Uneven(AssertionError):
    """The referee does more for one deck than for another."""


async def hold_against_each_other(played: list[Table], acts: int) -> int:
    """Play on until chance tells the games apart, or ``acts`` acts. Return the number of equal operations."""
    total = 0
    for number in range(acts):
        done = [await table.work(number) for table in played]
        if any(chance != done[0][1] for _, chance in done):
            return total
        for work, _ in done[1:]:
            for name, expected in done[0][0].items():
                if work[name] != expected:
                    more, less = work[name] - expected, expected - work[name]
                    raise Uneven(f"{name}: {dict(more)} more and {dict(less)} less")
        total += sum(count.total() for count in done[0][0].values())
    return total


@pytest.mark.parametrize(
    ("name", "decks", "acts"),
    [
        ("kingdomino, wider offer", 2, 7),
        *(campaign(name, 3, 12) for name in GAMES),
    ],
)
async def test_the_work_for_a_request_is_the_same_for_every_deck(
    name: str, decks: int, acts: int, tmp_path: Path
) -> None:
    async with tables(tmp_path, GAMES[name], 1 + decks) as (first, *others):
        for number in range(acts):
            await first.work(number)
        assert await hold_against_each_other(others, acts) > 10_000


def searches(record: Record) -> Snapshot:
    """Take longer the deeper something lies."""
    for _ in range(lies_in(record.game) % 1000):
        game_state(record)
    return snapshot_message(record)


@pytest.mark.parametrize("name", ["kingdomino, wider offer", campaign("alhambra"), campaign("rollwrite of five")])
async def test_work_that_depends_on_the_deck_is_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.server.live.live_games.snapshot_message", searches)
    async with tables(tmp_path, GAMES[name], 3) as (first, *others):
        for number in range(8):
            await first.work(number)
        with pytest.raises(Uneven, match=r"GetGame, at act .*'server/live/view.py'"):
            await hold_against_each_other(others, 8)
