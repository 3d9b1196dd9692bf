"""The targets of ``make fuzz``, without coverage: seeds, earlier findings, and some hundred mutations of these."""

from __future__ import annotations

import random
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.log import file
from tests.fuzz import seeds
from tests.fuzz.targets import TARGETS, inputs, mended

_MUTATIONS = {"audit": 60, "notation": 30, "positions": 100, "boards": 100}
"""Mutations of the slow targets; the others have 300."""


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_findings(name: str) -> None:
    assert inputs(name)
    for data in inputs(name):
        TARGETS[name].run(data)


def mutated(rng: random.Random, starts: list[bytes]) -> bytes:
    """One of the inputs with some bytes changed, cut out, doubled or taken from another."""
    data = bytearray(rng.choice(starts))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((1, 1, 2, 4, 9, 40)))
        match rng.randrange(5):
            case 0:
                data[at:to] = rng.randbytes(to - at)
            case 1:
                del data[at:to]
            case 2:
                data[at:at] = data[at:to]
            case 3:
                other = rng.choice(starts)
                data[at:to] = other[at % (len(other) + 1) :][: to - at]
            case _:
                data[at:at] = rng.choice((b"\0", b"\xff", b"\x80\x80\x01", b"\n", b'"', b"{", b"[", b"9" * 20))
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations(name: str) -> None:
    starts, rng = inputs(name), random.Random(name)
    for _ in range(_MUTATIONS.get(name, 300)):
        data = mutated(rng, starts)
        try:
            TARGETS[name].run(data)
        except Exception as error:
            raise AssertionError(f"{name} on {data!r}") from error


@pytest.mark.parametrize("name", TARGETS)
@given(st.binary(max_size=300))
@settings(max_examples=30)
def test_anything(name: str, data: bytes) -> None:
    TARGETS[name].run(data)


def test_checksums_are_mended() -> None:
    """So that the layers behind them are reached: any byte of a payload may be another."""
    for start in inputs("frames")[:3]:
        assert mended(start) == start
        damaged = bytearray(start)
        damaged[20] ^= 1
        assert mended(bytes(damaged)) not in (start, bytes(damaged))
        assert len(list(file.read(BytesIO(mended(bytes(damaged)))))) == len(list(file.read(BytesIO(start))))


def test_what_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The referee's games are unknown: its file would be a finding."""
    monkeypatch.setattr(seeds, "signed_games", frozenset)
    with pytest.raises(AssertionError):
        TARGETS["audit"].run(inputs("audit")[0])
