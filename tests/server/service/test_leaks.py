"""Games, streams and tokens leave nothing behind when they are over, beside what is kept up to a bound."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import grpc
import pytest

from referee.server.live import archive
from referee.server.service import auth
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from tests.server.service.access import SHORT, Office, with_principal
from tests.server.service.conftest import running
from tests.server.service.player import Client, bearer, refused
from tests.server.service.streams import Stream, play_seat, watched
from tests.sizes import campaign

KEPT = 2
"""The number of kept games that are over: the bounds are reached in a few games."""
LOOKS = 200
RULES: dict[str, dict[str, Any]] = {"alhambra": {"options": SHORT}, "kingdomino": {}, "rollwrite": {}}
OURS = (
    "referee.server.live",
    "referee.log",
    "referee.server.service",
    "referee.server.store",
    "referee.wire",
    "asyncio",
    "_asyncio",
    "grpc",
)


def objects() -> Counter[str]:
    """How many there are of each class of ours, of the games' states, of tasks and of calls; and open files."""
    gc.collect()
    found = Counter({"files": len(list(Path("/proc/self/fd").iterdir()))})
    for kind, number in Counter(map(type, gc.get_objects())).items():
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name.startswith(OURS) or name.endswith((".state.State", ".position.Position")):
            found[name] += number
    # One of each for every token that was used of late, up to bounds of their own.
    del found["referee.server.service.auth.Caller"], found["referee.server.service.limits.Account"]
    return found


async def a_game(client: Client, rules_id: str) -> None:
    """From its opening to its log, with a watcher to the end and one that leaves in the middle."""
    play = await client.play(2, rules_id=rules_id, **RULES[rules_id])
    leaving = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id))
    await leaving.read()
    until_the_end = asyncio.create_task(watched(client, play.id))
    seats = [asyncio.create_task(play_seat(play, seat)) for seat in range(2)]
    await leaving.read()
    leaving.cancel()
    await asyncio.gather(until_the_end, *seats)
    assert await client.log(play.id)


async def an_aborted_one(client: Client) -> None:
    """With a seat at the table, whose stream ends with the game, and one that broke off."""
    play = await client.play()
    await play.until_play()
    stays, leaves = (Stream(play, token, after_seq=-1) for token in play.created.seat_tokens)
    await stays.begin()
    await leaves.begin()
    leaves.call.cancel()
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    while not (await stays.read()).HasField("closing"):
        pass
    with suppress(grpc.aio.AioRpcError):
        await play.stream.read()
        play.stream.cancel()


async def a_token(client: Client) -> None:
    """That is issued, plays and watches, and is revoked under its stream."""
    office = Office(client)
    issued = await office.issue("ani", access.SCOPE_PLAY)
    play = await with_principal(client, issued.secret)
    stream = client.games.WatchSeat(pb.WatchSeatRequest(), metadata=bearer(issued.secret))
    await stream.read()
    await office.revoke(issued)
    while not (message := await stream.read()).update.HasField("closing") or message.game_id:
        pass
    # Nothing is written: gRPC's library forgets the status of a stream that is over before its first message.
    assert (await refused(Stream(play, issued.secret).call)).reason == "UNAUTHENTICATED"
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))


async def a_round(client: Client) -> None:
    await asyncio.gather(*(a_game(client, rules_id) for rules_id in RULES))
    await an_aborted_one(client)
    await a_token(client)


async def settled() -> Counter[str]:
    """Return the objects, once no more games are kept than may be: what was cancelled ends a moment later."""
    found = objects()
    for _ in range(LOOKS):
        if found["referee.server.live.game.LiveGame"] == KEPT:
            break
        await asyncio.sleep(0.05)
        found = objects()
    assert found["referee.server.live.game.LiveGame"] == KEPT
    return found


async def grown(before: Counter[str], rounds: int) -> dict[str, int]:
    """Return the growth with every round, once nothing more goes away: calls that were cancelled end a moment later.

    Objects of the last round may be there still.
    """
    more: dict[str, int] = {}
    for _ in range(LOOKS):
        more = {name: number for name, number in (objects() - before).items() if number >= rounds}
        if not more:
            break
        await asyncio.sleep(0.05)
    return more


@pytest.mark.long
@pytest.mark.parametrize("rounds", [4, campaign(20)])
async def test_what_is_over_leaves_nothing_behind(tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many games, streams and tokens there were, there are as many objects of each class, tasks and files."""
    monkeypatch.setattr(archive, "KEPT_CLOSED", KEPT)
    monkeypatch.setattr(archive, "KEPT_ARCHIVES", KEPT)
    monkeypatch.setattr(auth, "_KEPT", KEPT)
    async with running(tmp_path / "data") as (server, client):
        await a_round(client)  # objects that are made once, and kept up to a bound
        before = await settled()
        for _ in range(rounds):
            await a_round(client)
        assert not await grown(before, rounds)
        assert server.live_games.finished.kept["games_over"] == KEPT
        assert server.live_games.finished.kept["archives"] <= KEPT


@pytest.fixture
def uncollected() -> Iterator[list[Any]]:
    """Yield what only the garbage collector frees, filled in by ``gc.collect``; meanwhile it does not run otherwise."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


async def test_refused_calls_leave_the_garbage_collector_nothing_of_ours(
    client: Client, uncollected: list[Any]
) -> None:
    """A full collection stops every game, and hundreds of refusals would bring one about."""
    unknown = "0" * 32
    for _ in range(3):
        assert (await refused(client.games.GetGame(pb.GetGameRequest(game_id=unknown)))).reason == "UNKNOWN_GAME"
        assert (await refused(client.games.AbortGame(pb.AbortGameRequest(game_id=unknown)))).reason
        watching = client.games.WatchGame(pb.WatchGameRequest(game_id=unknown))
        assert (await refused(watching.read())).reason == "UNKNOWN_GAME"
        del watching
        acting = client.games.PlayGame(metadata=bearer("no token"))
        assert (await refused(acting.read())).reason == "UNAUTHENTICATED"
        del acting
    await asyncio.sleep(0)
    gc.collect()
    held = [found for found in uncollected if is_of_a_served_call(found)]
    assert held == []


def is_of_a_served_call(found: Any) -> bool:
    """Return True for gRPC's state of a call at the server, or what our code made for one; the client is here, too."""
    if isinstance(found, FrameType):
        return "/referee/" in found.f_code.co_filename
    return type(found).__name__ in {"RPCState", "_ServicerContext", "AbortError", "Caller", "ResponseStream"} or (
        isinstance(found, Exception) and type(found).__module__.startswith("referee.")
    )
