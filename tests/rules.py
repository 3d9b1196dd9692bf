"""Every rule of a game's catalogue has its kind of test, and this keeps the register.

A constraint has events that break it, a transition or scoring rule has a test that kills a mutant of the engine, and
a derived rule has a property. ``RuleTests.missing`` names the rules that have none.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from referee import core
from referee.games.game import Cell, Kind, Rule

Test = TypeVar("Test", bound=Callable[..., None])


@dataclass(frozen=True)
class Broken:
    """An event that breaks a rule, and one in the same state that does not."""

    state: Any
    event: Any
    legal: Any = None
    cells: Collection[Cell] | None = None
    """The cells that the violation names; None: not compared."""
    also: Collection[str] = ()
    """Rules that cannot but be broken with it."""


@dataclass(frozen=True)
class Mutation:
    """``old`` becomes ``new`` in the source of a function, given by its dotted name below the game's package."""

    function: str
    old: str
    new: str

    @contextmanager
    def applied(self, package: str) -> Iterator[None]:
        """Yield the engine with this defect, wherever the function was imported to, also as a method of a class."""
        if core.is_compiled():
            pytest.skip("a mutant is made of the core's Python, and this core is compiled")
        module_name, *path = self.function.split(".")
        module = importlib.import_module(f"{package}.{module_name}")
        owner: Any = module
        for part in path[:-1]:
            owner = getattr(owner, part)
        original = getattr(owner, path[-1])
        source = textwrap.dedent(inspect.getsource(original))
        assert source.count(self.old) == 1, f"{self.function} no longer has one {self.old!r}: mend the mutation"
        defined: dict[str, Any] = {}
        # ``super()`` looks for its class where a method is defined: around it.
        mutant = textwrap.indent(source.replace(self.old, self.new), "    ") + f"    return {path[-1]}\n"
        mutant = f"from __future__ import annotations\ndef make(__class__):\n{mutant}"
        exec(compile(mutant, f"<mutant of {self.function}>", "exec"), vars(module), defined)
        made = defined["make"](owner)
        homes = [owner] if inspect.isclass(owner) else _homes()
        patched = [(home, name) for home in homes for name, value in vars(home).items() if value is original]
        try:
            for home, name in patched:
                setattr(home, name, made)
            yield
        finally:
            for home, name in patched:
                setattr(home, name, original)


def _homes() -> list[Any]:
    """Our modules and their classes."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("referee", "tests")]
    classes = {value for module in modules for value in vars(module).values() if inspect.isclass(value)}
    return [*modules, *(each for each in classes if each.__module__.partition(".")[0] in ("referee", "tests"))]


class RuleTests:
    """The register of one game.

    ``modules``: the tests of its rules. Each enters its cases as it is imported, when the register is read.
    """

    def __init__(self, package: str, *modules: str) -> None:
        self.package = package
        self._modules = modules
        self._broken: list[tuple[str, Callable[[], Broken]]] = []
        self._mutants: list[tuple[str, Mutation, Callable[[], None]]] = []
        self._derived: list[str] = []

    @property
    def broken(self) -> list[tuple[str, Callable[[], Broken]]]:
        """Return rule ids with the cases that break them."""
        self._fill()
        return self._broken

    @property
    def mutants(self) -> list[tuple[str, Mutation, Callable[[], None]]]:
        """Return rule ids with defects of the engine, and the test that has to find each of these."""
        self._fill()
        return self._mutants

    @property
    def derived(self) -> list[str]:
        """Return the ids of rules that have a property."""
        self._fill()
        return self._derived

    def _fill(self) -> None:
        for module in self._modules:
            importlib.import_module(module)

    def violates(self, rule_id: str) -> Callable[[Callable[[], Broken]], Callable[[], Broken]]:
        """Registers a case: its event breaks exactly this rule."""

        def register(case: Callable[[], Broken]) -> Callable[[], Broken]:
            self._broken.append((rule_id, case))
            return case

        return register

    def mutated(self, rule_id: str, *mutations: Mutation) -> Callable[[Test], Test]:
        """Registers a test of the rule, which has to fail on each of the mutants."""
        assert mutations

        def register(test: Test) -> Test:
            self._mutants += [(rule_id, mutation, test) for mutation in mutations]
            return test

        return register

    def derives(self, rule_id: str) -> Callable[[Test], Test]:
        """Registers a property that is the derived rule."""

        def register(test: Test) -> Test:
            self._derived.append(rule_id)
            return test

        return register

    def missing(self, catalogue: Sequence[Rule]) -> list[str]:
        """Rules without their kind of test, and tests without their rule or of another kind."""
        registered = {
            (kind, rule_id)
            for kinds, ids in (
                ((Kind.CONSTRAINT,), {rule_id for rule_id, _ in self.broken}),
                ((Kind.TRANSITION, Kind.SCORING), {rule_id for rule_id, _, _ in self.mutants}),
                ((Kind.DERIVED,), set(self.derived)),
            )
            for kind in kinds
            for rule_id in ids
        }
        wanted = {(rule.kind, rule.id) for rule in catalogue}
        known = {rule_id for _, rule_id in registered & wanted}
        return sorted(
            {f"{rule_id} has no test of a {kind.value} rule" for kind, rule_id in wanted - registered}
            | {f"{rule_id} is tested as {kind.value}" for kind, rule_id in registered - wanted if rule_id not in known}
        )
