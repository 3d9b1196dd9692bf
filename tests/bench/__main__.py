"""Prints every figure: what, how many a second, the target, and the ratio to the floor of the same run."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from tests.bench import audit, rules, service

SECTIONS = (("rules, one core", rules), ("audit, one core", audit), ("service, one client", service))


def main() -> None:
    """Takes every figure in turn."""
    console = Console()
    for title, section in SECTIONS:
        table = Table("figure", "a second", "floor", "ratio", "target", "", title=title, title_justify="left")
        for figure in section.figures():
            reached = {True: "reached", False: "[bold]missed[/bold]", None: ""}[figure.reached]
            table.add_row(
                figure.name,
                f"{figure.per_second:,.0f}",
                f"{figure.floor:,.0f}" if figure.floor else "",
                f"{figure.ratio:.2f}" if figure.ratio else "",
                f"{figure.target:,}" if figure.target else "",
                reached,
            )
        console.print(table)


if __name__ == "__main__":
    main()
