"""The benches run, and find what they should: their speeds are for the people who run them."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from compiled_build import ROOT
from referee.games import registry
from tests.bench import acts, browser_audit, bulk, compiled, inspect, public_log, rules, shares, thinking, web
from tests.bench.measure import Figure
from tests.server.store.postgres import Postgres
from tests.sizes import GATE
from tests.web.conftest import BROWSERS
from tests.web.in_browser import lacking

_ACTS = """
import asyncio, json
from tests.bench import acts
print(json.dumps({figure.name: figure.value for figure in asyncio.run(acts.measured(1, rounds=1, times=2))}))
"""


def test_every_step_of_an_act_is_timed() -> None:
    steps = shares.Steps()
    shares.game(steps, 0)
    assert steps.acts == len(acts.script(0))
    assert set(steps.spent) == {"decode", "verify", "rules", "entry", "sign", "encode"}
    copies = shares.copies()
    assert copies.floor
    assert copies.value > 0


def test_figures_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every game has whole games with a target, and beside its figures what they are held against."""
    once: list[float] = []

    def rate(work: Callable[[], int]) -> float:
        once.append(work())
        return len(once)

    def against(name: str, work: Callable[[], int], bare: Callable[[], int], target: float) -> Figure:
        return Figure(name, work(), target, bare())

    monkeypatch.setattr(rules, "rate", rate)
    monkeypatch.setattr(rules, "against", against)
    found = list(rules.figures())
    assert min(once) > 0
    for rules_id in registry.names():
        own = [figure for figure in found if figure.name.startswith(f"{rules_id}: ")]
        assert "complete" in own[-1].name
        assert all(figure.target for figure in own)
    assert sum(figure.floor is not None for figure in found) >= 3 + len(registry.names())


@pytest.mark.long
def test_every_move_of_the_sampler_is_timed() -> None:
    found = list(thinking.figures(games=1))
    assert len(found) == 2 * len(registry.names())
    assert all(figure.value > 0 for figure in found)


def test_rules_are_measured_against_those_of_a_revision(tmp_path: Path) -> None:
    """With the same works, and each side with its own rules."""
    compiled.extract("HEAD", tmp_path, "referee")
    with (tmp_path / "referee" / "games" / "registry.py").open("a") as file:
        file.write("\n\ndef names():\n    return ('rollwrite',)\n")
    with ExitStack() as stack:
        then, now = (compiled.Worker(folder, stack) for folder in (tmp_path, ROOT))
        assert then.once(len(then.names) - 1) > 0
    assert then.names[-1] == now.names[-1]
    assert len(now.names) - len(then.names) == len(registry.names()) - 1


def test_a_revision_that_there_is_not_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no-such"):
        compiled.extract("no-such", tmp_path, "referee")


@GATE
def test_acts_and_their_floors() -> None:
    """In a process of its own: it is bound to one processor."""
    done = subprocess.run([sys.executable, "-c", _ACTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 4 + len(acts.NAMES)
    times = {name for name in found if "processor time" in name}
    assert len(times) == len(acts.NAMES)
    assert all(found[name] > 0 for name in set(found) - times), "of so few acts processor time may be nothing"


@pytest.mark.long
def test_acts_at_two_referees(postgres: Postgres) -> None:
    """In a process of its own, as the other acts; where there is PostgreSQL."""
    program = _ACTS.replace("acts.", "nodes.").replace("import acts", "import nodes")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("postgresql.measured(4, rounds=1, times=60, nodes=2)", 11),
        ("take_over.measured(rounds=1, entries=5, games=2, entries_each=5)", 11),
    ],
)
def test_acts_and_games_on_postgresql(call: str, count: int, postgres: Postgres) -> None:
    """Each in a process of its own, as the other acts; where there is PostgreSQL."""
    program = f"""
import asyncio
from tests.bench import postgresql, take_over
print(len(asyncio.run({call})))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == count


@pytest.mark.long
def test_acts_are_measured_against_a_referee_of_then() -> None:
    program = """
from pathlib import Path
from tempfile import TemporaryDirectory
import asyncio
from tests.bench import before
with TemporaryDirectory() as folder:
    before.lay_out("HEAD", Path(folder))
    faster, _ = asyncio.run(before.measured(Path(folder), 1, rounds=1, times=60))
    assert faster.value > 0 and faster.floor > 0
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@GATE
def test_questions_a_second() -> None:
    """Every question is answered, and as many are asked as are said to be."""
    asked = inspect.questions(25, 10).splitlines()
    layouts = [json.loads(line)["layout"] for line in asked]
    assert layouts[0] == layouts[9] != layouts[10] == layouts[19] != layouts[20]
    assert len(set(asked)) == len(asked) == 25
    several, one = inspect.figures(count=25, runs=1)
    assert several.value > 0
    assert one.value > 0


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_bulk_audits() -> None:
    """Isolated, in two processes, with a file that ends its process, on Dask."""
    found = list(bulk.figures(files=8, rounds=1))
    assert len(found) == 4
    assert all(figure.value > 0 and figure.target for figure in found)


@pytest.mark.long
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="there is no Chromium here")
@pytest.mark.skipif(bool(lacking()), reason="needs Pyodide: make web-rules")
def test_whole_audits_in_a_browser_are_timed() -> None:
    """Each of its own file; Python is not loaded again for the second."""
    spent = asyncio.run(browser_audit.audited())
    assert spent.first > spent.again > 0
    assert spent.next_day > 0


@pytest.mark.web
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="there is no Chromium here")
def test_taps_in_a_browser() -> None:
    spent, alone = asyncio.run(web.tap_to_verdict(3, warm_up=1))
    assert len(spent) == len(alone) == 3
    assert min(*spent, *alone) > 0


@pytest.mark.long
async def test_figures_of_a_public_log() -> None:
    """Both referees are measured, and a proof comes."""
    found = await public_log.measured(1, rounds=1, times=2, ends=1)
    assert len(found) == 3
    assert all(figure.value > 0 for figure in found)
