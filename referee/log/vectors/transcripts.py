"""Whole games written down, with all that can be seen of them: everything in them follows from their names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from google.protobuf.json_format import MessageToDict

from referee.games import alhambra, kingdomino, registry, rollwrite
from referee.games.alhambra.money import Currency
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over, Pending, State
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.rollwrite.options import Solo
from referee.log.deck import Deck
from referee.text.notation.registry import notation
from referee.wire.registry import codec

_MOST_LISTED: Final = 8
"""Moves that are written in words; of more, their number and a hash of their bytes."""
_WIDTH: Final = 88
"""The width of a list that stands on one line; a longer one is broken up."""
_BY_NUMBER: Final = ("seats", "virtualPlayers")
Part = tuple[str, str]
"""A path in the position, and the value there, as JSON."""


@dataclass(frozen=True)
class Transcript:
    """One game: every draw and every choice comes from a deck whose key is made from the name."""

    name: str
    seats: int
    options: Any

    @property
    def rules_id(self) -> str:
        return self.name.split("-")[0]


_TURNED: Final = (Currency.DUCAT, Currency.DENAR, Currency.GUILDER, Currency.DIRHAM)
TRANSCRIPTS: Final = [
    Transcript("alhambra-2-to-the-end", 2, alhambra.Options(loop_rule=LoopRule.ONE_LESS, end_rule=EndRule.BAG_EMPTY)),
    Transcript("alhambra-3", 3, alhambra.Options((2, 0, 1), max_turns=50)),
    Transcript("alhambra-6-stalled", 6, alhambra.Options(max_turns=40, slot_currencies=_TURNED)),
    Transcript("kingdomino-2", 2, kingdomino.Options()),
    Transcript("kingdomino-2-mighty-duel", 2, kingdomino.Options(Frame.RELATIVE, Draw.KINGS, mighty_duel=True)),
    Transcript(
        "kingdomino-3-wider-offer",
        3,
        kingdomino.Options(Frame.RELATIVE, central=Central.KINGDOM, harmony=True, wider_offer=True),
    ),
    Transcript("kingdomino-4-declared", 4, kingdomino.Options(declared_order=(2, 3, 0, 1), central=Central.FRAME)),
    Transcript("rollwrite-1", 1, rollwrite.Options()),
    Transcript("rollwrite-1-against-4", 1, rollwrite.Options(virtual_players=4, solo=Solo.AGAINST)),
    Transcript("rollwrite-2", 2, rollwrite.Options()),
    Transcript("rollwrite-5", 5, rollwrite.Options(start_seat=3)),
]


def text_of(transcript: Transcript) -> str:
    """Return the whole game as text."""
    return "\n".join(_lines(transcript)) + "\n"


@dataclass(frozen=True)
class Step:
    """An event of a transcript, and the position before it: the game continues with it, so copy it to keep it."""

    state: Any
    awaited: Pending
    moves: Sequence[Any]
    event: Any
    """None once the game is over."""
    data: bytes
    """The event's, empty where it has none."""


def steps(transcript: Transcript) -> Iterator[Step]:
    """Play the game. Yield every event before it is applied, and last the end."""
    game = registry.get(transcript.rules_id)
    wire = codec(game.rules_id, game.version)
    components = wire.decode_components(wire.encode_components(None))
    state = game.new(transcript.seats, transcript.options, components)
    chance, choices = (Deck(sha256(f"{transcript.name} {use}".encode()).digest()) for use in ("deck", "choices"))
    dealer = game.dealer(transcript.seats, transcript.options, components, chance)
    for number in range(10_000):
        (awaited,) = state.pending()
        moves: list[Any] = list(state.legal_moves())
        match awaited:
            case Over():
                yield Step(state, awaited, moves, None, b"")
                return
            case Chance():
                event = dealer.outcome(state)
                data = wire.encode_outcome(event, components)
            case Forced(seat):
                event, data = ForcedPass(seat), b""
            case _:
                event = _chosen(moves, choices, number)
                data = wire.encode_move(event, components)
        yield Step(state, awaited, moves, event, data)
        if broken := state.check(event):
            raise ValueError(f"{transcript.name}, event {number}: {broken}")
        state.apply(event)
    raise ValueError(f"{transcript.name} does not end")


