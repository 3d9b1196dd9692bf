"""The verifier in JavaScript, written from the documents, says of events what ``referee event check`` says."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.log.events import Moved
from referee.log.verdict import Policy
from referee.tournament.check import check_event
from referee.tournament.log import EventLog
from referee.tournament.organiser import draw
from referee.tournament.rebuild import read_again
from referee.tournament.rules import State
from referee.tournament.rules.acts import Act, Award, CheckIn, CloseEntries, CloseRound, Enter, Result, Withdraw
from referee.tournament.rules.position import share_commitment
from referee.tournament.rules.scoring import standings_hash
from referee.tournament.wire import CODECS
from tests.core import needs_source
from tests.log.games import SIGNER, key
from tests.log.verifier import node, verify
from tests.log.verify_js import why_not
from tests.tournament import faults
from tests.tournament.check import with_games
from tests.tournament.rules.stages import RULES, SEED, terms
from tests.tournament.simulation import simulated
from tests.tournament.verify_js import written

EVENTS = int(os.environ.get("EVENTS", "40"))
"""In ``make test-long``."""
FROZEN = Path(__file__).parents[1] / "frozen"
POLICY = Policy(verifier=SIGNER.verifier)
CODEC = CODECS[1]
UNCHECKED = {"EVT-P8"}
"""Rules that the verifier does not check."""


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


def reports(paths: Sequence[Path], key: str = str(SIGNER.verifier)) -> list[dict[str, Any]]:
    """Return the command's reports on the files."""
    done = verify(*paths, "--key", key, "--json")
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def agree(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the reports. Fails unless verdict and entry are those of ``referee event check``."""
    found = reports(paths)
    for path, theirs in zip(paths, found, strict=True):
        ours = check_event(path, POLICY, None, POLICY)
        decisive = ours.audit.decisive
        entry = decisive.entry if decisive and not decisive.is_shortfall else None
        assert (theirs["verdict"], theirs["exit"], theirs["entry"]) == (ours.verdict, ours.exit_code, entry), path
        assert all(f"({rule}: " in ours.broken for rule in theirs.get("broken", ()))
    return found


# --- every rule --------------------------------------------------------------------------------------------------


@contextmanager
def recording() -> Iterator[dict[int, tuple[State, list[Act]]]]:
    """By the id of a state, the state and the acts that made it."""
    made: dict[int, tuple[State, list[Act]]] = {}
    apply, copy = State.apply, State.copy

    def recorded(state: State, act: Act) -> None:
        made.setdefault(id(state), (state, []))[1].append(act)
        apply(state, act)

    def copied(state: State) -> State:
        other = copy(state)
        made[id(other)] = (other, [*made.get(id(state), (state, []))[1]])
        return other

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(State, "apply", recorded)
        patch.setattr(State, "copy", copied)
        yield made


def encoded(act: Act, state: State) -> str:
    return CODEC.encode_move(act, state.terms).hex()


class Asked:
    """Events at moments, with acts that may follow, and what the engine says of them."""

    def __init__(self) -> None:
        self.questions: list[dict[str, object]] = []
        self.expected: list[tuple[str, list[set[str]]]] = []

    def add(self, state: State, acts: Sequence[Act], asked: Sequence[Act]) -> None:
        """``acts``: what made the state."""
        question: dict[str, object] = {
            "terms": CODEC.encode_components(state.terms).hex(),
            "acts": [encoded(act, state) for act in acts],
            "asked": [encoded(act, state) for act in asked],
        }
        self.questions.append(question)
        self.expected.append((state.digest().hex(), [{each.rule_id for each in state.check(act)} for act in asked]))

    def compare(self) -> list[list[set[str]]]:
        """Which rules the verifier names. Fails unless they are those of the engine, but for what it does not check."""
        found = node().ask("events", questions=self.questions)
        for question, (digest, ours), theirs in zip(self.questions, self.expected, found, strict=True):
            assert theirs["digest"] == digest, question
            assert [set(rules) for rules in theirs["broken"]] == [rules - UNCHECKED for rules in ours], question
        return [[set(rules) for rules in each["broken"]] for each in found]


@needs_source
def test_every_constraint_is_broken_by_the_same_acts() -> None:
    """The cases of the register: an act that breaks a rule, and one like it that does not."""
    asked = Asked()
    for _, case in RULES.broken:
        with recording() as made:
            broken = case()
            _, acts = made.get(id(broken.state), (None, []))
        asked.add(broken.state, acts, [act for act in (broken.event, broken.legal) if act is not None])
    named = {rule for rules in asked.compare() for each in rules for rule in each}
    assert {rule for rule, _ in RULES.broken} - named == UNCHECKED


def strange(rng: random.Random, state: State, others: Sequence[Act]) -> Iterator[Act]:
    """Yield acts that may follow or not: those of other moments, some of them with something else in them."""
    for act in rng.sample(others, min(12, len(others))):
        yield act
        changed: dict[str, Any] = {}
        for name, value in vars(act).items():
            if rng.random() < 0.5:
                continue
            match value:
                case bool():
                    changed[name] = not value
                case int() if name != "origin":
                    changed[name] = max(0, value + rng.choice((-1, 1, 2)))
                case tuple() if value and isinstance(value[0], int):
                    changed[name] = tuple(rng.sample(value, len(value)))
                case tuple() if value:
                    rows = [list(row) for row in value]
                    one, other = rng.choice(rows), rng.choice(rows)
                    one[0], other[-1] = other[-1], one[0]
                    changed[name] = tuple(tuple(row) for row in rows)
                case Result():
                    changed[name] = replace(value, places=tuple(rng.choices(range(4), k=len(value.places))))
        yield replace(act, **changed)
    if state.rounds:
        newest = state.rounds[-1]
        yield CloseRound(newest.number, standings_hash(state))
        yield Award(newest.number, rng.choice(list(state.entrants)), rng.randrange(1_000_000), rng.choice(("", "why")))


def asked_at_random(asked: Asked, seed: int, players: int, moments: int) -> None:
    """Strange acts at some moments of a random event."""
    rng = random.Random(seed)
    log, _ = simulated(rng, players, 3)
    moves = [each for each in read_again(log) if isinstance(each.event, Moved)]
    acts: list[Act] = [each.event.move for each in moves if isinstance(each.event, Moved)]
    for at in sorted(rng.sample(range(len(moves)), min(moments, len(moves)))):
        state = moves[at].after
        assert isinstance(state, State)
        asked.add(state, acts[: at + 1], list(strange(rng, state, acts)))


def test_strange_acts_break_the_same_rules() -> None:
    asked = Asked()
    asked_at_random(asked, 1, 9, moments=8)
    assert len({rule for rules in asked.compare() for each in rules for rule in each}) > 5


@pytest.mark.long
def test_many_strange_acts_break_the_same_rules() -> None:
    asked = Asked()
    for seed in range(2, 2 + EVENTS // 4):
        asked_at_random(asked, seed, 4 + seed % 20, moments=20)
    assert len({rule for rules in asked.compare() for each in rules for rule in each}) > 20


# --- files -------------------------------------------------------------------------------------------------------


def test_frozen_events() -> None:
    """Planned, by hand and by other programs, with byes, with a knock-out: as they were once written."""
    files = sorted(FROZEN.glob("event-*.eventlog"))
    assert len(files) > 4
    found = reports(files, (FROZEN / "referee.vkey").read_text().strip())
    assert {each["verdict"] for each in found} == {"COMPLETE"}


def with_shares(path: Path) -> Path:
    """An event whose lots come from shares of entrants, too; one is never opened. An arbiter signs its last act."""
    log = EventLog.new(terms(), key("organiser"), arbiters=[key("arbiter").public.raw])
    shares = {number: bytes([number]) * 32 for number in range(1, 5)}
    for number, share in shares.items():
        log.enter(Enter(number))
        log.enter(CheckIn(number, share_commitment(number, share)))
    del shares[3]
    draw(log, SEED, shares)
    log.key = key("arbiter")
    log.enter(Withdraw(4))
    path.write_bytes(log.file(SIGNER))
    return path


def test_whole_events(tmp_path: Path) -> None:
    """Random ones, one with shares of the draw, one with games, and one of which nothing but the beginning is there."""
    log = EventLog.new(terms(), key("organiser"))
    log.enter(CloseEntries())
    begun = tmp_path / "begun.eventlog"
    begun.write_bytes(log.file(SIGNER))
    random_ones = [written(tmp_path, seed, 4 + 3 * seed, rounds=3) for seed in range(4)]
    files = [*random_ones, with_shares(tmp_path / "shares.eventlog"), with_games(tmp_path / "games"), begun]
    found = agree(files)
    assert [each["verdict"] for each in found] == ["COMPLETE"] * 4 + ["PREFIX", "COMPLETE", "PREFIX"]
    assert all("EVT-P8" in each["remarks"][0] for each in found)
    assert found[-2]["remarks"][1].startswith("2 results: 0 by sheet")
    (acts,) = [line for line in check_event(files[4], POLICY, None, POLICY).lines() if line.startswith("acts: ")]
    assert found[4]["remarks"][2] == acts
    assert acts.endswith(" by the organiser, 1 by arbiter 1")


@needs_source
def test_planted_faults_are_named(tmp_path: Path) -> None:
    files = {}
    for name, planted in faults.PLANTED.items():
        (tmp_path / name).mkdir()
        files[name] = planted.file(tmp_path / name)
    unchecked = [name for name, planted in faults.PLANTED.items() if planted.rule in UNCHECKED]
    checked = [name for name in files if name not in unchecked]
    for name, found in zip(checked, agree([files[name] for name in checked]), strict=True):
        assert faults.PLANTED[name].rule in found["broken"], name
        assert found["entry"] is not None
    # That two are in each other's place is not seen, only that they sit there on seats that others should have.
    assert [each["broken"] for each in reports([files[name] for name in unchecked])] == [["EVT-O1"]]


def test_damage(tmp_path: Path) -> None:
    """Cut, or one bit in another place: what is damaged says nothing of rules."""
    data, rng = written(tmp_path, 1, 9, rounds=2).read_bytes(), random.Random(3)
    files = []
    for number in range(12):
        at = rng.randrange(len(data))
        changed = data[:at] + (b"" if number < 4 else bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
        files.append(tmp_path / f"changed-{number}.eventlog")
        files[-1].write_bytes(changed)
    assert {each["verdict"] for each in agree(files)} == {"CORRUPT", "PREFIX"}


@needs_source
def test_an_unknown_key_hides_no_broken_rule(tmp_path: Path) -> None:
    path = faults.PLANTED["a-wrong-fraction"].file(tmp_path)
    assert check_event(path, Policy(), None, POLICY).verdict == "STANDINGS"
    done = verify(path)
    assert (done.returncode, done.stdout.split()[0]) == (12, "STANDINGS")
    assert "the standings are not those of the log (EVT-S14)" in done.stdout


@pytest.mark.long
def test_many_events(tmp_path: Path) -> None:
    rng = random.Random(5)
    files = [written(tmp_path, seed, rng.randint(4, 40), rng.randint(1, 6)) for seed in range(500, 500 + EVENTS // 4)]
    assert {each["verdict"] for each in reports(files)} == {"COMPLETE"}
