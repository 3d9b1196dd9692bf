"""The checks over gRPC: the bot plays, and continues after faults of the network, of the referee and of its process."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from referee.games import registry
from referee.log.game import Phase
from referee.log.intent import decode_intent
from referee.log.v1.log_pb2 import ClockTerms, Increment, Terms
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.wire import registry as wire
from referee_clients.bot_check.catalogue import CATALOGUE, PLAYED, Result, Status, Wrong
from referee_clients.bot_check.positions import Position, reached
from referee_clients.bot_check.relay import Broken, Fault, Meddle, Way, single
from referee_clients.bot_check.scene import Patience, Play, Scene
from referee_clients.sdk.errors import ClientError

_CUTS: Final = 30
"""Messages from the referee that a stream breaks at: before every other one, else after it."""
_MOST_ATTEMPTS: Final = 12
"""The most attempts in ``Patience.flood_s``; a client that waits as the page says makes some seven."""
_NEWS_S: Final = 5.0
"""The seconds for the opponent to hear that the game is over, on a slow machine: a bot that has heard it first has
ended."""
_UNKNOWN: Final = b"\xc2\x3e\x07unheard\xc8\x3e\x01"
"""Two fields that no message has: 1000, bytes, and 1001, a number."""
_LATE: Final = 8
"""Entries after which a game is under way."""
Passed = tuple[tuple[bytes, ...], tuple[bytes, ...]]


def ids(rules_id: str, *, is_client: bool) -> tuple[str, ...]:
    """Return the checks that there are in this game. ``is_client``: the bot speaks gRPC itself, so it is not asked."""
    return (*(("two-games", *reached(rules_id)) if is_client else ()), *PLAYED)


class Skipped(Exception):
    """The check cannot be made with this bot: why."""


class NetworkChecks:
    """The checks of one game."""

    def __init__(self, rules_id: str, scenes: tuple[Scene, Scene], patience: Patience, *, is_client: bool) -> None:
        """``scenes``: draining and restart stop the second one's referee, and start it again.

        ``is_client``: the bot speaks gRPC itself.
        """
        self._rules_id = rules_id
        self._scene, self._other = scenes
        self._patience = patience
        self._is_client = is_client
        self._whole: asyncio.Task[Play] | None = None
        self._restarts = asyncio.Lock()

    def ids(self) -> tuple[str, ...]:
        """Return the checks that there are."""
        return ids(self._rules_id, is_client=self._is_client)

    async def results(self, wanted: Iterable[str]) -> AsyncIterator[Result]:
        """Make those of these checks that there are, all at one time, and yield them as they come."""
        chosen = [check for check in self.ids() if check in wanted]
        last = [check for check in chosen if check in {"same-bytes", "secrets"}]  # they look at all games
        async for result in self._at_once([check for check in chosen if check not in last]):
            yield result
        async for result in self._at_once(last):
            yield result

    async def _at_once(self, checks: list[str]) -> AsyncIterator[Result]:
        for done in asyncio.as_completed([self._result(check) for check in checks]):
            yield await done

    async def _result(self, check: str) -> Result:
        began = time.monotonic()
        made = partial(self._seldom, check) if check in reached(self._rules_id) else self._checks()[check]
        try:
            status, told = Status.PASSED, await made()
        except Wrong as wrong:
            status, told = Status.FAILED, str(wrong)
        except Skipped as skipped:
            status, told = Status.SKIPPED, str(skipped)
        return Result(CATALOGUE[check], self._rules_id, status, told, time.monotonic() - began)

    def _checks(self) -> dict[str, Callable[[], Awaitable[str]]]:
        """Return what makes each check that needs no position of its own."""
        return {
            "joins": self._joins,
            "plays": self._plays,
            "clock": self._clock,
            "stale-head": self._stale_head,
            "cuts": self._cuts,
            "closings": self._closings,
            "draining": self._draining,
            "restart": self._restart,
            "resumes": self._resumes,
            "refused": self._refused,
            "garbage": self._garbage,
            "unknown-fields": self._unknown_fields,
            "silence": self._silence,
            "paces": self._paces,
            "two-games": self._two_games,
            "same-bytes": self._same_bytes,
            "secrets": self._secrets,
        }

    # --- the checks ----------------------------------------------------------------------------------------------

    async def _joins(self) -> str:
        play = await self._whole_game()
        await self._comes_to(play, partial(_is_playing, play), "had not taken its seat")
        return ""

    async def _plays(self) -> str:
        play = await self._whole_game()
        await self._finished(play)
        if play.seen.refused:
            raise Wrong(
                f"{len(play.seen.refused)} of its moves were refused: {', '.join(sorted(set(play.seen.refused)))}"
            )
        return f"{play.size} entries"

    async def _clock(self) -> str:
        increment = Increment(base_ms=int(1000 * self._patience.clock_s), increment_ms=2_000)
        play = await self._scene.play("clock", terms=Terms(clock=ClockTerms(increment=increment, lag_ms=1_000)))
        try:
            await self._finished(play)
        finally:
            if play.result is not None and play.result.done() and play.result.result().ending == "FLAG":
                raise Wrong("its time was up")
        if play.seen.moves_without_time:
            return "it sends no thought_ms: the time of the network is charged, too"
        return ""

    async def _stale_head(self) -> str:
        play = await self._scene.play("stale-head", meddle=_others_come_first, is_short=True, waits=True)
        await self._finished(play)
        if "STALE_HEAD" not in play.seen.failures:
            raise Skipped("its acts do not come by PlayGame")
        return f"{play.seen.failures.count('STALE_HEAD')} times"

    async def _cuts(self) -> str:
        def plan(way: Way, number: int) -> Fault | None:
            if way is Way.UP or number >= _CUTS:
                return None
            return Fault.CUT_BEFORE if number % 2 else Fault.CUT_AFTER

        play = await self._scene.play("cuts", plan=plan, meddle=_loses_acts, is_short=True)
        await self._finished(play)
        return f"{len(play.party.suffered)} times"

    async def _closings(self) -> str:
        play = await self._scene.play("closings", meddle=_ends_early, is_short=True)
        await self._finished(play)
        return ""

    async def _draining(self) -> str:
        return await self._through_restarts("draining", signal.SIGTERM, (_LATE,))

    async def _restart(self) -> str:
        return await self._through_restarts("restart", signal.SIGKILL, (3, _LATE))

    async def _resumes(self) -> str:
        play = await self._scene.play("resumes", is_short=True)
        await self._comes_to(play, partial(_has, play, _LATE), f"had not come to entry {_LATE}")
        play.stop()
        if play.process is not None:
            await play.process.wait()
        await play.start()
        await self._finished(play)
        return ""

    async def _refused(self) -> str:
        play = await self._scene.play("refused", meddle=_refuses_once, is_short=True)
        try:
            await self._finished(play)
        except Wrong:
            code = play.process.exit_code if play.process is not None else None
            if not code or code < 0:
                raise
            return f"it ends with exit code {code}{play.last_words()}"
        return "it continues"

    async def _garbage(self) -> str:
        play = await self._scene.play("garbage", meddle=_garbles_once, is_short=True)
        await self._finished(play)
        return ""

    async def _unknown_fields(self) -> str:
        play = await self._scene.play("unknown-fields", meddle=lambda _: _adds_fields, is_short=True)
        await self._finished(play)
        return ""

    async def _silence(self) -> str:
        play = await self._scene.play("silence", plan=single(Way.DOWN, 6, Fault.STALL), is_short=True)
        await self._finished(play, self._patience.silence_s)
        return ""

    async def _paces(self) -> str:
        attempts = 0

        def nothing_passes(_: Play) -> Meddle:
            until: float | None = None

            async def meddle(way: Way, data: bytes) -> Passed:
                nonlocal until, attempts
                until = until or time.monotonic() + self._patience.flood_s
                if way is Way.UP and time.monotonic() < until:
                    attempts += 1
                    raise Broken("nothing comes through")
                return (data,), ()

            return meddle

        play = await self._scene.play("paces", meddle=nothing_passes, is_short=True)
        await self._finished(play)
        told = f"{attempts} attempts in {self._patience.flood_s:g} s"
        if attempts > _MOST_ATTEMPTS:
            raise Wrong(f"it made {told}; expected at most {_MOST_ATTEMPTS}")
        return told

    async def _two_games(self) -> str:
        plays = [await self._scene.play(f"two-games-{number}", is_short=True) for number in range(2)]
        for play in plays:
            await self._finished(play)
        return ""

    async def _seldom(self, check: str) -> str:
        """Start the bot in a position that seldom comes, and end the game when it has moved."""
        position = await asyncio.to_thread(reached(self._rules_id)[check])
        play = await self._scene.stage(check, position, meddle=partial(_lists, self._rules_id, position))
        try:
            await self._comes_to(play, partial(_has, play, play.staged + 1), f"had not moved in the {position.where}")
        except Wrong as wrong:
            broken = ", ".join(sorted(set(play.seen.refused)))
            raise Wrong(f"{wrong}; its move broke {broken}") from None if broken else wrong
        await self._scene.abort(play)
        await self._finished(play)
        if check == "full-list" and not play.seen.listed:
            raise Skipped("it asks for no list of legal moves")
        return f"{len(position.moves)} move{'s' * (len(position.moves) != 1)}"

    async def _same_bytes(self) -> str:
        plays = [play for play in await self._games() if play.name != "resumes"]
        heads = 0
        for play in plays:
            for (seq, _), acts in play.seen.acts.items():
                heads += 1
                if len(acts) > 1:
                    raise Wrong(f"in the game {play.name} it signed {len(acts)} acts for the head of {seq} entries")
        if not heads:
            raise Skipped("no acts came by PlayGame")
        return f"{heads} heads"

    async def _secrets(self) -> str:
        plays = await self._games()
        for play in plays:
            written = play.output()
            if play.token in written:
                raise Wrong(f"its token is in what it wrote, in the game {play.name}")
            key = play.folder / "key"
            lines = key.read_text(errors="replace").splitlines() if key.exists() else []
            if any(len(line) >= 32 and not line.startswith("-") and line in written for line in lines):
                raise Wrong(f"its private key is in what it wrote, in the game {play.name}")
        return ""

    # --- what they share -----------------------------------------------------------------------------------------

    async def _games(self) -> list[Play]:
        """Return all games; one that is played to its end if there were none."""
        if not self._scene.plays and not self._other.plays:
            await self._finished(await self._whole_game())
        return [*self._scene.plays, *(self._other.plays if self._other is not self._scene else ())]

    async def _whole_game(self) -> Play:
        if self._whole is None:
            self._whole = asyncio.create_task(self._scene.play("plays"))
        return await self._whole

    async def _through_restarts(self, name: str, how: signal.Signals, at: tuple[int, ...]) -> str:
        """Stop the referee and start it again when the game has come to each of these sizes.

        The bot's next act in PlayGame waits until it is back: a fast game would be over before the referee has stopped.
        """
        left, back = [*at], asyncio.Condition()

        def waits(play: Play) -> Meddle:
            async def meddle(way: Way, data: bytes) -> Passed:
                if way is Way.UP and pb.PlayGameRequest.FromString(data).HasField("act"):
                    async with back:
                        await back.wait_for(lambda: not left or play.size < left[0])
                return (data,), ()

            return meddle

        async with self._restarts:
            play = await self._other.play(name, meddle=waits, is_short=True)
            for size in at:
                await self._comes_to(play, partial(_has, play, size), f"had not come to entry {size}")
                await self._other.referee.restart(how)
                async with back:
                    left.pop(0)
                    back.notify_all()
            await self._finished(play)
        return ""

    async def _comes_to(self, play: Play, is_there: Callable[[], bool], not_yet: str) -> None:
        """Wait for it. Raise ``Wrong``."""
        until = time.monotonic() + self._patience.game_s
        while not is_there():
            if play.process is not None and play.process.exit_code is not None:
                raise Wrong(f"it ended with exit code {play.process.exit_code} and {not_yet}{play.last_words()}")
            if time.monotonic() > until:
                raise Wrong(f"it {not_yet} after {self._patience.game_s:g} s{play.last_words()}")
            await asyncio.sleep(0.05)

    async def _finished(self, play: Play, within_s: float | None = None) -> None:
        """Wait for the end of the game, then for that of the bot. Raise ``Wrong`` if either does not come, or early."""
        assert play.process is not None  # noqa: S101 - it was started
        within_s = within_s or self._patience.game_s
        ended = asyncio.create_task(play.process.wait())
        until = time.monotonic() + within_s
        while play.result is None or not play.result.done():
            if ended.done() and await self._is_ended_early(play):
                raise Wrong(f"it ended with exit code {ended.result()} before the game was over{play.last_words()}")
            if time.monotonic() > until:
                ended.cancel()
                raise Wrong(f"the game was not over after {within_s:g} s, at {play.size} entries{play.last_words()}")
            await asyncio.sleep(0.05)
        try:
            play.result.result()
        except ClientError as error:
            raise Wrong(f"the game could not be played: {error}") from error
        try:
            code = await asyncio.wait_for(ended, self._patience.leave_s)
        except TimeoutError:
            raise Wrong(
                f"it was still running {self._patience.leave_s:g} s after GAME_OVER{play.last_words()}"
            ) from None
        if code:
            raise Wrong(f"it ended with exit code {code}; expected 0 once the game is over{play.last_words()}")

    @staticmethod
    async def _is_ended_early(play: Play) -> bool:
        """Return whether the game continues without it: the opponent learns a little later that it is over."""
        if play.result is not None:
            await asyncio.wait((play.result,), timeout=_NEWS_S)
        return play.result is None or not play.result.done()


def _is_playing(play: Play) -> bool:
    ledger = play.opponent.ledger
    return bool(ledger.size) and ledger.record.phase not in {Phase.JOINING, Phase.REVEALING}


def _has(play: Play, size: int) -> bool:
    return play.size >= size


# --- what happens to messages ------------------------------------------------------------------------------------


def _others_come_first(play: Play) -> Meddle:
    """Hold its Join until the other seat has joined, and its Reveal until the other has revealed."""

    async def meddle(way: Way, data: bytes) -> Passed:
        asked = pb.PlayGameRequest.FromString(data) if way is Way.UP else pb.PlayGameRequest()
        if asked.HasField("act"):
            match decode_intent(asked.act.intent).WhichOneof("act"):
                case "join":
                    play.oppose()
                    await play.reached(2)
                case "reveal":
                    await play.reached(4)
        return (data,), ()

    return meddle


def _loses_acts(play: Play) -> Meddle:
    """Break the stream at every fourth act, which the referee never sees until it is sent again."""
    lost = set[bytes]()

    async def meddle(way: Way, data: bytes) -> Passed:
        act = pb.PlayGameRequest.FromString(data).act if way is Way.UP else pb.SignedAct()
        heads = len(play.seen.acts)
        if act.intent and act.intent not in lost and heads % 4 == 3:
            lost.update(*play.seen.acts.values())
            raise Broken("an act was lost")
        return (data,), ()

    return meddle


def _ends_early(play: Play) -> Meddle:
    """End a stream with TOO_SLOW, another one without a word, and a third with REPLACED, though nothing replaces it."""
    reasons = {5: pb.CLOSING_REASON_TOO_SLOW, 13: pb.CLOSING_REASON_REPLACED}
    number, seq = 0, -1

    async def meddle(way: Way, data: bytes) -> Passed:
        nonlocal number, seq
        if way is Way.UP:
            return (data,), ()
        number += 1
        if (reason := reasons.get(number)) is not None:
            play.party.ends = True
            closing = pb.Closing(reason=reason)
            return (pb.PlayGameResponse(seq=seq, closing=closing).SerializeToString(),), ()
        seq = pb.PlayGameResponse.FromString(data).seq
        play.party.ends = number == 9
        return (data,), ()

    return meddle


def _lists(rules_id: str, position: Position, play: Play) -> Meddle:
    """Have the first turn come with all moves of the position."""
    rules = registry.get(rules_id)
    codec, components = wire.codec(rules_id, rules.version), rules.default_components()
    listed = [codec.encode_move(move, components) for move in position.moves]

    async def meddle(way: Way, data: bytes) -> Passed:
        if way is Way.UP:
            return (data,), ()
        told = pb.PlayGameResponse.FromString(data)
        if told.turn.moves and told.turn.size == play.staged:
            play.seen.listed = True
            told.turn.moves[:] = listed
        return (told.SerializeToString(),), ()

    return meddle


def _refuses_once(_: Play) -> Meddle:
    """Refuse its third move, which the referee never sees."""
    moves, seq = 0, -1

    async def meddle(way: Way, data: bytes) -> Passed:
        nonlocal moves, seq
        if way is Way.DOWN:
            seq = pb.PlayGameResponse.FromString(data).seq
            return (data,), ()
        asked = pb.PlayGameRequest.FromString(data)
        moves += asked.HasField("act") and decode_intent(asked.act.intent).WhichOneof("act") == "move"
        if moves != 3:
            return (data,), ()
        moves += 1
        violation = game_pb2.Violation(rule_id="BOT-CHECK", text="This move is refused to see what the bot does.")
        answer = pb.Answer(id=asked.act.id, refused=pb.Refused(violations=[violation]))
        return (), (pb.PlayGameResponse(seq=seq, answer=answer).SerializeToString(),)

    return meddle


def _garbles_once(_: Play) -> Meddle:
    number = 0

    async def meddle(way: Way, data: bytes) -> Passed:
        nonlocal number
        number += way is Way.DOWN
        return ((b"\xff\xff\xff\xff",) if way is Way.DOWN and number == 6 else (data,)), ()

    return meddle


async def _adds_fields(way: Way, data: bytes) -> Passed:
    if way is Way.UP:
        return (data,), ()
    told = pb.PlayGameResponse.FromString(data)
    for name in ("commit", "answer", "turn", "heartbeat"):
        if told.HasField(name):
            getattr(told, name).MergeFromString(_UNKNOWN)
    return (told.SerializeToString() + _UNKNOWN,), ()
