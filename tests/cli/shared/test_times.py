"""Times and clocks as people write them."""

from __future__ import annotations

import pytest

from referee.log.terms import MAX_BUDGET_MS
from referee.log.v1 import log_pb2
from referee.text.notation.times import in_words
from referee.text.notation.violations import BadWord
from referee_clients.sdk.opening import clock, milliseconds, terms


@pytest.mark.parametrize(
    ("text", "ms"),
    [("90s", 90_000), ("5m", 300_000), ("1h30m", 5_400_000), ("500ms", 500), ("2d", 172_800_000), ("1m0s5ms", 60_005)],
)
def test_times(text: str, ms: int) -> None:
    assert milliseconds("time", text) == ms
    assert milliseconds("time", in_words(ms)) == ms


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-5m", "5m1h", "1.5h", "５m", "5M", "1s1s"])
def test_no_times(text: str) -> None:
    with pytest.raises(BadWord, match=r"--time .*: expected a time such as 90s"):
        milliseconds("time", text)


def test_too_long() -> None:
    assert milliseconds("time", "30d") == MAX_BUDGET_MS
    with pytest.raises(BadWord, match="expected at most 30d"):
        milliseconds("time", "31d")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10m+5s", log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=600_000, increment_ms=5_000))),
        ("10m+0s", log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=600_000))),
        ("30s/move", log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=30_000))),
        ("10m d3s", log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=600_000, delay_ms=3_000))),
        ("3d/move", log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=3))),
        ("1d12h/move", log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=129_600_000))),
    ],
)
def test_clocks(text: str, expected: log_pb2.ClockTerms) -> None:
    assert clock("clock", text) == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("5m", "5m+0s"),
        ("5m + 3s", "5m+3s"),
        ("5:00+3", "5m+3s"),
        ("5:00 + 3s", "5m+3s"),
        ("90:00", "1h30m+0s"),
        ("1:30:00+30", "1h30m+30s"),
        ("0:30/move", "30s/move"),
        ("10:00  d3", "10m d3s"),
    ],
)
def test_clocks_as_people_also_write_them(text: str, same: str) -> None:
    assert clock("clock", text) == clock("clock", same)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10",
        "10+5",
        "10m+5",
        "5:60",
        "5:0+3",
        "10:00+",
        "10m+",
        "+5s",
        "10m+5s+5s",
        "30s/turn",
        "/move",
        "10m d",
        "d3s",
    ],
)
def test_no_clocks(text: str) -> None:
    with pytest.raises(BadWord, match=r"expected BASE \(10m\), BASE\+MORE"):
        clock("clock", text)


def test_terms() -> None:
    made = terms("10m+5s", "500ms", ["strikes:3", "penalty:30s"], "2m", True, "10m")
    assert made == log_pb2.Terms(
        clock=log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=600_000, increment_ms=5_000), lag_ms=500),
        illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED,
        strikes=3,
        penalty_ms=30_000,
        absence_ms=120_000,
        take_backs=True,
        protest_ms=600_000,
    )
    assert (
        terms(None, None, [], None, False, None) == terms(None, None, ["retry"], None, False, None) == log_pb2.Terms()
    )
    assert terms(None, None, ["record"], None, False, None).illegal_moves
    assert terms(None, None, ["forfeit"], None, False, None).strikes == 1


@pytest.mark.parametrize(
    "word", ["", "strike", "strikes", "strikes:0", "strikes:100", "strikes:x", "penalty", "retry:1"]
)
def test_no_terms(word: str) -> None:
    with pytest.raises(BadWord, match="expected retry, record, strikes:N, penalty:TIME or forfeit"):
        terms(None, None, [word], None, False, None)


def test_times_of_nothing() -> None:
    for at, option in enumerate(("--absence", "--protest-time")):
        with pytest.raises(BadWord, match=f"{option} 0s: expected more than zero"):
            terms(None, None, [], "0s" if at == 0 else None, False, "0s" if at else None)
    with pytest.raises(BadWord, match="--lag is an allowance on the clock; expected a clock"):
        terms(None, "1s", [], None, False, None)
