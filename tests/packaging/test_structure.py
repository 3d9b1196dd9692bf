"""The structure of the source: no import goes round in a circle, not even one that only type checkers follow."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGES = ("referee", "referee_solver", "referee_clients")


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other, first and last the same; an empty list if there are none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_imports_in_a_circle() -> None:
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert {"referee.log.audit", "referee_solver.z3run", "referee_clients.match.arena"} <= imports.keys()
    assert circle(imports) == []


def test_a_circle_is_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})) == {"a", "b", "c"}
