"""Random events go through pairer, log and checker; large ones keep within the limits of a log."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from referee.log.entry import MAX_ENTRIES
from referee.log.verdict import Policy, Verdict
from referee.tournament.check import check_document, check_event, read_json
from referee.tournament.file import read
from referee.tournament.log import EventLog
from referee.tournament.rebuild import exported, rebuild
from referee.tournament.rules.acts import Origin, Pair
from referee.tournament.rules.terms import MAX_ENTRANTS, MAX_ROUNDS
from referee.tournament.simulate import Chances, Simulation
from referee.tournament.wire import CODECS
from referee.wire.strict import MAX_BODY_BYTES
from tests.log.games import SIGNER, key
from tests.tournament.rules.stages import SEED, terms
from tests.tournament.simulation import simulated

EVENTS = int(os.environ.get("EVENTS", "16"))
"""In ``make test-long``; ``EVENTS=1000`` before it for a campaign of half an hour, with an event of 512."""
MANY = 512 if EVENTS >= 1_000 else 128
POLICY = Policy(verifier=SIGNER.verifier)


def looked_at(folder: Path, log: EventLog, simulation: Simulation) -> None:
    """The file checks, is read as it was written, and a document of it makes the same event."""
    path = folder / "event.eventlog"
    path.write_bytes(log.file(SIGNER))
    assert read(path)[:2] == (log.header, log.entries)
    found = check_event(path, POLICY, None, POLICY)
    assert (found.exit_code, found.broken) == (0, ""), list(found.lines())
    document = exported(log, simulation.names)
    again = EventLog.new(log.state.terms, key("somebody"))
    from_document(again, document, folder)
    assert exported(again, simulation.names) == {**document, "event_id": again.event_id}


def from_document(log: EventLog, document: dict[str, object], folder: Path) -> None:
    path = folder / "event.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert check_document(path).exit_code == 0
    rebuild(log, read_json(path))


@pytest.mark.parametrize("seed", range(3))
def test_a_random_event(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    looked_at(tmp_path, *simulated(rng, rng.randint(4, 16), rounds=3))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 100 + EVENTS))
def test_many_random_events(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    looked_at(tmp_path, *simulated(rng, rng.randint(4, 80), rounds=rng.randint(1, 7)))


def test_the_largest_round_is_one_act() -> None:
    """1,024 at tables of two is the longest pairing there is, and 20 such rounds with all results fit into a log."""
    tables = tuple((first, first + 1) for first in range(65_535 - 1_024, 65_535, 2))
    act = Pair(20, tables, (), (9_999,) * 9, 60_000, Origin.EXTERNAL, "e" * 80, "r" * 200, (9_999,) * 9)
    data = CODECS[1].encode_move(act, terms())
    assert len(data) < MAX_BODY_BYTES // 2
    assert CODECS[1].decode_move(data, terms()) == act
    entered, each_round = 2 * MAX_ENTRANTS, len(tables) + 3
    assert entered + MAX_ROUNDS * 2 * each_round < MAX_ENTRIES


@pytest.mark.long
def test_an_event_of_many(tmp_path: Path) -> None:
    log = EventLog.new(terms(rounds=8, late_until=8, cut=16, cut_size=4, cut_advance=1), key("organiser"))
    simulation = Simulation(log, SEED, MANY, Chances(0.03, 0.05, 0.02, 0.02, 0.01, 0.02), 1)
    simulation.run()
    looked_at(tmp_path, log, simulation)
    assert log.state.knock_out[-1].tables
    assert all(each.vector[3] == 0 for each in log.state.played), "meetings again"


def test_a_file_that_was_cut_is_a_prefix(tmp_path: Path) -> None:
    log, _ = simulated(random.Random(1), 8, rounds=2)
    path = tmp_path / "cut.eventlog"
    path.write_bytes(log.file(SIGNER)[:-1_000])
    found = check_event(path, POLICY, None, POLICY)
    assert found.exit_code == Verdict.PREFIX
    assert found.verdict == "PREFIX"
