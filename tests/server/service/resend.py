"""The acts of a game sent again."""

from __future__ import annotations

from io import BytesIO

from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from tests.server.service.player import Client, Play, bearer


def moved(play: Play, client: Client) -> None:
    """Move the players to another channel."""
    play.client, play.stream = client, None


async def send_all_again(play: Play) -> None:
    for request, token, answer in list(play.sent):
        assert await play.client.games.SubmitIntent(request, metadata=bearer(token)) == answer


async def audited(play: Play) -> None:
    receipts = tuple(answer.accepted.checkpoint for _, _, answer in play.sent if answer.HasField("accepted"))
    policy = Policy(VerifierKey.parse(play.created.verifier_key), receipts=receipts)
    report = audit(BytesIO(await play.client.log(play.id)), policy)
    assert report.verdict is Verdict.COMPLETE, report.as_text()
