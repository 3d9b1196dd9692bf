"""Open calls for an arbiter: one of each caller, not too often, short and on one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.server.live.docket import AGAIN_MS, MAX_TEXT, Calls, Official, Who
from referee.server.live.refusals import BadField, LimitReached, NotAwaited

WHO: st.SearchStrategy[Who] = st.one_of(st.integers(0, 1), st.sampled_from(Official))
STEPS: Any = st.one_of(
    st.tuples(st.just("call"), WHO, st.sampled_from("ab"), st.integers(0, 2 * AGAIN_MS)),
    st.tuples(st.just("answer"), st.integers(0, 6)),
)


@given(st.lists(STEPS, max_size=30))
def test_what_is_open_at_random(steps: list[Any]) -> None:
    """Against a model: who has an open call, and when each called last."""
    calls, now_ms = Calls(), 1_000_000
    waits: dict[Who, tuple[int, str]] = {}
    last: dict[Who, int] = {}
    for step in steps:
        if step[0] == "answer":
            known = {number: who for who, (number, _) in waits.items()}
            assert calls.answer(step[1]) == (step[1] in known)
            if step[1] in known:
                del waits[known[step[1]]]
        else:
            _, who, text, later = step
            now_ms += later
            if who in waits and waits[who][1] != text:
                with pytest.raises(NotAwaited, match="is still open"):
                    calls.add(who, text, now_ms)
            elif who in waits:
                assert calls.add(who, text, now_ms).number == waits[who][0]
            elif who in last and now_ms - last[who] < AGAIN_MS:
                with pytest.raises(LimitReached) as found:
                    calls.add(who, text, now_ms)
                assert found.value.retry_s == (last[who] + AGAIN_MS - now_ms) / 1000
            else:
                waits[who], last[who] = (calls.add(who, text, now_ms).number, text), now_ms
        assert {call.who: (call.number, call.text) for call in calls.open} == waits
        assert [call.number for call in calls.open] == sorted(number for number, _ in waits.values())


def test_a_clock_that_was_set_back_holds_nobody_up() -> None:
    calls = Calls()
    assert calls.answer(calls.add(0, "one", 10 * AGAIN_MS).number)
    assert calls.add(0, "two", 0).since_ms == 0


@pytest.mark.parametrize("text", ["", " ", "a\nb", "\x1b[2J", "w" * (MAX_TEXT + 1)])
def test_what_is_no_text_of_a_call(text: str) -> None:
    with pytest.raises(BadField, match="1 to 200 printable characters on one line"):
        Calls().add(0, text, 0)
    assert Calls().add(0, "w" * MAX_TEXT, 0).text == "w" * MAX_TEXT
