"""The work of a referee with others on its database: take up games that become its own, show its own to the others,
and hand them over on request. Knows no database, and no network between nodes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol

import structlog

from referee.server.live.game import LiveGame
from referee.server.live.refusals import Elsewhere, LiveGameError
from referee.server.live.view import game_message
from referee.server.store.nodes import News, Node, Nodes, Shown
from referee.server.store.store import Cause, StoreFailed

TAKEN_UP_AT_ONCE = 4
SHOWN_S = 0.5
"""The time until lists of other nodes show a change of a game, if not too many change at a time."""
MOST_SHOWN = 200
CONNECTED_S = 0.5
"""The interval at which a node checks whether it is cut off from the database."""
AGAIN_S = 1.0
"""The time until a failed action is tried again."""

_log = structlog.get_logger("referee.sharing")


def _again(error: Exception, again_s: float, **of: str) -> dict[str, Any]:
    """Return the log's fields about a failure that is tried again; with a traceback if it is not the database's."""
    unforeseen = not isinstance(error, StoreFailed)
    return {"error": str(error) or repr(error), "again_s": again_s, "exc_info": unforeseen, **of}


class Games(Protocol):
    """The live games, as far as they are shared; ``LiveGames`` says what its methods do."""

    def is_known(self, game_id: bytes) -> bool: ...

    async def game(self, game_id: bytes) -> LiveGame: ...

    def letting_go(self, game_id: bytes, to: Node) -> AbstractContextManager[None]: ...

    async def let_go(self, game_id: bytes, to: Node) -> None: ...

    def end_streams(self) -> None: ...

    @property
    def known_cause(self) -> Cause: ...


class NodeGames:
    """``start``, then ``close``; each once."""

    def __init__(self, live_games: Games, nodes: Nodes) -> None:
        self._live_games = live_games
        self._nodes = nodes
        self._changed: OrderedDict[bytes, LiveGame] = OrderedDict()
        """Games that the others do not know as they stand, the one that waits longest first."""
        self._given = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_draining = False
        self.taken_up = 0
        """Games that were others', since the start."""
        self.handed_over = 0

    def start(self) -> None:
        """Take up the games that are this node's, beside its other work, and later all that become its own."""
        self._given.set()
        self._begin(self._take_up_given())
        self._begin(self._show_changed())
        self._begin(self._end_streams_if_cut_off())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def close(self) -> None:
        """Stop. Call before the store is closed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def heard(self, news: News) -> None:
        """Do what follows from the news."""
        if news is News.GIVEN:
            self._given.set()
        elif news is News.DRAIN and not self._is_draining:
            self._is_draining = True
            self._begin(self._hand_over_all())

    # --- taking up -------------------------------------------------------------------------------------------------

    async def _take_up_given(self) -> None:
        """Take up this node's games that are not live, the soonest due first. A game that is asked for goes first."""
        while True:
            await self._given.wait()
            self._given.clear()
            try:
                own = await self._nodes.own()
                waiting = iter([each.game_id for each in own if not self._live_games.is_known(each.game_id)])
                results = await asyncio.gather(*(self._take_up(waiting) for _ in range(TAKEN_UP_AT_ONCE)))
            except Exception as error:  # noqa: BLE001 - whatever it is, only this node has these games
                _log.warning("games not taken up", **_again(error, AGAIN_S))
                results = [False]
            if not all(results):
                await asyncio.sleep(AGAIN_S)
                self._given.set()

    async def _take_up(self, waiting: Any) -> bool:
        """Return whether none has to be tried again."""
        is_done = True
        for game_id in waiting:
            try:
                await self._live_games.game(game_id)
                self.taken_up += 1
            except Elsewhere:
                is_done = False  # it is not this node's by now; or it is, and somebody asked for it too early
            except LiveGameError:
                pass  # it is set aside, which is reported
            except Exception as error:  # noqa: BLE001 - as above; the others are taken up all the same
                _log.warning("game not taken up", **_again(error, AGAIN_S, game=game_id.hex()))
                is_done = False
        return is_done

    # --- showing ---------------------------------------------------------------------------------------------------

    def grown(self, game: LiveGame) -> None:
        """Note that there is more of the game than the others know."""
        self._changed[game.game_id] = game

    async def _show_changed(self) -> None:
        while True:
            await asyncio.sleep(SHOWN_S)
            games = [self._changed.popitem(last=False)[1] for _ in range(min(MOST_SHOWN, len(self._changed)))]
            shown: list[Shown] = []
            for game in games:
                try:
                    if (record := game.peek()) is None:
                        if game.ledger.left_for is None:
                            self._changed.setdefault(game.game_id, game)
                    elif not record.is_final:
                        listed = game_message(record).SerializeToString()
                        shown.append(Shown(game.game_id, listed, record.last_ms, game.due_ms))
                except Exception as error:  # noqa: BLE001 - the others are shown all the same
                    _log.warning("games not shown to other nodes", **_again(error, SHOWN_S, game=game.game_id.hex()))
                    self._changed.setdefault(game.game_id, game)
            try:
                if shown:
                    await self._nodes.show(shown)
            except Exception as error:  # noqa: BLE001 - whatever it is, what follows is to be shown
                _log.warning("games not shown to other nodes", **_again(error, SHOWN_S))
                for game in games:
                    self._changed.setdefault(game.game_id, game)

    # --- being cut off ---------------------------------------------------------------------------------------------

    async def _end_streams_if_cut_off(self) -> None:
        """Send players and watchers away for as long as the node is cut off: their games continue at other nodes.

        While they hear signs of life they have no reason to look for them there.
        """
        is_told = False
        while True:
            await asyncio.sleep(CONNECTED_S)
            health = self._nodes.health
            if health is None or not health.is_cut_off:
                is_told = False
                continue
            if not is_told:
                cause = self._live_games.known_cause
                silent_s = round(health.silent_s, 1)
                if cause is Cause.STANDBY:
                    _log.warning("nothing can be entered", silent_s=silent_s, cause=cause.value)
                else:
                    _log.warning("cut off from the database", silent_s=silent_s, cause=cause.value)
                is_told = True
            self._live_games.end_streams()

    # --- handing over ----------------------------------------------------------------------------------------------

    async def _hand_over_all(self) -> None:
        """Hand over what is this node's, and whatever is opened here later, one by one."""
        _log.info("handing games over")
        is_told = False
        while True:
            others = [node for node in self._nodes.others if node.address and not node.draining]
            if not others:
                if not is_told:
                    _log.warning("no other referee takes games", again_s=AGAIN_S)
                    is_told = True
                await asyncio.sleep(AGAIN_S)
                continue
            try:
                own = await self._nodes.own()
            except Exception as error:  # noqa: BLE001 - whatever it is, they are to be handed over
                _log.warning("games not handed over", **_again(error, AGAIN_S))
                own = []
            for number, each in enumerate(own):
                try:
                    await self._hand_over(each.game_id, others[number % len(others)])
                except StoreFailed as error:
                    _log.warning("games not handed over", **_again(error, AGAIN_S))
                    break
                except Exception as error:  # noqa: BLE001 - the others are handed over all the same
                    _log.warning("games not handed over", **_again(error, AGAIN_S, game=each.game_id.hex()))
            await asyncio.sleep(AGAIN_S)

    async def _hand_over(self, game_id: bytes, to: Node) -> None:
        """Raise ``StoreFailed``; then it is taken up again, if it is this node's still."""
        with self._live_games.letting_go(game_id, to):
            try:
                await self._live_games.let_go(game_id, to)
            except LiveGameError:
                return  # it is over, or set aside: any node can show it, or none
            try:
                await self._nodes.hand_over(game_id, to)
            except Exception:
                self._given.set()  # or it would be live nowhere
                raise
            self.handed_over += 1
