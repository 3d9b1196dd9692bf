"""A contract about the tests themselves, which ``make lint`` holds beside those of the product."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class HelpersApart(Contract):
    """Check that no module imports a module of tests: helpers of several tests lie in modules of their own."""

    type_name = "helpers_apart"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports of modules whose names begin with ``test_``."""
        found = [
            f"{importer} imports {module}"
            for module in sorted(graph.modules)
            if module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")
            for importer in sorted(graph.find_modules_that_directly_import(module))
        ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Say each import, and what to do."""
        for line in check.metadata["found"]:
            output.print_error(f"{line}: move what it needs to a module whose name does not begin with test_")
