"""An event at a referee, and the same acts over the board."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, cast

from referee.log import intent
from referee.log.events import Author, Moved, Role
from referee.log.keys import PrivateKey
from referee.tournament.log import EventLog
from referee.tournament.rebuild import read_again
from referee.tournament.rules import TOURNAMENT, State, Terms
from referee.tournament.rules.acts import Act
from referee.tournament.rules.position import commitment
from referee.tournament.simulate import Chances, Simulation
from referee.tournament.wire import CODECS
from referee.v1 import event_service_pb2 as pb
from referee.v1 import event_service_pb2_grpc as pb_grpc
from referee.v1 import game_service_pb2 as game_pb
from tests.server.service.player import SCRIBE, Client, Play, bearer

SEED = sha256(b"event").digest()
CODEC = CODECS[TOURNAMENT.version]
DESK = Author(Role.SCRIBE, 0)
BUSY = Chances(absent=0.1, late=0.1, withdraw=0.1, no_show=0.05, forfeit=0.05, amend=0.1)


class Events:
    """EventService, with the organiser's token."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.stub: Any = pb_grpc.EventServiceStub(client.channel)
        self.metadata = bearer(client.organiser)

    async def begin(self, terms: Terms, key: PrivateKey = SCRIBE, *others: bytes) -> Desk:
        """``others``: public keys that enter acts, too."""
        keys = [key.public.raw, *others]
        request = pb.CreateEventRequest(terms=CODEC.encode_components(terms), organiser_keys=keys)
        created: pb.CreateEventResponse = await self.stub.CreateEvent(request, metadata=self.metadata)
        desk = Desk(self, created)
        await desk.catch_up(1)
        return desk

    def get(self, event: Desk | str) -> Any:
        return self.stub.GetEvent(pb.GetEventRequest(id=_id(event)))

    def standings(self, event: Desk | str, round_: int = 0, token: str = "") -> Any:
        request = pb.GetStandingsRequest(id=_id(event), round=round_)
        return self.stub.GetStandings(request, metadata=bearer(token) if token else None)

    def pairing(self, event: Desk | str, token: str = "") -> Any:
        request = pb.ProposePairingRequest(id=_id(event))
        return self.stub.ProposePairing(request, metadata=bearer(token) if token else self.metadata)

    def list(self, **fields: Any) -> Any:
        return self.stub.ListEvents(pb.ListEventsRequest(**fields))


def _id(event: Desk | str) -> str:
    return event if isinstance(event, str) else event.id


class Desk(Play):
    """One event, and its organiser, who sees what everybody sees."""

    def __init__(self, events: Events, created: pb.CreateEventResponse) -> None:
        super().__init__(events.client, cast("Any", created), random.Random(1))
        self.token = created.organiser_token
        self.number = created.event_id

    @property
    def state(self) -> State:
        return cast("State", self.record.game.position.state)

    async def enter(self, act: Act) -> game_pb.Accepted:
        data = CODEC.encode_move(act, self.state.terms)
        return await self.act(intent.move(self.place, DESK, SCRIBE, data), self.token)

    async def enter_all(self, acts: Iterable[Act]) -> None:
        for act in acts:
            await self.enter(act)


def over_the_board(terms: Terms | None = None, players: int = 13, chances: Chances = BUSY, seed: int = 1) -> EventLog:
    """Return a random event that was played to its end, in a file of its own."""
    terms = terms or Terms(rounds=3, late_until=3, commitment=commitment(SEED))
    log = EventLog.new(terms, PrivateKey.generate())
    Simulation(log, SEED, players, chances, seed).run()
    return log


def acts_of(log: EventLog) -> Iterator[tuple[Act, State]]:
    """Yield every act, with the event after it."""
    for happened in read_again(log):
        if isinstance(happened.event, Moved):
            yield happened.event.move, cast("State", happened.after)


async def event_until(client: Client, until: type[Act] | None, *others: bytes) -> Desk:
    """Return an event of eight over two rounds, up to the first act of that kind, without it; None: to its end."""
    terms = Terms(rounds=2, commitment=commitment(SEED))
    desk = await Events(client).begin(terms, SCRIBE, *others)
    for act, _ in acts_of(over_the_board(terms, players=8, chances=Chances())):
        if until is not None and isinstance(act, until):
            break
        await desk.enter(act)
    return desk
