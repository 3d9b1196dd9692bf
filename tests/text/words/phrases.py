"""The phrases of the code: what is said in English where it is made, and translated by its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import referee
import referee_clients
from referee.log.events import Role
from referee.text.words.catalogue import PLAYER, Text

_SOURCES: Final = (Path(referee.__file__).parent, Path(referee_clients.__file__).parent)
_TAKES: Final = {
    "phrase": (0, 1),
    "Phrase": (0, 1),
    "demand": (2, 4),
    "_require": (1, 3),
    "not_awaited": (0, 2),
    "_together": (0, 1),
}
"""Which arguments of these functions are phrases: from the first, to before the last."""
_CALLS: Final = re.compile(rf"\b(?:{'|'.join(_TAKES)})\(")
"""Most sources call none of them, and to parse all of them takes seconds."""
_OF_VALUES: Final = frozenset({PLAYER, *(f"{role} {{n}}" for role in Role if role is not Role.SEAT)})
"""Put together from a value."""


@cache
def in_code() -> frozenset[str]:
    """Return the English texts of all phrases that say something beside their places."""
    sources = (path.read_text(encoding="utf-8") for folder in _SOURCES for path in folder.rglob("*.py"))
    trees = (ast.parse(source) for source in sources if _CALLS.search(source))
    found = {text for tree in trees for text in _phrases(tree)} | _OF_VALUES
    return frozenset(text for text in found if re.search(r"[^\W\d_]", re.sub(r"\{\w+\}", "", text)))


def _phrases(tree: ast.AST) -> Iterator[str]:
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    for scope in (tree, *functions):
        for call in ast.walk(scope):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _TAKES:
                first, last = _TAKES[call.func.id]
                for argument in call.args[first:last]:
                    yield from _texts(argument, scope)


def _texts(argument: ast.AST, scope: ast.AST) -> Iterator[str]:
    """Yield the texts that an argument may be; of a name, those that it is given in the same function."""
    match argument:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_texts(body, scope), *_texts(orelse, scope))
        case ast.Name(id=name):
            for given in ast.walk(scope):
                if isinstance(given, ast.Assign):
                    yield from _given(given.targets[0], given.value, name)


def _given(target: ast.expr, value: ast.expr, name: str) -> Iterator[str]:
    match target, value:
        case ast.Name(id=found), _ if found == name:
            yield from _texts(value, ast.Module([], []))
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            for each, its in zip(targets, values, strict=True):
                yield from _given(each, its, name)


def forms(text: Text) -> dict[str, str]:
    """Return the forms of a text by category; of one that is the same for all numbers, by an empty one."""
    return {"": text} if isinstance(text, str) else {name: form for name, form in text.items() if name != "of"}
