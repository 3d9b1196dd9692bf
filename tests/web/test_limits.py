"""How much one address may ask for, whatever others ask for."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee_clients.web.limits import Limits, address_of, counted
from referee_clients.web.refusals import Refusal


class Clock:
    """A clock that advances on command."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def asks(limits: Limits, who: str) -> Refusal | None:
    try:
        limits.request(who)
    except Refusal as refusal:
        return refusal
    return None


STEPS = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 40).map(lambda twentieths: twentieths / 20)), max_size=200
)


@given(STEPS, st.integers(1, 20))
def test_every_address_has_a_bucket_of_its_own(steps: list[tuple[str, float]], rate: int) -> None:
    """It holds a second's requests and fills at the rate: no address gets more, and none less."""
    clock = Clock()
    limits = Limits(requests_per_s=rate, now=clock)
    left = {"a": float(rate), "b": float(rate)}
    for who, wait_s in steps:
        clock.now_s += wait_s / rate
        left = {name: min(rate, tokens + wait_s) for name, tokens in left.items()}
        is_passed = asks(limits, who) is None
        if abs(left[who] - 1) > 1e-6:
            assert is_passed == (left[who] > 1)
        left[who] -= is_passed


@given(st.integers(1, 100), st.integers(0, 300))
def test_retry_after_is_true(rate: int, more: int) -> None:
    clock = Clock()
    limits = Limits(requests_per_s=rate, now=clock)
    refusals = [asks(limits, "a") for _ in range(rate + more)]
    assert refusals[:rate] == [None] * rate
    assert None not in refusals[rate:]
    if more:
        refusal = refusals[-1]
        assert refusal is not None
        assert (refusal.status, refusal.reason, refusal.metadata) == (429, "LIMIT", {"limit": "requests"})
        assert refusal.retry_after is not None
        clock.now_s += refusal.retry_after
        assert asks(limits, "a") is None


@given(st.integers(1, 60))
def test_what_others_ask_for_costs_nothing(floods: int) -> None:
    limits = Limits(requests_per_s=50, now=Clock())
    for _ in range(50 + floods):
        asks(limits, "flood")
    assert asks(limits, "a") is None


@given(st.lists(st.integers(0, 300), max_size=400), st.integers(1, 50))
def test_only_so_many_addresses_are_remembered(who: list[int], most: int) -> None:
    limits = Limits(addresses=most, now=Clock())
    for number in who:
        asks(limits, str(number))
        assert len(limits) <= most


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=100))
def test_streams_are_counted_for_each_address_and_in_all(steps: list[tuple[str, bool]]) -> None:
    limits, opened = Limits(streams_each=3, streams=6, addresses=1, now=Clock()), list[tuple[str, ExitStack]]()
    for who, is_opened in steps:
        own = [stack for name, stack in opened if name == who]
        if is_opened:
            stack = ExitStack()
            if len(own) == 3 or len(opened) == 6:
                with pytest.raises(Refusal, match="Try again"):
                    stack.enter_context(limits.stream(who))
            else:
                stack.enter_context(limits.stream(who))
                opened.append((who, stack))
        elif own:
            opened.remove((who, own[0]))
            own[0].close()
        assert limits.streams == len(opened)
    for _, stack in opened:
        stack.close()
    assert limits.streams == 0
    assert len(limits) <= 1


def test_a_bucket_does_not_begin_anew_while_a_stream_is_open() -> None:
    limits = Limits(requests_per_s=2, addresses=1, now=Clock())
    with limits.stream("a"):
        assert [asks(limits, "a") is None for _ in range(3)] == [True, True, False]
        asks(limits, "b")
        asks(limits, "c")
        assert asks(limits, "a") is not None


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "who"),
    [
        ("192.0.2.1", [], [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], ["192.0.2.2"], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], ["192.0.2.1"], "198.51.100.7"),
        ("192.0.2.1", ["203.0.113.9, 198.51.100.7"], ["192.0.2.1"], "198.51.100.7"),
        ("192.0.2.1", ["203.0.113.9", "198.51.100.7"], ["192.0.2.1"], "198.51.100.7"),
        ("192.0.2.1", ["203.0.113.9, 192.0.2.77"], ["192.0.2.0/24"], "203.0.113.9"),
        ("192.0.2.1", ["nonsense"], ["192.0.2.1"], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7:4711"], ["192.0.2.1"], "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", [], [], "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", [], [], "192.0.2.1"),
        ("fe80::1%eth0", [], [], "fe80::/64"),
        ("::1", ["[2001:db8::5]:443"], ["::1"], "2001:db8::/64"),
        ("", [], [], "local"),
    ],
)
def test_who_is_counted(peer: str, forwarded: list[str], trusted: list[str], who: str) -> None:
    assert counted(address_of(peer, forwarded, trusted)) == who


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_no_header_breaks_it(peer: str, forwarded: list[str]) -> None:
    assert counted(address_of(peer, forwarded, ["192.0.2.1", "::/0"]))
