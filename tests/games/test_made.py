"""Objects that are made once are kept up to a bound: a referee may run for months."""

from __future__ import annotations

import gc
import pkgutil
from functools import _lru_cache_wrapper
from importlib import import_module
from typing import Any

import referee
from referee.games import values

FINITE = {
    "referee.cli.solver.prove.",
    "referee.games.kingdomino.kingdom.",
    "referee.games.kingdomino.check.",
    "referee.games.registry.",
    "referee.games.rollwrite.dice.",
    "referee.games.rollwrite.check.",
    "referee.log.header.",
    "referee.text.notation.grammar.",
    "referee.text.notation.questions.",
    "referee.text.notation.options.",
    "referee.text.report.text.",
    "referee.wire.kingdomino.",
}
"""Modules with functions that keep every result: of games, rules or dice, which are finite in number."""
NOT_LOADED = "referee.server.service.solver_worker"
"""By worker processes only."""


def caches() -> dict[str, _lru_cache_wrapper[Any]]:
    """Return every cache of the program."""
    for module in pkgutil.walk_packages(referee.__path__, "referee."):
        if module.name != NOT_LOADED:
            import_module(module.name)
    gc.unfreeze()  # what was there when tests were collected is set apart, and not listed
    found: list[Any] = gc.get_objects()
    gc.freeze()
    every = [thing for thing in found if isinstance(thing, _lru_cache_wrapper)]
    return {f"{cache.__module__}.{cache.__qualname__}": cache for cache in every if cache.__module__[:8] == "referee."}


def test_every_cache_has_a_bound() -> None:
    every = caches()
    assert len(every) > len(FINITE)
    for name, cache in every.items():
        bound = cache.cache_info().maxsize
        if bound is None:
            assert any(name.startswith(module) for module in FINITE), f"{name} keeps whatever it is asked for"
        else:
            assert bound <= values.KEPT, name


def test_what_was_not_used_for_longest_is_let_go() -> None:
    square = values.made(lambda number: number**2)
    before = values.kept()
    assert [square(number) for number in range(values.KEPT + 10)] == [number**2 for number in range(values.KEPT + 10)]
    assert values.kept() == before + values.KEPT
    assert square(12_345) is square(12_345)
