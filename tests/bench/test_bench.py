"""The benches run, and find what they should: how fast is for those who run them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.bench import acts, shares

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


@pytest.mark.slow
def test_acts_and_their_floors() -> None:
    """In a process of its own: it is bound to one processor."""
    done = subprocess.run([sys.executable, "-c", _ACTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 4 + len(acts.NAMES)
    times = {name for name in found if "processor time" in name}
    assert len(times) == len(acts.NAMES)
    assert all(found[name] > 0 for name in set(found) - times), "of so few acts processor time may be nothing"
