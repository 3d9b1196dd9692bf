"""Typed and scanned input: numbers, points, and the codes on slips."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.game import InputError
from referee.tournament.input import numbers, parts, scanned, slip_code, tables_of


@given(
    st.integers(10**6, 2**63 - 1), st.integers(1, 999), st.integers(1, 9999), st.sampled_from(["", "https://a.b/c/"])
)
def test_a_slips_code_is_read_as_it_was_written(event: int, round_: int, table: int, web: str) -> None:
    assert scanned(slip_code(event, round_, table, web)) == (event, round_, table)


@given(st.text())
def test_other_text_is_no_code(text: str) -> None:
    assert scanned(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "4 2 1",
        "4 2,1,3,3",
        "https://",
        "https://club.example/event/12",
        "https://club.example/event/12?round=1&table=x",
        "https://club.example/event/٣?round=1&table=1",
        "http://[/event/1?round=1&table=1",
        "ftp://club.example/event/12?round=1&table=1",
    ],
)
def test_what_is_no_code(text: str) -> None:
    assert scanned(text) is None


def test_numbers() -> None:
    assert numbers("x", "4,3") == numbers("x", " 4  3 ") == numbers("x", "4, 3") == (4, 3)
    for wrong in ("", ",", "4,,3", "4;3", "four", "4.5", "-1", "1234567", "٣"):
        with pytest.raises(InputError, match=r"x: .* expected numbers with commas"):
            numbers("x", wrong)
    assert tables_of("x", "1,2; 3 4") == ((1, 2), (3, 4))
    assert [parts("x", word) for word in ("3", "2.5", "2.25", "5/3", "0")] == [180, 150, 135, 100, 0]
    for wrong in ("", "1/7", "1/0", "-1", "2.5.1", "1e3", "½"):
        with pytest.raises(InputError, match=r"x: .* expected points"):
            parts("x", wrong)
