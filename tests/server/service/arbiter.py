"""A table with arbiters, over gRPC."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from typing import Any

from referee.games.game import Decision
from referee.log import intent, remarks
from referee.log.audit import audit
from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from referee.v1 import arbiter_service_pb2 as pb
from referee.v1 import (
    arbiter_service_pb2_grpc,
)
from tests.server.service.player import SCRIBE, Client, Play, bearer, refused, seat_key

ARBITERS = [PrivateKey(sha256(f"arbiter {i}".encode()).digest()) for i in range(2)]


TERMS = log_pb2.Terms(
    clock=log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=3_600_000)),
    illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED,
    strikes=9,
    take_backs=True,
    grace_ms=0,
)


RULE = "TBL-2"


class Table:
    """One game with its arbiters."""

    def __init__(self, client: Client, play: Play) -> None:
        self.play = play
        self.calls: Any = arbiter_service_pb2_grpc.ArbiterServiceStub(client.channel)

    @classmethod
    async def declared(cls, client: Client, **fields: Any) -> Table:
        """At a physical table of three, where a scribe enters everything."""
        fields = {"arbiter_keys": [key.public.raw for key in ARBITERS], "terms": TERMS, **fields}
        declared: dict[str, Any] = {
            "declaring_scribe_key": SCRIBE.public.raw,
            "scribed": (0, 1, 2),
            "rules_id": "kingdomino",
        }
        play = await client.play(3, **declared, **fields)
        await play.catch_up(1)
        return cls(client, play)

    @classmethod
    async def dealt(cls, client: Client, **fields: Any) -> Table:
        fields = {"arbiter_keys": [key.public.raw for key in ARBITERS], "terms": TERMS, **fields}
        play = await client.play(2, rules_id="kingdomino", **fields)
        await play.until_play()
        return cls(client, play)

    @property
    def game(self) -> Any:
        return self.play.record.game

    def request(self, author: Author, act: Any, text: str = "", key: PrivateKey | None = None) -> pb.SubmitActRequest:
        words = pb.Words(salt=b"s" * 16, text=text) if text else None
        if text:
            act.remark = remarks.commitment(b"s" * 16, text)
        signed = intent.act(self.play.place, author, key or _key(author), act)
        return pb.SubmitActRequest(game_id=self.play.id, intent=signed.intent, signature=signed.signature, words=words)

    def token(self, role: Role, seat: int = 0) -> str:
        created = self.play.created
        tokens = {Role.ARBITER: created.arbiter_token, Role.SCRIBE: created.scribe_token}
        return tokens.get(role) or created.seat_tokens[seat]

    async def act(self, author: Author, act: Any, text: str = "") -> int:
        request = self.request(author, act, text)
        token = self.token(author.role, author.index)
        response = await self.calls.SubmitAct(request, metadata=bearer(token))
        assert await self.calls.SubmitAct(request, metadata=bearer(token)) == response, "the same bytes again"
        await self.play.catch_up(response.accepted.size)
        assert self.play.notes[response.accepted.size] == response.accepted.checkpoint
        return int(response.accepted.seq)

    async def rule(self, arbiter: int = 0, *, text: str = "", rule_id: str = RULE, **ruling: Any) -> int:
        return await self.act(Author(Role.ARBITER, arbiter), log_pb2.Rule(rule_id=rule_id, **ruling), text)

    async def seat(self, seat: int, act: Any, text: str = "") -> int:
        """Enter the act of a seat through the scribe."""
        act.seat = seat
        return await self.act(Author(Role.SCRIBE, 0), act, text)

    async def not_allowed(self, arbiter: int = 0, *, rule_id: str = RULE, **ruling: Any) -> str:
        request = self.request(Author(Role.ARBITER, arbiter), log_pb2.Rule(rule_id=rule_id, **ruling))
        found = await refused(self.calls.SubmitAct(request, metadata=bearer(self.token(Role.ARBITER))))
        assert found.reason == "NOT_AWAITED", found
        assert found.metadata["awaited"]
        return found.message

    async def docket(self) -> pb.Docket:
        response = await self.calls.GetDocket(pb.GetDocketRequest(game_id=self.play.id))
        docket: pb.Docket = response.docket
        assert docket.size == self.play.record.size
        return docket

    def on_turn(self) -> int:
        (awaited,) = self.play.record.game.position.pending()
        assert isinstance(awaited, Decision)
        return awaited.seat

    def domino(self) -> int:
        """That is to be placed."""
        move = next(iter(self.play.record.game.position.state.legal_moves()))
        return int(move.domino)

    async def audited(self, client: Client) -> bytes:
        """Return the file, of which nothing is wrong."""
        data = await client.log(self.play.id)
        report = audit(BytesIO(data), Policy(VerifierKey.parse(self.play.created.verifier_key)))
        over = self.play.record.game.end is not None
        assert report.verdict is (Verdict.COMPLETE if over else Verdict.PREFIX), report.findings
        return data


def _key(author: Author) -> PrivateKey:
    if author.role is Role.SCRIBE:
        return SCRIBE
    return ARBITERS[author.index] if author.role is Role.ARBITER else seat_key(author.index)
