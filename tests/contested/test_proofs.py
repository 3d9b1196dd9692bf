"""Certificates of contested games: what is claimed, and what a server makes of it when it is left alone with them."""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path

import pytest

from referee.log.audit import audit
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.intent import decode_intent
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.server.live.prover import Follower
from referee.server.store.store import Row
from tests.contested.campaign import IN_THIRDS, numbers
from tests.contested.games import ENDINGS, Contested, game
from tests.contested.served import keep
from tests.server.service.conftest import running
from tests.sizes import Part, in_parts
from tests.waiting import waiting_for

EACH = pytest.mark.parametrize("rules_id", ["alhambra", "kingdomino"])
ALL = log_pb2.PROOF_POLICY_ALL


@IN_THIRDS
@EACH
def test_claims_are_of_the_position(rules_id: str, part: Part) -> None:
    """Take-backs, accepted moves and stand-ins came before: each claim is about the position before its entry."""
    seen = set[str]()
    for number in part.of(numbers(rules_id)):
        made = game(rules_id, number, ALL)
        follower = Follower(installed(), made.opened.SerializeToString(deterministic=True), 0)
        before = made.positions([0, *range(len(made.entries) - 1)])
        for (seq, data), position in zip(enumerate(made.entries), before, strict=True):
            found = follower.read(Row(seq, data))
            event = judged(made, seq)
            expected = follower.provable.claims(position, event) if event is not None else ()
            assert fingerprints(follower, found) == fingerprints(follower, expected), f"{made}, entry {seq}"
            assert follower.against == (made.truth[seq].broken or None), f"{made}, entry {seq}"
            if found:
                seen.add("a stand-in" if decode_entry(data).HasField("stand_in") else "another")
    assert seen >= ({"a stand-in", "another"} if rules_id == "kingdomino" else {"another"})


def fingerprints(follower: Follower, claims: tuple[object, ...]) -> list[bytes]:
    return [follower.provable.fingerprint(claim) for claim in claims]


def judged(made: Contested, seq: int) -> object:
    """Return the move, draw or pass of the entry, or the attempt; None: it holds none."""
    truth = made.truth[seq]
    if truth.brings:
        return truth.events[-1]
    entry = decode_entry(made.entries[seq])
    if not entry.HasField("refused"):
        return None
    codec = installed().get(made.rules_id, made.opened.rules_version)[1]
    return codec.decode_move(decode_intent(entry.refused.intent).move, codec.decode_components(made.opened.tables))


def is_short(made: Contested) -> bool:
    """And over, so that its certificates come to an end; with something to prove that was contested."""
    contested = any(truth.broken or truth.takes_back for truth in made.truth)
    return made.verdict is Verdict.COMPLETE and contested and len(made.entries) < 160


@in_parts(2)
@EACH
async def test_every_certificate_is_made(tmp_path: Path, rules_id: str, part: Part) -> None:
    """A server makes the certificates of a whole game in its store: each holds, and none is lacking."""
    early = [number for number in range(40) if ENDINGS[number % len(ENDINGS)] != log_pb2.ENDING_RULES]
    made = [next(each for number in part.of(early) if is_short(each := game(rules_id, number, ALL)))]
    assert {each.truth[-1].is_ended for each in made} == {True}
    await keep(tmp_path / "data", made)
    async with running(tmp_path / "data") as (server, client):
        async with waiting_for("certificates"):
            while len(await server.data.store.awaiting_certificates()) > len(server.prover._given_up):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        wrong = []
        for each in made:
            data = await client.log(each.played.record.game_id.hex())
            report = audit(BytesIO(data), Policy(server.data.signer.verifier))
            proofs = report.proofs
            if report.verdict is not Verdict.COMPLETE or proofs.failed or proofs.lacking or not proofs.checked:
                wrong.append(f"{each}: {report.as_text()}")
        assert not wrong, f"{len(wrong)} of {len(made)} wrong\n" + "\n".join(wrong)
        assert not server.prover.settled["given_up"]
        assert not server.prover.settled["contradicts"]
