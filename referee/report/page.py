"""A report as a page: one HTML file with all that it shows, no scripts, nothing fetched.

All that is written in it is escaped, whatever it is; only the pictures, the referee's own, escape what they say.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from referee.notation.outcomes import counted
from referee.report.model import Report
from referee.report.sheet import upper


def html(report: Report) -> str:
    """Return the whole document."""
    return _environment().get_template("report.html.j2").render(report=report)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"upper_first": upper, "points": partial(counted, what="point")}
    return environment
