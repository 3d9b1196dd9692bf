"""The harness passes a game that keeps the contract, and finds every way in which one can break it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import BytesValue

from referee.games.game import Decision, ForcedPass, Over, UnknownRules, Violation
from referee.harness import ContractError, Shuffler, check_game, evenly
from tests.games import heap
from tests.games.heap import Dealer, Die, Game, Heap, Take
from tests.games.heap_codec import Codec


class Words:
    """Words for the game that is registered nowhere."""

    def describe(self, event: Any, state: Any) -> str:
        return f"take {event.stones}" if isinstance(event, Take) else {Die: "die", ForcedPass: "pass"}[type(event)]

    def rounds(self, state: Any, held: int) -> list[str]:
        return []


class Pictures:
    def position_text(self, state: Any, seats: Any = None, **how: Any) -> str:
        return f"{state.stones} stones\n"

    def boards_text(self, state: Any, seats: Any = None, **how: Any) -> str:
        return self.position_text(state)

    def seat_svg(self, state: Any, seat: int, title: str) -> str:
        return "<svg/>"

    def pieces(self) -> tuple[str, ...]:
        return ()

    def components(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("seats", range(1, 5))
def test_a_game_that_is_registered_nowhere(seats: int) -> None:
    """The game and its codec are all that it takes."""
    for seed in range(5):
        played = check_game(heap.Game(), seats, random.Random(seed), options=30, codec=Codec())
        assert sum(played.over.scores) == 30
        assert len(played.events) == len(played.wire) == len(played.digests)


def test_words_and_pictures_are_asked_for_where_they_are_given() -> None:
    seen: list[Any] = []

    def watch(state: Any) -> None:
        seen.append(state.stones)

    played = check_game(
        heap.Game(), 2, random.Random(1), codec=Codec(), notation=Words(), renderer=Pictures(), watch=watch
    )
    assert len(seen) == len(played.events) + 1
    assert seen[-1] == 0
    assert {type(event) for event in played.events} == {Die, Take, ForcedPass}


def test_a_game_that_is_registered_nowhere_needs_its_codec() -> None:
    with pytest.raises(UnknownRules, match="heap"):
        check_game(heap.Game(), 2, random.Random(0))


def later(state: Heap) -> Heap:
    """It is changed where it should only be looked at."""
    state.turns += len(state.taken)
    return state


def again(state: Heap) -> Heap:
    """The heap never gets smaller."""
    state.stones = 20
    return state


DEFECTS: dict[str, tuple[type, str, Any, str]] = {
    "two awaited": (Heap, "pending", lambda was: lambda self: was(self) * 2, "2 things are awaited"),
    "a move twice": (Heap, "legal_moves", lambda was: lambda self: iter([*was(self)] * 2), "listed twice"),
    "an illegal move": (
        Heap,
        "legal_moves",
        lambda was: lambda self: iter([*was(self), Take(3)] if 0 < self.die < 3 else was(self)),
        "listed and refused",
    ),
    "no moves": (Heap, "legal_moves", lambda was: lambda self: iter(()), "0 moves are listed"),
    "a pass beside moves": (
        Heap,
        "check",
        lambda was: lambda self, event: () if isinstance(event, ForcedPass) else was(self, event),
        "a pass is possible",
    ),
    "chance out of turn": (
        Heap,
        "check",
        lambda was: lambda self, event: () if isinstance(event, Die) else was(self, event),
        "is legal where",
    ),
    "a move out of turn": (
        Heap,
        "check",
        lambda was: lambda self, event: () if isinstance(event, Take) and self.die < 0 else was(self, event),
        "is legal where",
    ),
    "an unknown rule": (
        Heap,
        "check",
        lambda was: lambda self, event: tuple(Violation("HEAP-9") for _ in was(self, event)),
        "HEAP-9, which is no rule",
    ),
    "looking changes": (
        Heap,
        "legal_moves",
        lambda was: lambda self: was(later(self)),
        "changed the state",
    ),
    "checking changes": (
        Heap,
        "check",
        lambda was: lambda self, event: was(later(self), event),
        "changed the state",
    ),
    "a copy that is shared": (Heap, "copy", lambda was: lambda self: self, "not independent"),
    "a copy that shares": (
        Heap,
        "copy",
        lambda was: lambda self: Heap(self.taken, self.stones, self.turns, self.die),
        "not independent",
    ),
    "a view of the game": (
        Heap,
        "observation",
        lambda was: lambda self, seat: self,
        "an earlier observation of a seat changed",
    ),
    "another copy": (Heap, "copy", lambda was: lambda self: Heap([0, 0], 20), "the copy is another position"),
    "another digest": (Heap, "digest", lambda was: lambda self: self.encode(), "not SHA-256"),
    "the turn is not encoded": (Heap, "encode", lambda was: lambda self: was(self)[:2], "nothing happened"),
    "outcomes that never end": (
        Heap,
        "chance_outcomes",
        lambda was: lambda self: ((Die(n), 1) for n in range(4)),
        "though the game is over",
    ),
    "an outcome that is not listed": (
        Heap,
        "chance_outcomes",
        lambda was: lambda self: (pair for pair in was(self) if pair[0].shows),
        "neither it is listed",
    ),
    "a weight of none": (
        Heap,
        "chance_outcomes",
        lambda was: lambda self: ((die, 0) for die, _ in was(self)),
        "has weight 0",
    ),
    "one label for all": (
        Dealer,
        "outcome",
        lambda was: lambda self, state: Die(self.stream.uniform("dice", 4)),
        "twice",
    ),
    "a bad label": (Dealer, "outcome", lambda was: lambda self, state: Die(self.stream.uniform("Dice", 4)), "label"),
    "a second encoding": (
        Codec,
        "decode_outcome",
        lambda was: lambda self, data, components: Die(data[0] % 4 if data else 0),
        "has two encodings",
    ),
    "bytes of another move": (
        Codec,
        "encode_move",
        lambda was: lambda self, move, components: bytes([1]),
        "are read as",
    ),
    "other default tables": (Game, "default_components", lambda was: lambda self: b"more", "default_components"),
    "no position": (Codec, "position", lambda was: lambda self, state: None, "no message"),
    "two lines": (Words, "describe", lambda was: lambda self, event, state: "take\n1", "one line"),
    "the same words": (
        Words,
        "describe",
        lambda was: lambda self, event, state: was(self, event, state).split()[0],
        "are described alike",
    ),
    "no words": (Words, "describe", lambda was: lambda self, event, state: "", "one line"),
    "boxes in ASCII": (Pictures, "position_text", lambda was: lambda self, *_, **__: "┏\n", "not ASCII"),
    "places upside down": (
        Heap,
        "pending",
        lambda was: (
            lambda self: (Over(was(self)[0].ending, (1, 2), (1, 2)),) if isinstance(was(self)[0], Over) else was(self)
        ),
        "do not fit",
    ),
    "a seat that is not there": (
        Heap,
        "pending",
        lambda was: lambda self: (Decision(7, ("take",)),) if isinstance(was(self)[0], Decision) else was(self),
        "expected a seat",
    ),
    "a stand-in that is illegal": (
        Heap,
        "stand_in",
        lambda was: lambda self, seat: Take(9) if was(self, seat) else None,
        "the stand-in's .* is refused",
    ),
    "a stand-in that draws lots": (
        Heap,
        "stand_in",
        lambda was: lambda self, seat: was(self, seat) and Take(random.randint(1, min(self.die, self.stones))),
        "in the same position",
    ),
    "a stand-in for anybody": (
        Heap,
        "stand_in",
        lambda was: lambda self, seat: Take(1),
        "which is not awaited",
    ),
    "an illegal sample": (Heap, "sample", lambda was: lambda self, below: Take(1), "is sampled and refused"),
    "a sample of its own luck": (
        Heap,
        "sample",
        lambda was: lambda self, below: was(self, random.randrange),
        "the same draws give",
    ),
    "a sample that draws from the game": (
        Heap,
        "sample",
        lambda was: lambda self, below: was(later(self), below),
        "changed the state",
    ),
    "what may stand and does nothing": (
        Heap,
        "apply",
        lambda was: lambda self, event: None if isinstance(event, Take) and self.check(event) else was(self, event),
        "stands, and nothing happened",
    ),
    "no end": (
        Heap,
        "apply",
        lambda was: lambda self, event: was(again(self), event),
        "does not end",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, make, message = DEFECTS[defect]
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    with pytest.raises(ContractError, match=message) as caught:  # noqa: PT012 - one of five games is enough
        for seed in range(5):
            rng = random.Random(seed)
            check_game(heap.Game(), 2, rng, codec=Codec(), notation=Words(), renderer=Pictures(), most_events=99)
    if "label" not in message:
        assert any("heap, version 1, 2 seats" in note for note in caught.value.__notes__)


def test_what_a_game_raises_is_told_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Codec, "position", lambda self, state: BytesValue(value=bytes([1 // (state.stones - 18)])))
    with pytest.raises(ZeroDivisionError) as caught:
        check_game(heap.Game(), 3, random.Random(3), codec=Codec())
    assert "after " in caught.value.__notes__[1]


def test_what_may_stand_is_a_constraint_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap.Game, "waivable", frozenset({"HEAP-3", "HEAP-9"}))
    with pytest.raises(ContractError, match="waivable: HEAP-9;"):
        check_game(heap.Game(), 2, random.Random(0), codec=Codec())


def test_a_rule_that_cannot_be_waived_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """More stones than there are: the heap cannot continue from there, and the notes name the game."""
    monkeypatch.setattr(heap.Game, "waivable", frozenset({"HEAP-2", "HEAP-3"}))
    with pytest.raises(ValueError, match="must be in range") as caught:  # noqa: PT012 - one of five games is enough
        for seed in range(5):
            check_game(heap.Game(), 2, random.Random(seed), codec=Codec())
    assert "in a second game, with stand-ins for seats" in caught.value.__notes__[0]


def test_a_choice_of_ones_own() -> None:
    """The least that can be taken, so the game is as long as it can be."""
    played = check_game(heap.Game(), 1, random.Random(2), codec=Codec(), choose=lambda rng, state, moves: moves[0])
    assert sum(isinstance(event, Take) for event in played.events) == 20
    played = check_game(heap.Game(), 1, random.Random(2), codec=Codec(), choose=evenly)
    assert sum(isinstance(event, Take) for event in played.events) < 20


def test_shuffler_knows_what_a_committed_deck_asks_of_labels() -> None:
    shuffler = Shuffler(random.Random(1))
    assert sorted(shuffler.permutation("shuffle/a-1/0", 5)) == [0, 1, 2, 3, 4]
    for label in ("shuffle/a-1/0", "", "a b", "A", "a/"):
        with pytest.raises(ContractError, match="label"):
            shuffler.uniform(label, 2)
