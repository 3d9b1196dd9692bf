"""Prints how long it takes to pair and to check a round, how good the rounds are, and the targets."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import process_time

from rich.console import Console

from referee.log.deck import Deck
from referee.log.replay import Record
from referee.log.verdict import Policy
from referee.tournament.check import check_event
from referee.tournament.log import EventLog
from referee.tournament.organiser import advance, close, draw, proposal
from referee.tournament.pairing.draw import Words
from referee.tournament.pairing.planned import planned
from referee.tournament.pairing.swiss import Paired, swiss
from referee.tournament.rules.acts import CheckIn, Enter, EnterResult, Publish
from referee.tournament.rules.position import commitment
from referee.tournament.rules.quality import Situation, fewest, improvement, vector, violations
from referee.tournament.simulate import Chances
from tests.bench.__main__ import table_of
from tests.bench.measure import Figure
from tests.log.games import SIGNER, key
from tests.server.service.event import SEED as LOTS
from tests.server.service.event import over_the_board
from tests.tournament.check import game, result_of
from tests.tournament.pairing.events import Event
from tests.tournament.rules.stages import SEED, terms

OTHERS = Path(__file__).parent.parent.parent / ".venv" / "compare" / "bin" / "python"
SIZES = (4, 3)
ROUNDS = 10
PLANNED = ((9, 3, 4), (12, 3, 4), (15, 3, 7), (16, 4, 5), (20, 4, 5), (24, 4, 5), (32, 4, 7), (25, 5, 5), (36, 6, 3))
"""Players, size of tables, rounds."""
_SECONDS = 20.0
"""The time of CP-SAT for one round."""


def words() -> Words:
    """Return a draw."""
    return Deck(bytes(32)).words("bench")


def rounds(players: int, count: int = ROUNDS) -> Iterator[tuple[Situation, Paired, float]]:
    """An event: the situation before each round, the round, and the seconds that it took."""
    event = Event(players, SIZES, seed=1000 + players)  # not those by which the search was tuned
    for _ in range(count):
        situation = event.situation()
        start = process_time()
        paired = swiss(situation, SIZES, words())
        yield situation, paired, process_time() - start
        event.play(paired.pairing)


def of_an_event(players: int, at_most: float) -> Iterator[Figure]:
    """Yield seconds of the slowest round, and how good the rounds are."""
    every = list(rounds(players))
    yield Figure(f"{players} players: seconds, slowest of {ROUNDS} rounds", max(s for *_, s in every), at_most=at_most)
    yield Figure(f"{players} players: repeats in 8 rounds", sum(p.reached.repeats for _, p, _ in every[:8]), at_most=0)
    if players >= 256:
        ratios = [paired.reached.spread / paired.bound for _, paired, _ in every if paired.bound]
        yield Figure(f"{players} players: spread over bound, worst of {len(ratios)} rounds", max(ratios), at_most=2.5)
        free = [paired.reached.spread for _, paired, _ in every if not paired.bound]
        yield Figure(f"{players} players: spread in 60ths, worst of {len(free)} rounds with bound 0", max(free))


def of_a_check(players: int = 10_000) -> Iterator[Figure]:
    """Yield seconds for the last of the rounds."""
    *_, (situation, paired, _) = rounds(players)
    start = process_time()
    violations(situation, SIZES, paired.pairing)
    vector(situation, SIZES, paired.pairing)
    yield Figure(f"{players} players: seconds to check a round", process_time() - start, at_most=0.1)
    start = process_time()
    improvement(situation, SIZES, paired.pairing)
    yield Figure(f"{players} players: seconds to check that it is stable", process_time() - start, at_most=10)


def of_seats(players: int = 16) -> Figure:
    """How much somebody's counts of seats differ after all rounds."""
    *_, (situation, _, _) = rounds(players)
    spans = [max(counts[:4]) - min(counts[:4]) for counts in situation.seated.values()]
    return Figure(f"{players} players: most that counts of seats differ", max(spans), at_most=2)


def of_plans() -> Iterator[Figure]:
    """Yield all rows of the table, one after the other."""
    start = process_time()
    found = [planned(range(1, n + 1), (size,), count, words()).repeats for n, size, count in PLANNED]
    yield Figure("planned: repeats in all rows", sum(found), at_most=0)
    yield Figure("planned: seconds for all rows", process_time() - start, at_most=10)


