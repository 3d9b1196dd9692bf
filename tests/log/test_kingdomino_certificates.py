"""Certificates in a game of Kingdomino: every placement and discard of an audited log, and an engine that is wrong."""

from __future__ import annotations

from collections import Counter

from referee.log.entry import decode_entry
from referee.log.errors import Code
from referee.log.verdict import Layer, Verdict
from referee.wire.certificates.kingdomino.claims import DiscardClaim, PlacementClaim
from referee_solver.kingdomino.prover import prove
from tests.core import needs_source
from tests.log.kingdomino_certificates import a_game, claims, frames, known, misjudged
from tests.log.proved import with_frames


def test_every_verdict_of_a_game_is_proved() -> None:
    played, made = a_game()
    report = played.audit(with_frames(played, frames(played, made)))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert (report.proofs.policy, report.proofs.checked, report.proofs.lacking) == ("ALL", len(made), ())
    assert set(played.audit().proofs.lacking) == set(made), "without them each is missed"


def test_the_claims_are_those_of_the_entries() -> None:
    """Every one of the 24 dominoes is placed or discarded; and every attempt was refused."""
    played, made = a_game()
    refused = {seq for seq, data in enumerate(played.entries) if decode_entry(data).HasField("refused")}
    assert len(set(made) - refused) == 24
    kinds = Counter((type(claim), seq in refused) for seq, claim in made.items())
    assert set(kinds) == {(kind, told) for kind in (PlacementClaim, DiscardClaim) for told in (True, False)}
    assert len({known().fingerprint(claim) for claim in made.values()}) == len(set(map(repr, made.values())))
    for seq, claim in made.items():
        checked = known().check(prove(claim).certificate)
        assert checked.holds is (seq not in refused)
        assert known().fingerprint(checked.claim) == known().fingerprint(claim)
        assert known().is_of_move(claim)
        if seq in refused:
            told = tuple(decode_entry(played.entries[seq]).refused.rule_ids)
            assert tuple(sorted({violation.rule_id for violation in checked.violations})) == told


@needs_source
def test_an_engine_that_is_wrong_is_found_out() -> None:
    """Its own auditor finds nothing wrong with a discard; the certificate of it does."""
    played = misjudged()
    (slipped,) = made = claims(played)
    assert played.audit().verdict is Verdict.PREFIX
    report = played.audit(with_frames(played, frames(played, made)))
    (failure,) = [finding for finding in report.findings if not finding.is_shortfall]
    assert (report.verdict, failure.layer, failure.code, failure.entry) == (
        *(Verdict.RULES, Layer.PROOFS, Code.DISPROVED),
        slipped,
    )
    assert "the referee judged it legal, but it is proved illegal (KDO-13)" in report.as_text()
