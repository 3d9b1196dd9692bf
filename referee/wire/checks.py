"""Checks of a message's values, as strict decode puts them together for each type. Knows no type, and no schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from google.protobuf.message import Message

Check = Callable[[Message], bool]
"""Return whether the values are right."""


def every(checks: Sequence[Check]) -> Check | None:
    """Return one check for all of these; None for none."""
    if len(checks) <= 1:
        return checks[0] if checks else None

    def check_all(message: Message) -> bool:
        for check in checks:  # noqa: SIM110 - a generator costs more than most checks
            if not check(message):
                return False
        return True

    return check_all


def on_elements(name: str, check: Check) -> Check:
    """Check every element of a repeated field."""

    def check_elements(message: Message) -> bool:
        for element in getattr(message, name):  # noqa: SIM110 - as above
            if not check(element):
                return False
        return True

    return check_elements


def on_submessage(name: str, check: Check) -> Check:
    """Check what a field holds, if it is set."""
    return lambda message: not message.HasField(name) or check(getattr(message, name))


def on_member(which: Callable[[Message, str], str | None], oneof: str, checks: dict[str, Check]) -> Check:
    """Check the member that is set, if it is one of these. ``which``: the type's own ``WhichOneof``."""

    def check_member(message: Message) -> bool:
        name = which(message, oneof)
        if name is None or (check := checks.get(name)) is None:
            return True
        return check(getattr(message, name))

    return check_member


def is_in(name: str, numbers: frozenset[int]) -> Check:
    """Return a check that a field has one of these numbers."""
    return lambda message: getattr(message, name) in numbers


def all_in(name: str, numbers: frozenset[int]) -> Check:
    """Return a check that every element of a repeated field is one of these numbers."""
    return lambda message: numbers.issuperset(getattr(message, name))


def at_most(name: str, most: int) -> Check:
    """Return a check that a repeated field has no more elements than this."""
    return lambda message: len(getattr(message, name)) <= most
