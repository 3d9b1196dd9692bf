"""No module reads another's sentences: what it needs of an error is in fields, so that every text can be reworded.

Looks at the source alone: the text of an exception that is caught, or handed to a function as one, is neither cut up
nor searched nor compared.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = [
    path
    for package in ("referee", "solver/referee_solver", "clients/referee_clients")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "_pb2" not in path.name
]

FOREIGN = {
    ("clients/referee_clients/sdk/errors.py", "denied"): "gRPC tells why TLS refused a connection in words alone",
    ("clients/referee_clients/sdk/errors.py", "is_expired"): "likewise",
    ("clients/referee_clients/sdk/errors.py", "passes"): "likewise",
    ("referee/cli/shared/components.py", "_cause"): "protobuf's error of JSON has nothing but words",
    ("referee/cli/shared/remote.py", "refused"): "gRPC tells why there is no connection in words alone",
    ("referee/process/worker.py", "serve"): "Z3 tells that it is out of memory in words alone",
}
"""Functions that read the words of another project's errors, and why."""

_CUT = {
    *("partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix", "strip", "lstrip"),
    *("rstrip", "startswith", "endswith", "replace", "find", "rfind", "index", "rindex", "count", "translate"),
}
"""Methods of texts that take one apart or look into it."""
_PATTERN = {"match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn"}
"""Functions of ``re``, and methods of its patterns."""
_WORDS = {"what", "message", "msg", "expected", "found", "args", "strerror", "details", "format_message"}
"""Attributes and methods of exceptions, ours and others', that are sentences or parts of such."""
_ALWAYS_WORDS = {"message"}
"""Those that are sentences whatever has them: so answers of the API are looked at, too."""
_BUILT_IN = {name for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, Exception)}

Place = tuple[int, str]
"""A line, and the function that it is in."""


