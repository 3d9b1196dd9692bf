"""``make check``: what is run for a change, and that test folders mirror the source."""

from __future__ import annotations

import subprocess
from pathlib import Path

import grimp
import pytest

from tests import check
from tests.check import ROOT, planned
from tests.contract import HelpersApart

ALWAYS = {"tests/frozen", "tests/games/test_every_game.py", "tests/transcripts"}
UNLIMITED_S = 1e9

PACKAGES = sorted(
    path.name for path in (ROOT / "referee").iterdir() if (path / "__init__.py").exists() or [*path.glob("[a-z]*.py")]
)
GENERATED = {"v1", "alhambra", "event", "kingdomino", "rollwrite"}
"""The schemas: ``tests/wire`` has what is read and written with them."""


def brought_by(*paths: str) -> set[str]:
    """Return what changes bring that nothing else reaches, or is sure to be concerned."""
    return set(planned(paths, {}, UNLIMITED_S).targets)


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in GENERATED])
def test_test_folders_mirror_the_source(package: str) -> None:
    assert list((ROOT / "tests" / package).rglob("test_*.py"))


def test_tests_reach_every_module() -> None:
    graph = check._graph()
    reached = {module for module in graph.modules if check._is_test(module)}
    todo = [*reached]
    while todo:
        found = graph.find_modules_directly_imported_by(todo.pop()) - reached
        reached |= found
        todo += found
    products = {"referee", "referee_solver", "referee_clients"}
    unreached = {module for module in graph.modules - reached if module.partition(".")[0] in products}
    assert {module for module in unreached if ".v1" not in module} == set()


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("referee/log/clocks.py", "tests/log/test_arbitration.py"),
        ("referee/server/store/sqlite.py", "tests/server/store/test_sqlite.py"),
        ("referee/cli/operators/serve.py", "tests/cli/operators/test_serve.py"),
        ("referee/games/alhambra/check.py", "tests/games/test_alhambra_check.py"),
        ("referee/text/words/cs/phrases.json", "tests/text/words/test_catalogue.py"),
        ("solver/referee_solver/alhambra/walls.py", "tests/solver/test_walls.py"),
        ("clients/referee_clients/terminal/desk/app.py", "tests/clients/desk/test_desk.py"),
        ("clients/js/protocol.mjs", "tests/clients/test_javascript.py"),
        ("clients/verify-js/audit.mjs", "tests/log/test_verify_js.py"),
        ("proto/referee/kingdomino/v1/kingdomino.proto", "tests/wire/test_kingdomino.py"),
        ("tests/log/games.py", "tests/log/test_audit.py"),
        ("tests/server/service/conftest.py", "tests/server/service"),
    ],
)
def test_what_is_near_runs_within_the_budget(path: str, near: str) -> None:
    assert near in planned([path], {}).targets


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/solver.md", {"tests/docs"}),
        ("README.md", {"tests/docs"}),
        ("docs/images/alhambra.svg", {"tests/docs"}),
        ("pyproject.toml", {"tests/packaging", "tests/docs"}),
        ("tests/log/test_deck.py", {"tests/log/test_deck.py"}),
        ("tests/conftest.py", {"tests"}),
        ("tests/frozen/referee.vkey", {"tests/frozen"}),
        ("tests/log/test_that_was_deleted.py", set()),
    ],
)
def test_what_a_change_brings(path: str, expected: set[str]) -> None:
    assert brought_by(path) == expected


def test_a_change_of_source_brings_what_most_mistakes_break() -> None:
    assert set(planned(["referee/dealer.py"], {}, 0).targets) >= ALWAYS


def test_the_budget_holds_and_what_it_leaves_out_is_told() -> None:
    everything = planned(["referee/log/entry.py"], {}, UNLIMITED_S)
    some = planned(["referee/log/entry.py"], {}, 20)
    assert not everything.left_out
    assert {*some.targets, *some.left_out} == {*everything.targets}
    assert len(some.targets) == len(ALWAYS) + 20


def test_dear_files_come_after_cheap_ones_as_near() -> None:
    plan = planned(["referee/log/entry.py"], {"tests/log/test_audit.py": 50.0}, 20)
    assert "tests/log/test_audit.py" in plan.left_out
    assert "tests/log/test_deck.py" in plan.targets


def test_pages_bring_the_browser() -> None:
    plan = planned(["clients/referee_clients/web/server.py"], {})
    assert plan.with_browser
    assert "tests/web" in plan.targets
    assert plan.words[:2] == ["-m", "not long"]
    assert not planned(["referee/log/entry.py"], {}).with_browser


def test_nothing_is_run_twice() -> None:
    targets = brought_by("tests/web/test_feed.py", "clients/referee_clients/web/server.py", "docs/web.md")
    assert not [one for one in targets for other in targets if one.startswith(f"{other}/")]


def test_every_name_is_there() -> None:
    named = {
        *check._BY_NAME,
        *check._BY_NAME.values(),
        *(each for its in check._IN_JAVASCRIPT.values() for each in its),
    }
    assert named <= check._graph().modules
    files = {*check._ALWAYS, *check._IN_JAVASCRIPT, *check._PAGES, *check._BUILD}
    assert [file for file in sorted(files) if not (ROOT / file).exists()] == []


def test_costs_are_those_of_the_last_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert check.costs() == {}
    kept = tmp_path / ".pytest_cache/v/tests/costs"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"tests/log/test_deck.py": 1.5}')
    assert check.costs() == {"tests/log/test_deck.py": 1.5}


def test_a_base_that_does_not_exist_is_told() -> None:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=False, capture_output=True)
    if done.returncode:
        pytest.skip("this is no git repository")
    with pytest.raises(SystemExit, match=r"make check: git merge-base: .*no-such-branch"):
        check.changed("no-such-branch")


def test_an_import_from_a_test_breaks_the_contract() -> None:
    graph = grimp.ImportGraph()
    graph.add_import(importer="tests.log.test_deck", imported="tests.log.games")
    contract = HelpersApart("", {}, {})
    assert contract.check(graph, verbose=False).kept
    graph.add_import(importer="tests.log.games", imported="tests.log.test_deck")
    broken = contract.check(graph, verbose=False)
    assert (broken.kept, broken.metadata["found"]) == (False, ["tests.log.games imports tests.log.test_deck"])
