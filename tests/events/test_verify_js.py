"""The verifier in JavaScript, written from the documents, says of events what ``referee event check`` says."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.events.check import check_event
from referee.events.log import EventLog
from referee.events.organiser import draw
from referee.games.event import State
from referee.games.event.acts import Act, CheckIn, CloseEntries, Enter
from referee.games.event.position import share_commitment
from referee.log.audit import Policy
from referee.wire.event import CODECS
from tests.core import needs_source
from tests.events import faults
from tests.events.test_check import with_games
from tests.events.test_simulated import simulated
from tests.games import test_event_constraints, test_event_scoring
from tests.games.event_rules import RULES, SEED, terms
from tests.log.games import SIGNER, key
from tests.log.verify_js import FOLDER, node, why_not

EVENTS = int(os.environ.get("EVENTS", "40"))
"""In ``make test-long``."""
POLICY = Policy(verifier=SIGNER.verifier)
CODEC = CODECS[1]
UNCHECKED = {"EVT-P8"}
"""What the verifier does not look at."""
REGISTERED = (test_event_constraints, test_event_scoring)
"""The tests of the rules, which have entered themselves in the register."""

# Reads an event a line: its terms, its acts, and acts that may follow; writes the digest and which rules those break.
_EVENTS = """
import { createInterface } from "node:readline";
const { fromHex, hex } = await import(`${FOLDER}/bytes.mjs`);
const { EVENT_MESSAGES: { move, tables } } = await import(`${FOLDER}/event_schema.mjs`);
const { EventState } = await import(`${FOLDER}/event_state.mjs`);
const { brokenBy } = await import(`${FOLDER}/event_rules.mjs`);
const { decodeBody } = await import(`${FOLDER}/wire.mjs`);
const read = (schema, digits) => decodeBody(schema, fromHex(digits));
for await (const line of createInterface({ input: process.stdin })) {
  const { terms, acts, asked } = JSON.parse(line);
  const event = new EventState(read(tables, terms));
  for (const act of acts) await event.apply(read(move, act));
  const broken = [];
  for (const act of asked) broken.push((await brokenBy(event, read(move, act))).map(([rule]) => rule));
  console.log(JSON.stringify({ digest: hex(await event.digest()), broken }));
}
"""


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


def reports(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What the command says of the files."""
    command = ["node", str(FOLDER / "verify.mjs"), *map(str, paths), "--key", str(SIGNER.verifier), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def agree(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The reports. Fails unless verdict and entry are those of ``referee event check``."""
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


@needs_source
def test_every_constraint_is_broken_by_the_same_acts() -> None:
    """The cases of the register: an act that breaks a rule, and one like it that does not."""
    lines, expected, names = [], [], []
    for rule, case in RULES.broken:
        with recording() as made:
            broken = case()
            _, acts = made.get(id(broken.state), (None, []))
        state = broken.state
        asked = [act for act in (broken.event, broken.legal) if act is not None]
        lines.append(
            json.dumps(
                {
                    "terms": CODEC.encode_components(state.terms).hex(),
                    "acts": [encoded(act, state) for act in acts],
                    "asked": [encoded(act, state) for act in asked],
                }
            )
        )
        expected.append((state.digest().hex(), [{each.rule_id for each in state.check(act)} for act in asked]))
        names.append((rule, case.__name__))
    found = [json.loads(line) for line in node(_EVENTS, "\n".join(lines)).splitlines()]
    for name, (digest, ours), theirs in zip(names, expected, found, strict=True):
        assert theirs["digest"] == digest, name
        assert [set(rules) for rules in theirs["broken"]] == [rules - UNCHECKED for rules in ours], name
    assert {rule for rule, _ in names} - {
        rule for each in found for rules in each["broken"] for rule in rules
    } == UNCHECKED


# --- files -------------------------------------------------------------------------------------------------------


def written(folder: Path, seed: int, players: int, rounds: int) -> Path:
    log, _ = simulated(random.Random(seed), players, rounds)
    path = folder / f"{seed}.eventlog"
    path.write_bytes(log.file(SIGNER))
    return path


def with_shares(path: Path) -> Path:
    """An event whose lots come from shares of entrants, too; one of them is never opened."""
    log = EventLog.new(terms(), key("organiser"))
    shares = {number: bytes([number]) * 32 for number in range(1, 5)}
    for number, share in shares.items():
        log.enter(Enter(number))
        log.enter(CheckIn(number, share_commitment(number, share)))
    del shares[3]
    draw(log, SEED, shares)
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


@needs_source
@pytest.mark.parametrize("name", sorted(faults.PLANTED))
def test_a_planted_fault_is_named(name: str, tmp_path: Path) -> None:
    planted = faults.PLANTED[name]
    path = planted.file(tmp_path)
    if planted.rule in UNCHECKED:
        # The two are not seen to be in each other's place, only that they sit there on seats that others should have.
        assert reports([path])[0]["broken"] == ["EVT-O1"]
        return
    (found,) = agree([path])
    assert planted.rule in found["broken"]
    assert reports([path])[0]["entry"] is not None


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
    command = ["node", str(FOLDER / "verify.mjs"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (12, "STANDINGS")
    assert "the standings are not those of the log (EVT-S14)" in done.stdout


@pytest.mark.long
def test_many_events(tmp_path: Path) -> None:
    rng = random.Random(5)
    files = [written(tmp_path, seed, rng.randint(4, 60), rng.randint(1, 6)) for seed in range(500, 500 + EVENTS)]
    assert {each["verdict"] for each in reports(files)} == {"COMPLETE"}
