"""The page about the architecture has the layers that are checked, and names functions that exist."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from tests.docs.shell import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| (\d+) \| `([\w/.]+)` \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)


def layers() -> list[list[str]]:
    """Return the layers of the import contract from the top, without the package's entry point."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layered,) = [contract["layers"] for contract in contracts if contract.get("containers") == ["referee"]]
    return [re.findall(r"\w+", layer) for layer in layered if "__main__" not in layer]


def defined(path: str) -> set[str]:
    """Return the names of the functions and methods of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for node in tree.body if isinstance(node, functions)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, functions)}
    return names


def test_the_layers_are_those_of_the_contract() -> None:
    table = PAGE.split("## Layers")[1].split("Further contracts")[0]
    assert [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)] == layers()


def test_what_lies_side_by_side_is_independent() -> None:
    """In import-linter's words: a colon would let the parts of a row import each other."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    rows = [
        row
        for contract in contracts["contracts"]
        if contract.get("containers") not in (["referee.log"], ["referee_clients"])
        for row in contract.get("layers", ())
    ]
    assert any(" | " in row for row in rows)
    assert not [row for row in rows if ":" in row]
    packages = [path for path in (ROOT / "referee").rglob("*") if path.is_dir() and "__pycache__" not in path.parts]
    with_code = [path for path in packages if [*path.glob("*.py")]]
    # import-linter does not look into what has none.
    assert [path.name for path in with_code if not (path / "__init__.py").exists() and "v1" not in path.parts] == []


def test_the_picture_has_them_in_the_same_order() -> None:
    drawn = PICTURE.split("a layer uses only")[1]
    places = [drawn.index(f">{name}<") for row in layers() for name in row]
    assert places == sorted(places)


@pytest.mark.parametrize(("number", "path", "functions"), [step[:3] for step in STEPS])
def test_steps_name_functions_that_exist(number: str, path: str, functions: str) -> None:
    named = re.findall(r"`([\w.]+)`", functions)
    assert named, number
    assert set(named) <= defined(path)


def test_names_in_the_text_of_a_step_exist() -> None:
    """Methods, by their class; other words in backticks are explained where they stand."""
    source = {
        name for path in (ROOT / "referee").rglob("*.py") if "v1" not in path.parts for name in defined(str(path))
    }
    methods = set(re.findall(r"`([A-Z]\w+\.\w+)`", "".join(step[3] for step in STEPS)))
    assert len(methods) > 5
    assert methods <= source


def test_two_ways_of_twelve_steps() -> None:
    assert [int(step[0]) for step in STEPS] == [*range(1, 13), *range(1, 13)]