def of_games(players: int = 512, count: int = 8) -> Iterator[Figure]:
    """Yield the check of an event with the logs of all its games, at tables of four: linear in files."""
    with TemporaryDirectory() as folder:
        path, games = Path(folder) / "bench.eventlog", Path(folder) / "games"
        log = EventLog.new(terms(sizes=(4,), points=((5, 3, 2, 1),), rounds=count), key("organiser"))
        for number in range(1, players + 1):
            log.enter(Enter(number))
            log.enter(CheckIn(number))
        draw(log, SEED, {})
        for number in range(1, count + 1):
            log.enter(proposal(log.state))
            log.enter(Publish(number))
            # The first half of the rounds has a folder of its own.
            half = games / ("a" if 2 * number <= count else "b") / str(number)
            half.mkdir(parents=True)
            for table in range(1, players // 4 + 1):
                one = game(half, log.event_id, number, table, seed=number << 10 | table, seats=4)
                log.enter(EnterResult(number, table, result_of(one)))
            advance(log)
        close(log)
        path.write_bytes(log.file(SIGNER))
        policy = Policy(SIGNER.verifier)
        seconds, files = [], 0
        for below in (None, games / "a", games):
            start = process_time()
            report = check_event(path, policy, below, policy)
            seconds.append(process_time() - start)
            assert report.exit_code == 0
            files = report.audited
        alone, half_of_them, all_of_them = seconds
        yield Figure(f"{players} players, {count} rounds: seconds to check the event's file", alone)
        yield Figure(f"seconds to check it with the logs of {files // 2} games", half_of_them)
        yield Figure(f"seconds to check it with the logs of {files} games", all_of_them)
        more = (all_of_them - alone) / (half_of_them - alone)
        yield Figure(f"what {files} games cost, over what {files // 2} do", more, at_most=2.2)


def of_acts(players: int = 1_024, count: int = 4) -> Figure:
    """Measure the time on a referee's event loop of the dearest act of an event: the pairing of a late round."""
    of_it = terms(rounds=count, late_until=count, commitment=commitment(LOTS))
    log = over_the_board(of_it, players=players, chances=Chances())
    record, slowest = Record.replay(log.entries[:1]), 0.0
    for data in log.entries[1:]:
        start = process_time()
        record.read(data)
        slowest = max(slowest, process_time() - start)
    return Figure(f"{players} players, {count} rounds: ms to judge the dearest act", 1000 * slowest)


def least(situation: Situation, paired: Paired) -> list[int]:
    """Return CP-SAT's bounds: forbidden, repeats, again, second shorts, spread and float."""
    players = [player for player in situation.standing if player not in paired.pairing.byes]
    place = {player: at for at, player in enumerate(players)}
    pairs = []
    for two in sorted(situation.met.keys() | situation.again | situation.soft):
        if place.keys() >= set(two):
            costs = int(two in situation.soft), situation.met.get(two, 0) ** 2, int(two in situation.again)
            pairs.append((*sorted(place[player] for player in two), *costs))
    asked = {
        "points": [situation.points.get(player, 0) for player in players],
        "sizes": SIZES,
        "shorts": fewest(len(players), SIZES)[1],
        "sat_short": [place[player] for player in players if situation.shorts.get(player)],
        "pairs": pairs,
        "seconds": _SECONDS,
    }
    program = [str(OTHERS), "-P", str(Path(__file__).parent / "other_pairer.py")]
    done = subprocess.run(program, input=json.dumps(asked), capture_output=True, text=True, check=True)
    proven: list[int] = json.loads(done.stdout)
    return proven


def of_optima(events: Sequence[int] = (12, 16, 18, 20, 24, 30)) -> Iterator[Figure]:
    """Rounds 3 and 4 of small events: how often what comes before spread is the least, and spread over the least."""
    before, ratios = [], []
    for players in events:
        for situation, paired, _ in list(rounds(players, 4))[2:]:
            proven = least(situation, paired)
            own = list(paired.reached[2:8])
            if len(proven) >= 4:
                before.append(own[:4] == proven[:4])
            if len(proven) >= 5 and own[:4] == proven[:4]:
                ratios.append(own[4] / max(1, proven[4]))
    yield Figure(f"part of {len(before)} proven rounds with the least repeats", mean(before), target=1)
    yield Figure(f"spread over the optimum, mean of {len(ratios)} rounds", mean(ratios), at_most=1.1)


def figures() -> Iterator[Figure]:
    """Yield all of them."""
    for players, at_most in ((40, 1), (64, 1), (256, 1), (1024, 1), (10_000, 3)):
        yield from of_an_event(players, at_most)
    yield from of_a_check()
    yield of_seats()
    yield from of_plans()
    yield from of_games()
    yield of_acts()
    if OTHERS.exists():
        yield from of_optima()


if __name__ == "__main__":
    Console(width=120).print(table_of("rounds of an event, seconds of processor time", figures()))