def exceptions(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names of all classes of exceptions."""
    bases: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases.setdefault(node.name, set()).update(map(_last_name, node.bases))
    found, size = set(_BUILT_IN), 0
    while len(found) > size:
        size = len(found)
        found |= {name for name, above in bases.items() if above & found}
    return found


def _last_name(node: ast.expr | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def prose_parsed(tree: ast.Module, classes: set[str]) -> Iterator[Place]:
    """Yield where the text of an exception is taken apart, searched or compared."""
    yield from _Reader(classes).places(tree, "", frozenset(), frozenset())


class _Reader:
    """Follows the names that stand for exceptions, and for their texts."""

    def __init__(self, classes: set[str]) -> None:
        self._classes = classes

    def places(self, node: ast.AST, function: str, errors: frozenset[str], texts: frozenset[str]) -> Iterator[Place]:
        match node:
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                function = name
                given = [*args.posonlyargs, *args.args, *args.kwonlyargs]
                errors |= {arg.arg for arg in given if self._is_exception(arg.annotation)}
            case ast.ExceptHandler(name=str(name)):
                errors |= {name}
            case _:
                pass
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ExceptHandler):
            texts |= {
                target.id
                for inner in ast.walk(node)
                if isinstance(inner, ast.Assign) and self._has_text(inner.value, errors, texts)
                for target in inner.targets
                if isinstance(target, ast.Name)
            }
        if self._is_parsing(node, errors, texts):
            yield getattr(node, "lineno", 0), function
        for child in ast.iter_child_nodes(node):
            yield from self.places(child, function, errors, texts)

    def _is_exception(self, annotation: ast.expr | None) -> bool:
        """Return True if it is the class of an exception, or of one and others."""
        if isinstance(annotation, ast.BinOp):
            return self._is_exception(annotation.left) or self._is_exception(annotation.right)
        name = _last_name(annotation)
        return name in self._classes or name.endswith(("Error", "Exception"))

    def _is_parsing(self, node: ast.AST, errors: frozenset[str], texts: frozenset[str]) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=of, attr=name), args=args):
                cut = name in _CUT and self._is_text(of, errors, texts)
                return cut or (name in _PATTERN and any(self._is_text(arg, errors, texts) for arg in args))
            case ast.Compare(left=left, ops=ops, comparators=others):
                is_compared = any(isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for op in ops)
                return is_compared and any(self._is_text(side, errors, texts) for side in (left, *others))
        return False

    def _is_text(self, node: ast.expr, errors: frozenset[str], texts: frozenset[str]) -> bool:
        match node:
            case ast.Name(id=name):
                return name in texts
            case ast.Call(func=ast.Name(id="str" | "repr" | "printable"), args=[ast.Name(id=name)]):
                return name in errors
            case ast.Attribute(value=of, attr=name) if name in _WORDS:
                return name in _ALWAYS_WORDS or (isinstance(of, ast.Name) and of.id in errors)
            case ast.Call(func=ast.Attribute() as func):
                return self._is_text(func, errors, texts) or self._is_text(func.value, errors, texts)
            case ast.Subscript(value=of):
                return self._is_text(of, errors, texts)
            case ast.BoolOp(values=values):
                return any(self._is_text(value, errors, texts) for value in values)
        return False

    def _has_text(self, node: ast.expr, errors: frozenset[str], texts: frozenset[str]) -> bool:
        """Return True if a value is such a text, or one of several that it may be."""
        if isinstance(node, ast.IfExp):
            return self._has_text(node.body, errors, texts) or self._has_text(node.orelse, errors, texts)
        return self._is_text(node, errors, texts)


def found_in(text: str) -> list[Place]:
    """Return what is found in a piece of source."""
    tree = ast.parse(text)
    return list(prose_parsed(tree, exceptions([tree])))


@pytest.mark.long
def test_no_sentence_of_ours_is_an_interface() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE}
    assert len(trees) > 300
    classes = exceptions(trees.values())
    assert {"LogError", "BadQuestion", "QueryError", "SheetError", "ValueError"} <= classes
    found = {
        (str(path.relative_to(ROOT)), function): line
        for path, tree in trees.items()
        for line, function in prose_parsed(tree, classes)
    }
    assert {place: line for place, line in found.items() if place not in FOREIGN} == {}, "needs a field of the error"
    assert FOREIGN.keys() <= found.keys(), "is allowed what is not done any more"


@pytest.mark.parametrize(
    "reading",
    [
        'str(error).partition(": ")',
        "str(error).splitlines()[0]",
        'error.what.removeprefix("game_open.").partition(" ")',
        'error.args[0].split("; expected ")',
        'error.message.endswith("has expired")',
        'error.details().find("refused")',
        're.match("seat ([0-9]+)", str(error))',
        "_PATTERN.fullmatch(error.what)",
        '"expired" in str(error)',
        '"expired" not in error.message',
        'error.what in ("the text ends", "the line ends")',
        'error.what == "the text ends"',
        '(error.found or error.what).replace("a", "b")',
        'other.message.startswith("the token")',
    ],
)
def test_reading_is_found(reading: str) -> None:
    caught = f"def first():\n    try:\n        pass\n    except OSError as error:\n        return {reading}\n"
    given = f"class Bad(LookupError): ...\ndef second(error: Bad | None):\n    return {reading}\n"
    assert (found_in(caught)[-1:], found_in(given)[-1:]) == ([(5, "first")], [(3, "second")])


def test_reading_is_found_by_way_of_a_name() -> None:
    assert found_in("def told(error: ValueError):\n    text = str(error)\n    return text.split()\n") == [(3, "told")]


@pytest.mark.parametrize(
    "telling",
    [
        "str(error)",
        'f"{error.what}; expected {error.expected}"',
        "error.found or error.what",
        'error.field.partition(".")',
        'error.code == "LIMIT"',
        '"state" in error.metadata',
        'path.removeprefix("./")',
        "error.expected and cut(error.what)",
    ],
)
def test_telling_is_allowed(telling: str) -> None:
    assert found_in(f"def first(error: ValueError, path: str):\n    return {telling}\n") == []
