"""The rig at work: nothing that a network does loses, doubles or changes an act, and clients' messages are true."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial

import pytest

from referee_clients.bot_check.relay import Fault, Plan, Way, single
from tests.rig.referee import Referee, running
from tests.rig.run import Report, Rig, each, rig
from tests.sizes import campaign

SMALL = 5
"""Turns of a small game."""


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    with running(tmp_path_factory.mktemp("rig")) as referee:
        yield referee


@pytest.fixture
async def rigged(referee: Referee) -> AsyncIterator[Rig]:
    # gRPC logs every message that it cannot read.
    logging.getLogger("grpc").setLevel(logging.CRITICAL)
    async with rig(referee) as rigged:
        yield rigged


def no_fault(_: Way, __: int) -> None:
    return None


def findings(reports: list[Report]) -> str:
    """Return the text to read when it fails, with the seed that repeats it."""
    return "\n".join(f"seed {report.name}: {report.findings}" for report in reports if report.findings)


async def test_a_game_without_faults(rigged: Rig) -> None:
    report = await rigged.planned("clean", [no_fault, no_fault])
    assert not report.findings
    assert (report.faults, report.reconnects) == (0, 0)
    assert report.entries > 60
    assert {stream.client for stream in report.history.streams} == {
        *("clean/0", "clean/1"),
        *("clean/0 at the referee", "clean/1 at the referee"),
    }


@pytest.mark.long
@pytest.mark.parametrize("every", [7, campaign(1)])
async def test_every_fault_at_every_message_of_a_small_game(every: int, rigged: Rig) -> None:
    """The sample tries each seventh of them, so each of the eight faults in turn."""
    # The deal decides whose turns come when, and so how many messages there are.
    clean = [(await rigged.planned("small", [no_fault, no_fault], SMALL)).counts for _ in range(3)]
    counts = {way: min(found[way] for found in clean) for way in Way}
    missing = [(way, number, fault) for way in Way for number in range(counts[way]) for fault in Fault][::every]

    def game(way: Way, number: int, fault: Fault) -> Callable[[], Awaitable[Report]]:
        name = f"{fault.name} {way.name} {number}"
        return partial(rigged.planned, name, [single(way, number, fault), no_fault], SMALL)

    # A message that a game did not have this time is tried in another; the last ones may come in no other game.
    for _ in range(16):
        if all(number > counts[way] - 3 for way, number, _ in missing):
            break
        reports = [report async for report in each([game(*one) for one in missing], at_once=24)]
        assert not findings(reports)
        suffered = {one for report in reports for one in report.suffered}
        missing = [one for one in missing if one not in suffered]
    assert all(number > counts[way] - 3 for way, number, _ in missing)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [(0, 3), campaign(range(32))], ids=["sample", "campaign"])
async def test_games_at_once(seeds: Sequence[int], rigged: Rig) -> None:
    """In the sample two seats and three, attempts that are recorded, and a network that breaks below gRPC."""
    games = len(seeds)
    reports = [report async for report in each([partial(rigged.seeded, seed) for seed in seeds], at_once=games)]
    assert not findings(reports), "python -m tests.rig --seed N plays one alone"
    assert sum(report.faults for report in reports) > 5 * games
    assert {one[2] for report in reports for one in report.suffered} == set(Fault)


def always(way: Way, fault: Fault, first: int) -> Plan:
    return lambda at, number: fault if at is way and number >= first else None


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (always(Way.DOWN, Fault.FLIP, 3), r"Distrust|Denied"),
        (always(Way.UP, Fault.FLIP, 0), r"Denied"),
    ],
    ids=["for the client", "for the referee"],
)
async def test_what_is_damaged_each_time_is_believed(rigged: Rig, plan: Plan, said: str) -> None:
    report = await rigged.planned("persistent", [plan, no_fault], most_damage=1 << 30)
    assert len(report.findings) == 1
    assert re.match(said, report.findings[0])


async def test_damage_each_time_that_leaves_a_way_on(rigged: Rig) -> None:
    """Everything comes twice: the first one is taken, the second one is another stream."""
    report = await rigged.planned("twice", [always(Way.DOWN, Fault.DUPLICATE, 0), no_fault], SMALL, 1 << 30)
    assert not findings([report])
    assert report.faults > 10
