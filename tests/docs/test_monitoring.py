"""Alarms and the dashboard ask for metrics, labels, pages and sections that there are."""

from __future__ import annotations

import json
import re

import pytest

from referee.server.service.grpc_errors import STATUS_OF
from tests.docs.shell import ROOT, anchors

FOLDER = ROOT / "docs" / "monitoring"
PAGE = (ROOT / "docs" / "operate" / "reference.md").read_text(encoding="utf-8")
ROWS: dict[str, str] = dict(re.findall(r"^\| `(referee_\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
"""The documented metrics, which another test holds against those that a referee has, and what is said of each."""
OTHERS = {"up", "process_resident_memory_bytes", "process_cpu_seconds_total"}
"""Metrics that Prometheus and the library for Python add."""
FUNCTIONS = {"abs", "and", "by", "histogram_quantile", "le", "max_over_time", "or", "rate", "sum", "time"}


def _alarms() -> list[dict[str, str]]:
    yaml = pytest.importorskip("yaml")
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [{**rule, **rule["labels"], **rule["annotations"]} for rule in group["rules"]]


def _expressions() -> list[str]:
    board = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [*asked, *(alarm["expr"] for alarm in _alarms())]


def test_every_metric_and_label_that_is_asked_for_is_there() -> None:
    for expression in _expressions():
        bare = re.sub(r'"[^"]*"|\[\w+\]', "", expression)
        grouped = [label.strip() for by in re.findall(r"by \(([^)]*)\)", bare) for label in by.split(",")]
        named = {*re.findall(r"(\w+)=~?", bare), *grouped} - {"le", "job"}
        words = {*re.findall(r"\b[a-z]\w+", re.sub(r"\{[^}]*\}|by \([^)]*\)", "", bare))} - FUNCTIONS
        metrics = {re.sub(r"_bucket$", "", word) for word in words} - OTHERS
        assert metrics <= ROWS.keys(), expression
        said = " ".join(ROWS[metric] for metric in metrics)
        assert all(f"`{label}`" in said for label in named), expression
        values = [value for each in re.findall(r'=~?"([^"]*)"', expression) for value in each.split("|")]
        assert all(f"`{value}`" in said or value in {*STATUS_OF, "referee"} for value in values), expression


def test_every_alarm_says_what_is_wrong_and_where_it_is_told_what_to_do() -> None:
    alarms = _alarms()
    assert len({alarm["alert"] for alarm in alarms}) == len(alarms)
    for alarm in alarms:
        page, _, anchor = alarm["runbook"].partition("#")
        assert page.startswith(("docs/operate/", "docs/runbooks/")), page
        assert not anchor or anchor in anchors(ROOT / page), alarm["runbook"]
        assert (ROOT / page).exists(), page
        assert alarm["severity"] in {"page", "ticket"}
        assert alarm["summary"]


def test_every_cause_has_its_alarm() -> None:
    """A metric that counts faults, or that is not 0 only when something is wrong."""
    asked = " ".join(alarm["expr"] for alarm in _alarms())
    causes = """up referee_stuck_seconds referee_waiting_seconds referee_commit_failures_total referee_silent_seconds
        referee_nodes referee_waits_for_standby referee_standby_waived referee_games_set_aside referee_games_in_doubt
        referee_backup_made_seconds referee_reserve_in_use referee_clock_ahead_seconds referee_certificate_days_left
        referee_log_halted referee_log_damaged_files referee_log_leaves"""
    assert [cause for cause in causes.split() if not re.search(rf"\b{cause}\b", asked)] == []
