"""The structure of the source: no import goes round in a circle, not even one that only type checkers follow."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

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
    assert {"referee.log.audit", "referee_solver.z3run", "referee_clients.match.course"} <= imports.keys()
    assert circle(imports) == []


def test_a_circle_is_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})) == {"a", "b", "c"}


STARTS = {
    "Popen",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "fork",
    "forkpty",
    "killpg",
    "multiprocessing",
    "pidfd_open",
    "posix_spawn",
    "prctl",
    "spawnv",
    "subprocess_exec",
    "system",
}
ALONE = {
    # A bot is a copy of this process: what a fork needs is no business of those that start programs.
    "clients/referee_clients/bots/fork.py": {"fork"},
}


def starts(source: str) -> set[str]:
    """The names in a source by whose calls processes are started, bound or ended as groups."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) | ast.Attribute(attr="prctl" as name):
                found.add(name)
            case ast.Import(names=names):
                found |= {name.name.partition(".")[0] for name in names}
            case ast.ImportFrom(module="multiprocessing"):
                found.add("multiprocessing")
    return found & STARTS


def test_one_place_starts_processes() -> None:
    places = [*Path("referee").rglob("*.py"), *Path("clients/referee_clients").rglob("*.py")]
    assert starts(Path("referee/process/child.py").read_text()) == {"Popen", "subprocess_exec", "pidfd_open"}
    found = {
        str(path): names - ALONE.get(str(path), set())
        for path in places
        if "process" not in path.parts and (names := starts(path.read_text()))
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_a_start_is_found() -> None:
    assert starts("process: subprocess.Popen[bytes] = subprocess.Popen(['ls'])") == {"Popen"}
    assert starts("ctypes.CDLL(None).prctl(1, 9)") == {"prctl"}
    assert starts("process: subprocess.Popen[bytes] = popen(['ls'])") == set()
    assert starts("import os\nos.fork()") == {"fork"}
    assert starts("from multiprocessing import get_context") == {"multiprocessing"}
