"""Who goes on with a game, where several referees share a database: its owner, one of the nodes. Knows no database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol

CUT_OFF_S = 10.0
"""Silence after which a node takes its games for others', who may have had them since the lease ran out. Longer than
that: while the database is away from all nodes, such as at a failover, nobody has them.
"""


class Node(NamedTuple):
    """A referee that runs on the database, from its start to its end; who starts again is another node."""

    id: int
    """Of each start; a later one has a higher number."""
    name: str
    """Its machine and process, for people."""
    address: str
    """Where the other nodes reach it, as it gave it to ``serve``; empty: it serves nobody yet."""
    draining: bool = False
    """It hands its games over, and takes no more."""

    @property
    def words(self) -> str:
        """Return its number and its name, for people."""
        return f"{self.id} ({self.name})"


class Own(NamedTuple):
    """A game of this node's own that is not over."""

    game_id: bytes
    alive_ms: int | None
    """Until when somebody could act, before it became this node's; None: this node opened it."""


class Shown(NamedTuple):
    """How a game of this node's own stands."""

    game_id: bytes
    listed: bytes
    """As lists show it."""
    last_ms: int
    """Of its last entry; this and the next in milliseconds since 1970."""
    due_ms: int | None
    """When something is due if nobody acts before."""


class Health(NamedTuple):
    """What an operator of several nodes watches."""

    silent_s: float
    """Since this node last noted in the database that it lives; after the lease the others take its games."""
    reconnections: int
    """So many times its connection was given up, and what was under way had an unknown outcome."""

    @property
    def is_cut_off(self) -> bool:
        """Return whether what this node knows of its games may have been untrue for long."""
        return self.silent_s > CUT_OFF_S


class News(Enum):
    """What a node has to know of what others did."""

    GIVEN = auto()
    """Games of other nodes have become its own: ``Nodes.own`` has them."""
    DRAIN = auto()
    """It is to hand its games over."""
    REVOKED = auto()
    """Tokens that were good may be so no more."""
    GONE = auto()
    """One of them is dead: its games are others', whatever it says."""


class Nodes(Protocol):
    """The nodes, and which of them goes on with a game that is not over: it alone writes there and plays its clocks.

    Whose a game is changes only by the will of its owner, or when that is dead. Of a game that is over no node is the
    owner: any can show it. All methods are called on the event loop; those that ask the database raise
    ``StoreFailed``.
    """

    @property
    def shares(self) -> bool:
        """Return whether there can be others; if not, all games are this node's, and nothing below changes that."""

    @property
    def others(self) -> Sequence[Node]:
        """Return the other nodes that live, as of a moment ago."""

    @property
    def this(self) -> Node | None:
        """Return this node; None: it is the only one."""

    @property
    def health(self) -> Health | None:
        """Return how this node is among the others; None: it is the only one."""

    async def elsewhere(self, game_id: bytes) -> Node | None:
        """Return the other node that goes on with this game; None: this one does, or the game is over or not there.

        What is found out is kept as long as that node lives, until ``forget``.
        """

    async def owners(self, game_ids: Sequence[bytes]) -> dict[bytes, Node]:
        """Return by id who goes on with those of these games that are not over, where several nodes can."""

    def forget(self, game_id: bytes) -> None:
        """Have ``elsewhere`` find out again: that node said that the game is not its own."""

    def serve(self, address: str) -> None:
        """Tell the others where this node is reached, and have it given games of nodes that die from now on."""

    def decline(self) -> None:
        """Have this node, which is stopping, given no more games. It keeps its own until it ends."""

    def when(self, told: Callable[[News], None]) -> None:
        """Have this called, on the event loop, with what there is to know."""

    async def own(self) -> list[Own]:
        """Return this node's games: what is due soonest first, then those with the newest entries."""

    async def alive_ms(self, game_id: bytes) -> int | None:
        """Return until when somebody could act in the game, before it became this node's; None: always."""

    async def hand_over(self, game_id: bytes, to: Node) -> None:
        """Give a game of this node's, of which nothing is under way, to another node. It alone goes on from then."""

    async def show(self, games: Sequence[Shown]) -> None:
        """Have the other nodes show these games of this node's so."""

    async def shown(self, game_ids: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return by id how lists show those of these games with which other nodes go on; None: it is not known yet."""


class Alone:
    """``Nodes`` where there is one: all games are its own."""

    shares = False
    others: Sequence[Node] = ()
    this: Node | None = None
    health: Health | None = None

    async def elsewhere(self, _: bytes) -> Node | None:
        return None

    async def owners(self, _: Sequence[bytes]) -> dict[bytes, Node]:
        return {}

    def forget(self, _: bytes) -> None:
        """Nothing is kept."""

    def serve(self, _: str) -> None:
        """Nobody has to know."""

    def decline(self) -> None:
        """Nobody gives any."""

    def when(self, _: Callable[[News], None]) -> None:
        """There is no news."""

    async def own(self) -> list[Own]:
        return []

    async def alive_ms(self, _: bytes) -> int | None:
        return None

    async def hand_over(self, _: bytes, to: Node) -> None:
        """There is nobody."""

    async def show(self, _: Sequence[Shown]) -> None:
        """Nobody looks."""

    async def shown(self, _: Sequence[bytes]) -> dict[bytes, bytes | None]:
        return {}
