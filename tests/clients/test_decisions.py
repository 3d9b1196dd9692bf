"""A bot's information beside the position, and its acts beside moves: at a referee, and as a program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from referee.log.entry import decode_entry
from referee.log.events import Consented, Protested, Revealed, TakeBackProposed
from referee.log.replay import Record
from referee_clients import play_async
from referee_clients.bots import Ending, Happening, Proposal, Protest, Table, TakeBack, load
from referee_clients.match import IllegalMove, play_game
from referee_clients.sdk.errors import BadMove
from referee_clients.sdk.player import GameResult
from tests.clients.bots import python
from tests.clients.referee_process import Referee
from tests.clients.seats_that_end import opened
from tests.waiting import MOST_S, until


class Listens:
    """A bot that plays the first move, and keeps what it receives."""

    def __init__(self, *, agrees: bool = False) -> None:
        self.told: list[tuple[Happening, ...]] = []
        self.proposals: list[Proposal] = []
        self._agrees = agrees

    def begin(self, table: Table) -> None:
        self.table = table

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        self.told.append(tuple(self.table.since()))
        return legal_moves[0]

    def agrees(self, proposal: Proposal) -> bool:
        self.proposals.append(proposal)
        return self._agrees

    def end(self, ending: Ending | None) -> None:
        self.told.append(tuple(self.table.since()))


class Regrets(Listens):
    """Takes its first choice and what followed back, once, and chooses the last move instead."""

    def __init__(self, wait_s: float) -> None:
        super().__init__()
        self.moved: list[bytes] = []
        self.proposed: int | None = None
        self._wait_s = wait_s

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        since = tuple(self.table.since())
        # Nothing was drawn since its move: going back is allowed.
        if self.proposed is None and since and all(each.kind == "move" for each in since) and self.moved:
            self.proposed = since[0].seq - 2
            return TakeBack(self.proposed, self._wait_s)
        self.moved.append(observation.digest())
        return super().choose(observation, legal_moves)


async def played(referee: Referee, folder: Path, *bots: Any, words: tuple[str, ...] = ()) -> GameResult:
    game = await opened(referee, folder, *words, seats=len(bots))
    results = await asyncio.gather(*(play_async(join, bot) for join, bot in zip(game.joins, bots, strict=True)))
    return results[0]


def events_of(result: GameResult) -> list[Any]:
    record = Record(decode_entry(result.entries[0]).open)
    return [record.read(data).event for data in result.entries]


async def test_a_bot_is_told_all_that_happened_since_its_own_decision(referee: Referee, tmp_path: Path) -> None:
    first, second = Listens(), Listens()
    result = await played(referee, tmp_path, first, second, words=("--clock", "5m+0s"))
    assert first.table.terms is not None
    assert first.table.terms.clock.increment.base_ms == 300_000
    assert bytes.fromhex(first.table.game_id)
    seen = [each.seq for told in first.told for each in told]
    own = {each.seq for told in second.told for each in told if each.seat == 0}
    assert own
    assert seen == sorted(set(seen))
    assert not own & set(seen)
    revealed = [seq for seq, event in enumerate(events_of(result)) if isinstance(event, Revealed)]
    assert own | set(seen) == set(range(revealed[-1] + 1, result_end(result)))
    spoken = next(each for told in second.told for each in told if each.seat == 0)
    assert spoken.kind == "move"
    assert spoken.text.startswith("player 1: ")


def result_end(result: GameResult) -> int:
    """The entry of the end."""
    return next(seq for seq, data in enumerate(result.entries) if decode_entry(data).HasField("end"))


@pytest.mark.parametrize("agrees", [True, False])
async def test_moves_are_taken_back_if_the_other_bot_agrees(referee: Referee, tmp_path: Path, agrees: bool) -> None:
    regrets, other = Regrets(MOST_S if agrees else 2.0), Listens(agrees=agrees)
    result = await played(referee, tmp_path, regrets, other, words=("--take-backs",))
    events = events_of(result)
    proposed = [seq for seq, event in enumerate(events) if isinstance(event, TakeBackProposed)]
    assert other.proposals == [Proposal(proposed[0], 0, regrets.proposed or 0)]
    assert len(proposed) == 1
    assert sum(isinstance(event, Consented) for event in events) == agrees
    assert (len(regrets.moved) > len(set(regrets.moved))) == agrees, "decides the same once more"
    assert result.ending == "RULES"


class Protests(Listens):
    """A bot that protests once, and waits with its next move until the game may continue."""

    def __init__(self) -> None:
        super().__init__()
        self.protested: list[int] = []
        self.goes_on = Event()

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        since = self.table.since()
        if not self.protested and since:
            self.protested.append(since[0].seq)
            return Protest(since[0].seq, "KDO-6")
        if self.protested:
            self.told.append(tuple(since))
            self.goes_on.wait(MOST_S)
        return legal_moves[0]


async def test_a_bot_protests_and_plays_on(referee: Referee, tmp_path: Path) -> None:
    bot = Protests()
    game = await opened(referee, tmp_path)
    seats = asyncio.gather(play_async(game.joins[0], bot), play_async(game.joins[1], load("greedy", "kingdomino")))
    await until(lambda: bot.told, "the bot is asked again, after its protest", every_s=0.02)
    assert [each.kind for each in bot.told[0]][-1] == "protest"
    await game.ruled("void", "--rule", "TBL-30", "--decides", bot.told[0][-1].seq)
    bot.goes_on.set()
    result = (await seats)[0]
    (protest,) = (event for event in events_of(result) if isinstance(event, Protested))
    assert [protest.against_seq] == bot.protested
    assert result.ending == "VOIDED"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (TakeBack(0), r"the rules of the table forbid: .*TBL-24"),
        (TakeBack(-1), r"chose TakeBack with -1; expected the number of an entry"),
        (Protest(1, "no rule!"), r"the rules of the table forbid: "),
    ],
    ids=repr,
)
async def test_an_act_that_the_table_forbids_is_the_bots_failure(
    referee: Referee, tmp_path: Path, answer: Any, why: str
) -> None:
    class Asks:
        def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
            return answer

    game = await opened(referee, tmp_path)
    other = asyncio.create_task(play_async(game.joins[1], load("random", "kingdomino")))
    with pytest.raises(BadMove, match=why):
        await play_async(game.joins[0], Asks())
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)


def test_where_there_is_no_log_nothing_is_taken_back() -> None:
    class Asks:
        def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
            return TakeBack(1)

    with pytest.raises(IllegalMove, match=r"seat 0 chose TakeBack\(.*\); expected a move, as there is no log"):
        play_game([Asks(), load("random", "kingdomino")], 1, "kingdomino")


ASKS = """
import json, sys
regrets = {regrets}
asked = False
moved = False
for line in sys.stdin:
    ((kind, told),) = json.loads(line).items()
    print(line.strip(), file=open({heard!r}, "a"))
    if kind == "hello":
        answer = {{"name": "x", "take_backs": True}}
    elif kind == "take_back":
        answer = {{"agree": True}}
    elif kind == "turn":
        since = told["since"]
        if regrets and moved and not asked and since and all(each["kind"] == "move" for each in since):
            asked, answer = True, {{"take_back": {{"to": since[0]["entry"] - 2}}}}
        else:
            moved, answer = True, {{"move": 0}}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


async def test_programs_take_back_and_agree(referee: Referee, tmp_path: Path) -> None:
    heard = [tmp_path / "first", tmp_path / "second"]
    bots = [
        load(python(tmp_path, ASKS.format(regrets=seat == 0, heard=str(heard[seat])), f"bot{seat}.py"), "kingdomino")
        for seat in (0, 1)
    ]
    result = await played(referee, tmp_path, *bots, words=("--take-backs",))
    assert sum(isinstance(event, Consented) for event in events_of(result)) == 1
    lines = [json.loads(line) for line in heard[1].read_text().splitlines()]
    (asked,) = [line["take_back"] for line in lines if "take_back" in line]
    assert asked.keys() == {"entry", "seat", "to"}
    (told,) = [line["new"] for line in lines if "new" in line]
    assert told["terms"]["take_backs"] is True
