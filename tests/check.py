"""Test what the changed files can break: ``python -m tests.check [BASE]``, which ``make check`` runs.

Changed is what differs from where this branch left BASE (``main`` unless told; on ``main`` itself: what is not
committed), new files included. The graph of imports says which tests reach a changed module: the nearest run, as many
as a minute has room for, by what they cost in the last run. ``make test`` runs the rest.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import grimp

from tests.costs import KEPT

ROOT: Final = Path(__file__).resolve().parent.parent
BUDGET_S: Final = 75.0
"""Processor seconds; on two processors, with what it takes to start, less than a minute."""

_HOMES: Final = {"referee": "", "referee_solver": "solver/", "referee_clients": "clients/", "tests": ""}
"""Packages, and where they lie."""
_SOURCES: Final = ("referee", "solver", "clients", "proto")
_BUILD: Final = ("Makefile", "hatch_build.py", "compiled_build.py", "pyproject.toml", "LICENSE", ".gitignore")
_ALWAYS: Final = ("tests/frozen", "tests/transcripts", "tests/games/test_every_game.py")
"""Tests that most mistakes in the rules and in the log break, in seconds: for every change of source."""
_IN_JAVASCRIPT: Final = {
    "clients/js": ("tests.clients.javascript",),
    "clients/verify-js": ("tests.log.verify_js", "tests.tournament.verify_js"),
}
"""Sources that no Python imports, and the helpers of tests that run them."""
_PAGES: Final = ("clients/referee_clients/web", "clients/verify-js", "tests/web")
"""The folders that run in browsers: a change there needs the tier of the browser as well."""
_BY_NAME: Final = {
    "referee.games.registry": "referee.games",
    "referee.cli": "referee.cli",
    "referee.cli.bots.check": "referee_clients.bot_check.lint",
    "referee.server.service.adjudication": "referee.server.service.adjudication_worker",
    "referee.server.service.data": "referee.server.store",
    "referee.server.service.tournaments": "referee.server.service.tournament_worker",
    "referee.server.service.server": "referee.server.service.solver_worker",
    "referee.process.pool": "referee.process.worker",
    "referee_clients.web.positions_api": "referee_clients.web.judge",
    "tests.web.in_browser": "referee_clients.web.in_browser",
    "tests.web.test_serve_web": "referee_clients.terminal.demo.web",
}
"""Modules that import or start others by their names, and the package in which these are."""
_GAMES: Final = ("alhambra", "event", "kingdomino", "rollwrite")
_UNKNOWN_S: Final = 1.0
_KEPT_IN: Final = Path(".pytest_cache/v") / KEPT


@dataclass
class Plan:
    """The tests to run, in order, and those for which there was no room."""

    targets: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    with_browser: bool = False

    @property
    def words(self) -> list[str]:
        """Return the arguments of pytest."""
        return [*(["-m", "not long"] if self.with_browser else []), *self.targets]


def main(base: str = "main") -> int:
    """Run the tests. Return the exit code of pytest; 0 if nothing has changed."""
    plan = planned(changed(base), costs())
    if not plan.targets:
        print(f"No file that tests know differs from {base}.")
        return 0
    print("make test T='" + " ".join(plan.targets) + "'", flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "3", *plan.words]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if plan.left_out:
        print(f"{len(plan.left_out)} more files of tests reach the change from farther away; `make test` runs them.")
    return code


def changed(base: str) -> list[str]:
    """Return the paths, from the root of the repository, of files that differ, were added or are gone."""
    fork = _git("merge-base", base, "HEAD")[0]
    return [*_git("diff", "--name-only", fork), *_git("ls-files", "--others", "--exclude-standard")]


def costs() -> dict[str, float]:
    """Return the processor seconds of files of tests, as far as a run in this checkout has measured them."""
    try:
        found: dict[str, float] = json.loads((ROOT / _KEPT_IN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def planned(paths: Iterable[str], cost_s: Mapping[str, float], budget_s: float = BUDGET_S) -> Plan:
    """Return what these changes can break: all that is sure to, then the nearest, while the budget lasts."""
    paths = list(paths)
    plan, sure, modules = Plan(), set[str](), set[str]()
    for path in paths:
        sure.update(_sure(path))
        modules.update(_modules_of(path))
    if any(path.startswith(f"{pages}/") for path in paths for pages in _PAGES):
        plan.with_browser = True
        sure.add("tests/web")
    plan.targets = sorted(_within({target for target in sure if (ROOT / target).exists()}))
    words = set[str]().union(*map(_words, paths))
    distances = _distances(modules)
    reached = {_file_of(module): distance for module, distance in distances.items() if _is_test(module)}

    def nearness(file: str) -> tuple[int, float, str]:
        # Folders of tests mirror the source: a word that the paths share is worth an import.
        return reached[file] - len(words & _words(file)), cost_s.get(file, _UNKNOWN_S), file

    spent_s = 0.0
    for file in sorted(reached, key=nearness):
        if any(file == target or file.startswith(f"{target}/") for target in plan.targets):
            continue
        spent_s += cost_s.get(file, _UNKNOWN_S)
        (plan.targets if spent_s <= budget_s or not reached[file] else plan.left_out).append(file)
    return plan


def _sure(path: str) -> Iterator[str]:
    """Yield the files and folders of tests that this change is sure to concern, whatever they cost."""
    top = path.split("/", maxsplit=1)[0]
    name = Path(path).name
    if top == "tests":
        if name.startswith("test_"):
            yield path
        elif name == "conftest.py" or not name.endswith(".py"):
            # Helpers of all tests of a folder, or data of the folder below them.
            folders = [folder for folder in Path(path).parents if folder != Path()]
            yield str(next((folder for folder in folders if [*(ROOT / folder).glob("test_*.py")]), folders[-1]))
    elif path in _BUILD:
        yield from ("tests/packaging", "tests/docs")
    elif name.endswith(".md") or top == "docs":
        yield "tests/docs"
    elif top in _SOURCES:
        yield from _ALWAYS


def _modules_of(path: str) -> Iterator[str]:
    """Yield the modules of which a changed file is, or may be, a part."""
    for folder, helpers in _IN_JAVASCRIPT.items():
        if path.startswith(f"{folder}/"):
            yield from helpers
    if path.startswith("proto/referee/") and path.endswith(".proto"):
        yield path.removeprefix("proto/").removesuffix(".proto").replace("/", ".") + "_pb2"
        return
    for package, home in _HOMES.items():
        if not path.startswith(f"{home}{package}/"):
            continue
        dotted = path.removeprefix(home).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if path.endswith(".py"):
            yield dotted
        elif package != "tests":
            # Data of a package: every module beside it may read it.
            folders = (ROOT / above for above in Path(path).parents)
            nearest = next(folder for folder in folders if any(folder.glob("*.py")))
            for beside in nearest.glob("*.py"):
                yield from _modules_of(beside.relative_to(ROOT).as_posix())


@cache
def _graph() -> grimp.ImportGraph:
    graph = grimp.build_graph(*_HOMES, cache_dir=str(ROOT / ".import_linter_cache"))
    for importer, package in _BY_NAME.items():
        for module in [package, *graph.find_descendants(package)]:
            if module != importer:
                graph.add_import(importer=importer, imported=module)
    for module in graph.modules:
        package, _, name = module.rpartition(".")
        if not package:
            continue
        # To import a module is to import its package. Packages find what they have of a game by its name.
        graph.add_import(importer=module, imported=package)
        if name in _GAMES:
            graph.add_import(importer=package, imported=module)
            for part in graph.find_children(module):
                graph.add_import(importer=module, imported=part)
    return graph


def _distances(modules: set[str]) -> dict[str, int]:
    """Return how many imports of the product lie between each module and the nearest of these.

    Helpers of tests do not count: what they are for is as near to a test as what it imports itself.
    """
    graph = _graph()
    found = dict.fromkeys(modules & graph.modules, 0)
    todo = deque(found)
    while todo:
        module = todo.popleft()
        step = 0 if module.startswith("tests.") else 1
        for importer in graph.find_modules_that_directly_import(module):
            distance = found[module] + step
            if distance < found.get(importer, distance + 1):
                found[importer] = distance
                # The nearest first, so that no module is looked at from farther away.
                (todo.append if step else todo.appendleft)(importer)
    return found


def _is_test(module: str) -> bool:
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def _file_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _words(path: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", path.rpartition(".")[0])) - {"test", "tests", "referee", "clients"}


def _within(targets: set[str]) -> set[str]:
    """Leave out what lies in a folder that is there, too: pytest would run it twice."""
    return {target for target in targets if not any(target.startswith(f"{other}/") for other in targets)}


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"make check: git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.splitlines()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
