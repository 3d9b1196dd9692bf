"""The games that one arbiter may rule on, those that call first. Knows no terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import grpc

from referee.console import printable
from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.text.notation.outcomes import players
from referee.v1 import status_service_pb2 as pb
from referee.v1 import status_service_pb2_grpc
from referee_clients.rulings import Bench
from referee_clients.sdk.arbiter import Arbiter
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import Unreachable, answer_of, denied
from referee_clients.status import age, call_words, how_it_stands, time_left

_CALL_S = 5.0
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """One game that the arbiter may rule on."""

    status: pb.GameStatus
    token: str = field(repr=False)
    arbiter: int
    """Our number among the game's arbiters."""
    now_ms: int
    """The time of the answer, by the referee's clock."""

    @property
    def game_id(self) -> str:
        return self.status.id

    @property
    def name(self) -> str:
        """The beginning of its id, as every list shows it."""
        return self.status.id[:8]

    @property
    def is_wanted(self) -> bool:
        """Return whether a player waits for an arbiter."""
        return bool(self.status.calls or self.status.open_disputes)

    @property
    def called_ms(self) -> float:
        """The time of the oldest open call; infinite without one."""
        return min((call.since_ms for call in self.status.calls), default=inf)

    @property
    def signs(self) -> tuple[object, ...]:
        """Return values that change when the docket may have changed."""
        return self.status.size, tuple(call.number for call in self.status.calls)

    def lines(self) -> list[str]:
        """Return it as a list shows it: how it stands, then who calls for an arbiter."""
        status, mark = self.status, "!" if self.is_wanted else " "
        waited = age(self.now_ms - status.since_ms)
        stands = how_it_stands(status, self.now_ms).plain
        calls = [f"    {call_words(call)} ({age(self.now_ms - call.since_ms)} ago)" for call in status.calls]
        return [f"{mark} {self.name}  {printable(status.rules_id):<10}  {waited:>7}  {stands}", *calls]

    def clocks(self) -> str:
        """Return every clock on a line; empty in a game without clocks."""
        shown = [
            f"{players([seat])} {time_left(clock, self.now_ms)}{' (it runs)' if clock.running else ''}"
            for seat, clock in enumerate(self.status.clocks)
        ]
        return f"time left: {', '.join(shown)}" if shown else ""


class Post:
    """One arbiter at one referee, with the tokens that admit to its games."""

    def __init__(self, address: str, tokens: Sequence[str], key: PrivateKey, security: Security | None = None) -> None:
        self.address = address
        self.security = security
        self._tokens = tokens
        self._key = key
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def close(self) -> None:
        """Close every connection."""
        for channel in self._channels.values():
            await channel.close()

    def _channel(self, token: str) -> grpc.aio.Channel:
        if token not in self._channels:
            self._channels[token] = open_channel(self.address, token, self.security)
        return self._channels[token]

    async def cases(self) -> tuple[list[Case], int]:
        """Return the games that have our key, and how many others the tokens show.

        Those come first at which an arbiter is wanted, the oldest call before the others; apart from that a game keeps
        its place, however its players move. Raise ``ClientError``.
        """
        found: dict[str, Case] = {}
        others = set[str]()
        for token in self._tokens:
            for status, now_ms in await self._games(token):
                keys = list(status.arbiter_keys)
                if self._key.public.raw in keys:
                    found[status.id] = Case(status, token, keys.index(self._key.public.raw), now_ms)
                elif keys or status.state:  # of a game that is busy just now nothing is known
                    others.add(status.id)
        cases = sorted(found.values(), key=lambda case: (not case.is_wanted, case.called_ms, case.game_id))
        return cases, len(others)

    async def _games(self, token: str) -> list[tuple[pb.GameStatus, int]]:
        stub = status_service_pb2_grpc.StatusServiceStub(self._channel(token))
        request = pb.GetStatusRequest(page_size=_PAGE)
        games: dict[str, tuple[pb.GameStatus, int]] = {}
        try:
            while True:
                page = await stub.GetStatus(request, timeout=_CALL_S, metadata=bearer(token))
                games |= {game.id: (game, page.server.now_ms) for game in page.games}
                if not page.next_page_token:
                    return list(games.values())
                request.page_token = page.next_page_token
        except grpc.aio.AioRpcError as error:
            answer = answer_of(error)
            if answer.passes:
                raise Unreachable(f"no answer, {answer.code.name}") from error
            raise denied(answer) from error

    def calls(self, case: Case) -> Arbiter:
        """Return the calls of a game."""
        return Arbiter(self._channel(case.token), case.game_id, case.token)

    def bench(self, case: Case) -> Bench:
        """Return our place at a game."""
        return Bench(self.calls(case), Author(Role.ARBITER, case.arbiter), self._key)
