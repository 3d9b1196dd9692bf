"""Attacks that an audit cannot see, as docs/security.md lists them: were one noticed, the page would be wrong."""

from __future__ import annotations

import pytest

from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from tests.attacks.by_referees import taken_over
from tests.attacks.corpus import TABLES, game, other_course
from tests.attacks.forge import acts, edited
from tests.log import evil, games
from tests.log.games import SIGNER

NAMES = list(TABLES)


@pytest.mark.parametrize("table", NAMES)
def test_a_game_that_never_took_place(table: str) -> None:
    """Complete, with nothing but keys that declare themselves: only a pinned key shows it."""
    played = game(table)
    data, _ = taken_over(played, {seat: games.key(f"invented {seat}") for seat in range(4)})
    report = played.audit(data)
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert {seat.standing for seat in report.seats} == {"self-declared"}


@pytest.mark.parametrize("table", NAMES)
def test_two_histories_each_by_itself(table: str) -> None:
    """Everybody signed both: each is complete, and only a receipt of the other shows that there are two."""
    one, other = game(table), other_course(table)
    assert one.record.game_id == other.record.game_id
    assert one.audit().verdict is other.audit().verdict is Verdict.COMPLETE
    for receipts in (tuple(one.notes), one.notes[-1:]):
        verdict = other.audit(policy=Policy(SIGNER.verifier, receipts=tuple(receipts))).verdict
        assert verdict in (Verdict.FORK, Verdict.STALE)


@pytest.mark.parametrize("table", NAMES)
def test_entries_after_the_last_act(table: str) -> None:
    """The referee's own, with other times: only a receipt of the first version shows it."""
    played = game(table)
    entries = evil.entries(played)
    entries[-1].referee_ms += 60_000
    data = evil.signed_file(played, [*played.entries[:-1], entries[-1].SerializeToString(deterministic=True)])
    assert played.audit(data).verdict is Verdict.COMPLETE
    receipt = Policy(SIGNER.verifier, receipts=(played.notes[-1],))
    assert played.audit(data, receipt).verdict is Verdict.FORK
    before_it = Policy(SIGNER.verifier, receipts=(played.notes[acts(played, "move", "join")[-1]],))
    assert played.audit(data, before_it).verdict is Verdict.COMPLETE


@pytest.mark.parametrize("table", [name for name in NAMES if "aborted" in name])
def test_a_game_that_somebody_disliked(table: str) -> None:
    """Stopped without a reason, as the referee can at any time; it stays to be seen that it was."""
    report = game(table).audit()
    assert (report.verdict, report.ending) == (Verdict.COMPLETE, "ENDING_ABORTED")


@pytest.mark.parametrize("table", NAMES)
def test_times_of_somebodys_choice(table: str) -> None:
    """A year earlier, if everybody signs: nothing vouches for when it was."""

    def earlier(entries: list[log_pb2.Entry]) -> None:
        for entry in entries:
            entry.referee_ms -= 365 * 24 * 3600 * 1000

    played = game(table)
    report = played.audit(edited(played, earlier))
    assert report.verdict is Verdict.COMPLETE
    assert not any("dated" in remark for remark in report.remarks)
