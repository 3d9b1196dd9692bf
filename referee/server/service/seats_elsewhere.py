"""The games of one bearer of tokens at other nodes: a stream of each node, told in the one that the bearer has here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import grpc
import structlog

from referee.server.service.auth import Metadata
from referee.server.service.calls import ResponseStream
from referee.server.service.forwarding import Forwarder
from referee.server.store.nodes import Node
from referee.server.store.store import StoreFailed
from referee.v1 import game_service_pb2 as pb

METHOD = "referee.v1.GameService/WatchSeat"
LOOK_S = 0.5
"""How often to look which nodes there are and whether a game is told of by none, and to try again at one that does not
answer.
"""

_log = structlog.get_logger("referee.seats_elsewhere")


_MOST_OVER = 4096
HERE = 0
"""This node among the sources of a stream; other nodes have the ids of the database, from 1 on."""


class Together:
    """The one stream that a bearer has, in which several nodes tell of games.

    Nodes may contradict each other: one that hung tells of games that it has lost, and what one said may come late. But
    a log is one, so what follows on what was told is right, whoever says it, and what lies before is not told again. A
    picture that is as new begins the game anew, after an end with DRAINING. That a game leaves a node is no end of it:
    who has it next may go on without a picture, as a stream there that was begun before does.
    """

    def __init__(self, responses: ResponseStream, resume: Mapping[bytes, int | None]) -> None:
        """``resume``: games that were asked for, and after which seq; None: from a snapshot on."""
        self._responses = responses
        self._lock = asyncio.Lock()
        self._seqs = {game_id.hex(): seq for game_id, seq in resume.items() if seq is not None}
        """By game: the last entry that was told, or is known from before."""
        self._told = {*self._seqs}
        """Games of which whoever listens has a picture."""
        self._tellers: dict[str, int] = {}
        """Who told of a game last, as long as it is heard."""
        self.has_moved = False
        """A game has left the node that told of it; whoever looks for who has it now sets this back."""
        self._over: dict[str, None] = {}
        """Those that ended last, of which late words may come."""

    def source(self, node_id: int) -> Source:
        """Return the part of this node."""
        return Source(self, node_id)

    def left(self, node_id: int) -> None:
        """Note that nothing more is heard of this node: any other may go on."""
        for game_id in [game_id for game_id, teller in self._tellers.items() if teller == node_id]:
            del self._tellers[game_id]

    @property
    def told(self) -> dict[str, int]:
        """The games of which whoever listens has a picture, and up to where."""
        return {each: self._seqs[each] for each in self._told}

    @property
    def untold(self) -> list[bytes]:
        """Those of them of which nobody who is heard has said anything: perhaps nobody will."""
        return [bytes.fromhex(each) for each in self._told if each not in self._tellers]

    async def tell(self, node_id: int, data: bytes) -> None:
        """Send a message, unless it is out of date, or of the stream between two nodes. Raise ``Gone``."""
        message = pb.WatchSeatResponse.FromString(data)
        async with self._lock:
            if await self._is_new(node_id, message) if message.game_id else node_id == HERE:
                await self._responses.send(data)

    async def _is_new(self, node_id: int, message: pb.WatchSeatResponse) -> bool:
        game_id, update = message.game_id, message.update
        seq, is_told = self._seqs.get(game_id, -1), game_id in self._told
        if game_id in self._over:
            return False
        if update.HasField("closing"):
            return self._ends(node_id, game_id, update.closing.reason)
        if update.HasField("snapshot"):
            if update.seq < seq:
                return False
            if is_told:
                await self._responses.send(_left(game_id, seq))
            self._told.add(game_id)
        elif update.HasField("commit"):
            if not is_told or update.seq - len(update.commit.entries) != seq:
                return False
        elif message.turn.size != seq + 1:
            return False
        if message.HasField("update"):
            self._seqs[game_id] = update.seq
        self._tellers[game_id] = node_id
        return True

    def _ends(self, node_id: int, game_id: str, reason: int) -> bool:
        if self._tellers.get(game_id, node_id) != node_id:
            return False
        self._tellers.pop(game_id, None)
        if reason == pb.CLOSING_REASON_DRAINING:
            self.has_moved = True
            return False
        self._told.discard(game_id)
        if reason == pb.CLOSING_REASON_GAME_OVER:
            self._seqs.pop(game_id, None)
            self._over[game_id] = None
            if len(self._over) > _MOST_OVER:
                del self._over[next(iter(self._over))]
        return True


def _left(game_id: str, seq: int) -> bytes:
    """Return what is said of a game before another node begins it anew."""
    closing = pb.Closing(reason=pb.CLOSING_REASON_DRAINING)
    update = pb.WatchGameResponse(seq=seq, closing=closing)
    return pb.WatchSeatResponse(game_id=game_id, update=update).SerializeToString()


@dataclass(frozen=True, slots=True)
class Source:
    """Where one node puts its messages."""

    together: Together
    node_id: int

    async def send(self, data: bytes) -> None:
        """Send a message. Raise ``Gone``."""
        await self.together.tell(self.node_id, data)


class Here(Protocol):
    """What this node tells; ``SeatStreams`` says what its methods do."""

    def tells(self, game_id: bytes) -> bool: ...

    def enter(self, game_id: bytes) -> None: ...


class SeatsElsewhere:
    """Of one stream: what the other nodes tell."""

    def __init__(self, forward: Forwarder, told: Metadata, together: Together, here: Here) -> None:
        """``told``: what nodes are told of the caller."""
        self._forward = forward
        self._told = told
        self._together = together
        self._here = here
        self._heard: set[int] = set()
        """Nodes that have said something in the stream that they have now: they know what they are to tell of."""
        self._is_in_doubt = True
        """Of some game perhaps no node tells."""

    async def run(self) -> None:
        """Tell until cancelled. Raise ``Gone`` when nobody listens."""
        following: dict[int, asyncio.Task[None]] = {}
        try:
            while True:
                for node in self._forward.nodes.others:
                    if node.address and node.id not in following:
                        following[node.id] = asyncio.create_task(self._follow(node))
                await asyncio.sleep(LOOK_S)
                for node_id in [node_id for node_id, task in following.items() if task.done()]:
                    following.pop(node_id).result()
                if self._is_in_doubt or self._together.has_moved:
                    await self._tell_of_the_rest()
        finally:
            for task in following.values():
                task.cancel()
            await asyncio.gather(*following.values(), return_exceptions=True)

    async def _follow(self, node: Node) -> None:
        """Tell of the games of this node as long as it lives."""
        source = self._together.source(node.id)
        while self._is_there(node):
            try:
                points = [pb.ResumePoint(game_id=each, after_seq=seq) for each, seq in self._together.told.items()]
                request = pb.WatchSeatRequest(resume=points).SerializeToString()
                async for data in self._forward.messages(node, METHOD, request, self._told):
                    self._heard.add(node.id)
                    await source.send(data)
            except grpc.aio.AioRpcError as error:
                _log.debug("no word from a node", node=node.name, error=error.details())
            finally:
                self._heard.discard(node.id)
                self._together.left(node.id)
                self._is_in_doubt = True
            await asyncio.sleep(LOOK_S)

    def _is_there(self, node: Node) -> bool:
        return any(other.id == node.id for other in self._forward.nodes.others)

    async def _tell_of_the_rest(self) -> None:
        """Have this node tell of the games that are its own by now, or over: of their end no other one tells.

        Whose a game is says nothing of who was asked for it in time. So it is asked again until every other node has
        been heard: what is a node's then, it tells.
        """
        nodes = self._forward.nodes
        self._together.has_moved = False
        # Before the question: what a node has not been asked for when it is answered is in doubt still.
        self._is_in_doubt = not all(node.id in self._heard for node in nodes.others)
        untold = [game_id for game_id in self._together.untold if not self._here.tells(game_id)]
        try:
            elsewhere = await nodes.shown(untold) if untold else {}
        except StoreFailed as error:
            self._is_in_doubt = True
            _log.debug("not known whose games are", error=str(error))
            return
        for game_id in untold:
            if game_id not in elsewhere:
                self._is_in_doubt = True  # until it is told, or has become another's once more
                self._here.enter(game_id)
