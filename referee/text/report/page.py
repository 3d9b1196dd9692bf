"""A report as a page: one HTML file with all that it shows, no scripts, nothing fetched.

All that is written in it is escaped, whatever it is; only the pictures, the referee's own, escape what they say.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from referee.text.notation.violations import original, rule_text
from referee.text.report.model import Report
from referee.text.report.sheet import upper

if TYPE_CHECKING:
    from jinja2 import Environment


def html(report: Report) -> str:
    """Return the whole document."""
    return _environment().get_template("report.html.j2").render(report=report, say=report.say)


@cache
def _environment() -> Environment:
    # Only who wants pages installs this.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["upper_first"] = upper
    environment.globals |= {"original": original, "rule_text": rule_text}
    return environment