def _lines(transcript: Transcript) -> Iterator[str]:
    game = registry.get(transcript.rules_id)
    wire, words = codec(game.rules_id, game.version), notation(game.rules_id)
    components = wire.decode_components(wire.encode_components(None))
    options = wire.encode_options(transcript.options)
    yield f"{game.rules_id}, version {game.version}, {transcript.seats} seats, options {options.hex() or '-'}"
    seen: dict[str, list[Part]] = {}
    held: list[str] = []
    for number, step in enumerate(steps(transcript)):
        state, moves = step.state, step.moves
        yield ""
        yield f"{number}: {_awaited(step.awaited)}"
        yield f"digest {state.digest().hex()}"
        yield from _observed(state, transcript.seats, wire, seen)
        more = words.rounds(state, len(held))
        held += more
        yield from more
        yield from _moves(moves, [wire.encode_move(move, components) for move in moves], state, words)
        if isinstance(step.awaited, Over):
            yield f"scores {step.awaited.scores}, places {step.awaited.places}"
            return
        yield f"> {words.describe(step.event, state)}"
        yield f"wire {step.data.hex() or '-'}"


def _awaited(awaited: Pending) -> str:
    match awaited:
        case Decision(seat, kinds):
            return f"seat {seat} decides: {', '.join(kinds)}"
        case Chance(kind):
            return f"chance: {kind}"
        case Forced(seat):
            return f"seat {seat} has no move"
        case Over(ending, _, _):
            return f"over: {ending.name.lower()}"


def _moves(moves: Sequence[Any], data: Sequence[bytes], state: State, words: Any) -> Iterator[str]:
    if len(moves) > _MOST_LISTED:
        yield f"{len(moves)} moves, {sha256(b''.join(data)).hexdigest()[:16]}"
    else:
        yield from (f"- {words.describe(move, state)}" for move in moves)


def _chosen(moves: Sequence[Any], choices: Deck, number: int) -> Any:
    """First a kind, then a move of the kind, as the deck of choices has it."""
    kinds = sorted({type(move).__name__ for move in moves})
    kind = kinds[choices.uniform(f"kind/{number}", len(kinds))]
    of_kind = [move for move in moves if type(move).__name__ == kind]
    return of_kind[choices.uniform(f"move/{number}", len(of_kind))]


def _observed(state: State, seats: int, wire: Any, seen: dict[str, list[Part]]) -> Iterator[str]:
    """Yield the news for everybody or, where seats see different things, for each. ``seen``: the last view of each."""
    views = {"anybody": state.observation(None)} | {f"seat {seat}": state.observation(seat) for seat in range(seats)}
    told = {who: wire.position(view) for who, view in views.items()}
    if all(other == told["anybody"] for other in told.values()):
        told = {"everybody": told["anybody"]}
    parts = {who: list(_parts("", MessageToDict(position))) for who, position in told.items()}
    for who, now in parts.items():
        before, mark = seen.get(who, []), "." if who == "everybody" else f"{who}:"
        for path, text in (Counter(now) - Counter(before)).elements():
            yield f"{mark} {path} {'+' if path.endswith('[]') else '='} {text}"
        known = {path for path, _ in now}
        for path, text in (Counter(before) - Counter(now)).elements():
            if path.endswith("[]"):
                yield f"{mark} {path} - {text}"
            elif path not in known:
                yield f"{mark} {path} is gone"
        seen[who] = now


def _parts(path: str, value: Any) -> Iterator[Part]:
    """Seats by their number; of other lists that are long, or that hold messages, the items without their places."""
    text = json.dumps(value, sort_keys=True)
    if isinstance(value, dict) and (not path or path.endswith("]")) and not path.endswith("[]"):
        for name, part in value.items():
            yield from _parts(f"{path}.{name}" if path else name, part)
    elif isinstance(value, list) and path in _BY_NUMBER:
        for index, part in enumerate(value):
            yield from _parts(f"{path}[{index}]", part)
    elif isinstance(value, list) and value and (len(text) > _WIDTH or isinstance(value[0], dict)):
        yield from ((f"{path}[]", json.dumps(item, sort_keys=True)) for item in value)
    else:
        yield path, text
