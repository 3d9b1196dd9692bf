"""Bots in Python that are wrong in one way each. Each name says how, beside the check that is meant to find it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from referee.games.alhambra.moves import Buy, TakeMoney


class _First:
    """Takes the first move, which is no mistake."""

    asked = 0

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        self.asked += 1
        return self.move(observation, legal_moves)

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return legal_moves[0]


class Honest(_First):
    pass


class NeedsArguments(_First):
    def __init__(self, depth: int) -> None:
        self.depth = depth


class RaisesAtTen(_First):
    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        if self.asked == 10:
            raise ZeroDivisionError("boom")
        return legal_moves[0]


class NoneAtFive(_First):
    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return None if self.asked == 5 else legal_moves[0]


class Illegal(_First):
    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return TakeMoney((0, 1, 2, 3, 4, 5, 6)) if self.asked == 5 else legal_moves[0]


class Leaves(_First):
    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        if self.asked == 5:
            sys.exit(7)
        return legal_moves[0]


async def coroutine(observation: Any, legal_moves: Sequence[Any]) -> Any:
    return legal_moves[0]


class Exits(_First):
    """Exits when it is made."""

    def __init__(self) -> None:
        sys.exit(0)


class EndsTheProcess(_First):
    """Ends the process that asks it, as if all were well."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        print("goodbye", flush=True)
        os._exit(0)


class Prints(_First):
    """Prints, in Python and past it."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        print("thinking", flush=True)
        os.write(1, b"thinking\n")
        return legal_moves[0]


class NoKingdomOfFour(_First):
    """Thinks of two seats."""

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        assert observation.seat < 2, "who are you?"
        return legal_moves[0]


class Hangs(_First):
    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        if self.asked == 5:
            time.sleep(600)
        return legal_moves[0]


class Slow(_First):
    """Takes its time with every twentieth move."""

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        time.sleep(0.3 if self.asked % 20 == 0 else 0)
        return legal_moves[0]


class NeedsAChoice(_First):
    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return legal_moves[1]


def _knows_no(*kinds: str) -> Callable[[], Any]:
    class Lacks(_First):
        def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
            for move in legal_moves:
                if type(move).__name__ in kinds:
                    raise NotImplementedError(type(move).__name__)
            return legal_moves[0]

    return Lacks


NoDiscard, NoCastle, NoGift = _knows_no("DiscardDomino"), _knows_no("PlaceCastle"), _knows_no("GiveTile")
NoSecond, NoSwap = _knows_no("BuildSecond"), _knows_no("RebuildSwap")
NoCoins, NoPair = _knows_no("GetCoins"), _knows_no("KeepPair")


def _has_room_for(most: int) -> Callable[[], Any]:
    class Table(_First):
        def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
            merits = [0] * most
            for number, _ in enumerate(legal_moves):
                merits[number] = -number
            return legal_moves[0]

    return Table


TableOf20, TableOf128 = _has_room_for(20), _has_room_for(128)
TableOf500, TableOf4096 = _has_room_for(500), _has_room_for(4096)


class PlansWithoutPasses(_First):
    """Looks one move ahead, to a decision of somebody's."""

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        after = observation.copy()
        after.apply(legal_moves[0])
        if type(after.pending()[0]).__name__ == "Forced":
            raise LookupError("nobody decides")
        return legal_moves[0]


class OneForAll(_First):
    """Keeps in its class what belongs to one game."""

    seat: int | None = None

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        if OneForAll.seat is None:
            OneForAll.seat = observation.seat
        if observation.turns < 2:
            OneForAll.seat = observation.seat
        assert OneForAll.seat == observation.seat, "whose game is this?"
        return legal_moves[0]


class TellsItsToken(_First):
    """Prints whatever it was started with."""

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        for word in sys.argv:
            if word.startswith("@"):
                print(Path(word[1:]).read_text(), file=sys.stderr)
        return legal_moves[0]


class NoSuchMethod:
    """Has its method under another name."""

    def move(self, observation: Any) -> Any:
        return None


class OneArgument:
    def choose(self, observation: Any) -> Any:
        return None


class AsyncChoose:
    async def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return legal_moves[0]


class Beginner(_First):
    def begin(self) -> None:
        pass


class NotTheSame(_First):
    """Chooses by what it has allocated, whatever the seed."""

    games = 0

    def __init__(self) -> None:
        NotTheSame.games += 1
        self.number = NotTheSame.games

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return legal_moves[self.number % len(legal_moves)]


class SharesItsCount(_First):
    """Counts the moves of all games as if they were one."""

    moves = 0

    def begin(self, table: Any) -> None:
        SharesItsCount.moves = 0

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        SharesItsCount.moves += 1
        return legal_moves[SharesItsCount.moves % len(legal_moves)]


class Overpays(_First):
    """Pays with all that it has, which is legal and not listed."""

    def move(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        for move in legal_moves:
            if isinstance(move, Buy):
                currency = observation.options.slot_currencies[move.slot]
                hand = [c for c, n in enumerate(observation.hands[observation.seat]) for _ in range(n)]
                return Buy(move.slot, tuple(c for c in hand if c // 9 == currency))
        return legal_moves[-1]
