"""The owners of games, where several referees share a database: each game belongs to one node. Knows no database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol

CUT_OFF_S = 10.0
"""Silence after which a node takes its games for others', who may have had them since the lease ran out. It is
longer than the lease: while all nodes lack the database, such as at a failover, no other node has them."""


class Node(NamedTuple):
    """A referee that runs on the database, from its start to its end; who starts again is another node."""

    id: int
    """The number of a start; a later one has a higher number."""
    name: str
    """Its machine and process, for people."""
    address: str
    """The address for the other nodes, as it gave it to ``serve``; empty: it does not serve yet."""
    draining: bool = False
    """True if it hands its games over, and takes no more."""

    @property
    def words(self) -> str:
        """Return its number and its name, for people."""
        return f"{self.id} ({self.name})"


class Own(NamedTuple):
    """A game of this node's own that is not over."""

    game_id: bytes
    alive_ms: int | None
    """The last time at which seats could act, before it became this node's; None: this node opened it."""


class Shown(NamedTuple):
    """The state of a game of this node's own."""

    game_id: bytes
    listed: bytes
    """The game as lists show it."""
    last_ms: int
    """The time of its last entry; this and the next in milliseconds since 1970."""
    due_ms: int | None
    """The time when something is due if no act comes before."""


class Health(NamedTuple):
    """The health that an operator of several nodes watches."""

    silent_s: float
    """The seconds since this node last noted in the database that it lives; after the lease the others take its
    games."""
    reconnections: int
    """The number of times that its connection was given up, and its work under way had an unknown outcome."""

    @property
    def is_cut_off(self) -> bool:
        """Return whether what this node knows of its games may have been untrue for long."""
        return self.silent_s > CUT_OFF_S


class News(Enum):
    """News of other nodes that a node has to know."""

    GIVEN = auto()
    """Games of other nodes have become its own: ``Nodes.own`` has them."""
    DRAIN = auto()
    """The node is to hand its games over."""
    REVOKED = auto()
    """Tokens that were good may be so no more."""
    GONE = auto()
    """One of them is dead: its games are others', whatever it says."""


class Nodes(Protocol):
    """The nodes, and the owner of each game that is not over: it alone writes there and plays its clocks.

    The owner changes only by its own will, or when it is dead. A game that is over has no owner: any node can show it.
    All methods are called on the event loop; those that ask the database raise ``StoreFailed``.
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
        """Return the other node that has this game; None: this one has it, or the game is over or not there.

        The answer is kept as long as that node lives, until ``forget``.
        """

    async def owners(self, game_ids: Sequence[bytes]) -> dict[bytes, Node]:
        """Return by id the owners of those of these games that are not over, where several nodes can be."""

    def forget(self, game_id: bytes) -> None:
        """Forget the answer of ``elsewhere``: that node said that the game is not its own."""

    def serve(self, address: str) -> None:
        """Tell the others where this node is reached, and have it given games of nodes that die from now on."""

    def decline(self) -> None:
        """Take no more games, as this node is stopping. It keeps its own until it ends."""

    def when(self, told: Callable[[News], None]) -> None:
        """Call this for all news, on the event loop."""

    async def own(self) -> list[Own]:
        """Return this node's games: those that are due soonest first, then those with the newest entries."""

    async def alive_ms(self, game_id: bytes) -> int | None:
        """Return the last time at which seats could act in the game, before it became this node's; None: always."""

    async def hand_over(self, game_id: bytes, to: Node) -> None:
        """Give a game of this node's, with nothing under way, to another node. It alone continues the game from
        then."""

    async def show(self, games: Sequence[Shown]) -> None:
        """Let the other nodes show these games of this node's in this state."""

    async def shown(self, game_ids: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return by id how lists show those of these games that other nodes have; None: it is not known yet."""


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
        """Do nothing: no node needs the address."""

    def decline(self) -> None:
        """Do nothing: no node gives games."""

    def when(self, _: Callable[[News], None]) -> None:
        """Do nothing: there is no news."""

    async def own(self) -> list[Own]:
        return []

    async def alive_ms(self, _: bytes) -> int | None:
        return None

    async def hand_over(self, _: bytes, to: Node) -> None:
        """Do nothing: there is no other node."""

    async def show(self, _: Sequence[Shown]) -> None:
        """Do nothing: no node looks."""

    async def shown(self, _: Sequence[bytes]) -> dict[bytes, bytes | None]:
        return {}
