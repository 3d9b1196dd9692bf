"""The audit of contested games, in Python and in JavaScript, against their truth."""

from __future__ import annotations

from io import BytesIO

import pytest

from referee.games import registry
from referee.log.audit import audit
from referee.log.verdict import Layer, Policy, Report, Verdict
from tests.contested.campaign import IN_THIRDS, games_of
from tests.contested.games import Contested
from tests.log.verify_js import agree, why_not
from tests.sizes import Part


def report_of(made: Contested) -> Report:
    return audit(BytesIO(made.data), Policy(made.verifier))


@IN_THIRDS
@pytest.mark.parametrize("rules_id", registry.names())
def test_audits_say_what_is_true(rules_id: str, part: Part) -> None:
    """Whole games are whole, the others are the beginning of one; ends that are entered are reported as they are."""
    for made in games_of(part, rules_id):
        report, last = report_of(made), made.truth[-1]
        assert report.verdict is made.verdict, f"{made}: {report}"
        assert report.checked[Layer.RULES] == report.entries == report.signed_entries == len(made.entries)
        if last.is_ended:
            assert last.result is not None
            found = report.ending, report.scores, report.places
            expected = f"ENDING_{last.result.ending.name}", last.result.scores, last.result.places
            assert found == expected, str(made)


@IN_THIRDS
@pytest.mark.parametrize("rules_id", registry.names())
def test_the_verifier_in_javascript_agrees(rules_id: str, part: Part) -> None:
    if why := why_not():
        pytest.skip(why)
    jobs = [(made.data, Policy(made.verifier)) for made in games_of(part, rules_id)]
    assert agree(jobs) <= {Verdict.COMPLETE, Verdict.UNDISCLOSED, Verdict.PREFIX}
