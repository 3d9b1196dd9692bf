"""The check that every game must pass: ``check_game`` plays at random and holds the game to its contract.

It knows no rule book. At every step it checks the properties that the rest of the referee relies on, listed there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import islice, pairwise
from typing import Any, Final, TypeVar

from google.protobuf.message import Message

from referee.games.game import Chance, Decision, Forced, ForcedPass, Game, Kind, Over, State, UnknownRules, Violation
from referee.log.deck import LABEL
from referee.text.notation.registry import Notation
from referee.text.notation.registry import notation as registered_notation
from referee.text.render.drawing import Renderer
from referee.text.render.drawing import renderer as registered_renderer
from referee.wire.registry import Codec
from referee.wire.registry import codec as registered_codec
from referee.wire.strict import MalformedError

Choose = Callable[[random.Random, State, Sequence[Any]], Any]
"""Picks one of the legal moves."""

_T = TypeVar("_T")
_LOOK: Final = 100
"""Outcomes of chance that are looked at; where there are more, the dealer's is not looked for among them."""
_SELDOM: Final = 13
"""The number of events between the slowest checks: drawing the position, comparing the words of all moves. An odd
number, as moves and chance often alternate."""


class ContractError(AssertionError):
    """The game does not keep its contract; the message has the fault. Its notes tell where in which game."""


class Shuffler:
    """A stream of chance that needs no commitment. It asks of dealers' labels the same as a committed deck."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._asked: set[str] = set()

    def permutation(self, label: str, n: int) -> list[int]:
        self._take(label)
        return self.rng.sample(range(n), n)

    def uniform(self, label: str, n: int) -> int:
        self._take(label)
        return self.rng.randrange(n)

    def _take(self, label: str) -> None:
        _demand(LABEL.match(label), f"the dealer asks for label {label!r}; expected a-z, 0-9 and -, separated by /")
        _demand(label not in self._asked, f"the dealer asks for label {label!r} twice")
        self._asked.add(label)


def evenly(rng: random.Random, state: State, moves: Sequence[Any]) -> Any:  # noqa: ARG001 - as Choose has them
    """Return any move, all equally likely."""
    return rng.choice(moves)


def by_kind(rng: random.Random, state: State, moves: Sequence[Any]) -> Any:  # noqa: ARG001 - as Choose has them
    """Return a move, by kind first: rare kinds come as often as those with many moves."""
    kind = rng.choice(sorted({type(move).__name__ for move in moves}))
    return rng.choice([move for move in moves if type(move).__name__ == kind])


@dataclass
class Played:
    """A whole game: its events, as values and as the bytes of the wire, and the digest after each."""

    state: State
    events: list[Any] = field(default_factory=list)
    wire: list[bytes] = field(default_factory=list)
    """Empty for a forced pass, which has no bytes of the game's own."""
    digests: list[bytes] = field(default_factory=list)

    @property
    def over(self) -> Over:
        (awaited,) = self.state.pending()
        if not isinstance(awaited, Over):
            raise ContractError("the game is not over")
        return awaited


def check_game(
    game: Game,
    seats: int,
    rng: random.Random,
    *,
    options: Any = None,
    components: Any = None,
    codec: Codec | None = None,
    notation: Notation | None = None,
    renderer: Renderer | None = None,
    choose: Choose = by_kind,
    watch: Callable[[State], None] | None = None,
    most_events: int = 10_000,
) -> Played:
    """Play one game to its end and return it. ``watch`` is called with the state before every event, and at the end.

    Options and components that are not given are the defaults. A codec, notation or renderer that is not given is the
    registered game's; a game that is not registered needs at least its codec, and is asked for words and pictures if
    these are given.

    A game that passes a number of these, at all seats and options, has shown that

    - one thing is awaited at a time; a decision has moves, all legal, none listed twice; nothing else has any;
    - ``check`` answers for every event at any time, with rules of the catalogue, and changes nothing; chance cannot
      come when a seat decides, nor the reverse, nor a pass beside moves;
    - looking, listing, observing, encoding, describing and drawing change nothing and do not raise; every event has its
      words on one line, and no two moves have the same;
    - ``copy`` and ``observation`` are independent; ``digest`` is SHA-256 of ``encode`` and changes with every event;
    - the dealer's outcomes are legal, and where ``chance_outcomes`` are few they are among them or lead to the same
      position as one of them; its labels are well-formed and asked for once;
    - an outcome that is sampled is legal, and the same for the same draws;
    - events, options and components have one encoding, which the codec reads and every other of which it refuses; no
      components are the default ones;
    - the game ends, with a place for every seat that fits the scores;
    - the bytes of the events alone lead to the same positions again;
    - ``stand_in`` is legal, the same for equal positions, and there for the seat that is awaited alone; a second game,
      in which it plays for some or all of the seats, ends;
    - where a move of that game breaks nothing but ``waivable`` rules it stands, and the game continues from there.

    It cannot show that the rules are those of the game's rule book. Raise ``ContractError``, or what the game raises;
    the notes of either say in which game and after how many events.
    """
    codec = codec or registered_codec(game.rules_id, game.version)
    notation = notation or _known(registered_notation, game.rules_id)
    renderer = renderer or _known(registered_renderer, game.rules_id)
    checker = _Checker(game, seats, rng, options, components, codec, notation, renderer)
    played = Played(checker.start())
    try:
        checker.play(played, choose, watch, most_events)
        checker.replay(played)
        checker.play_at_a_table(most_events)
    except Exception as error:
        last = f", the last {played.events[-1]!r}" if played.events else ""
        error.add_note(f"{game.rules_id}, version {game.version}, {seats} seats, options {checker.options!r}")
        error.add_note(f"after {len(played.events)} events{last}: {played.state!r}")
        raise
    return played


def _known(find: Callable[[str], _T], rules_id: str) -> _T | None:
    try:
        return find(rules_id)
    except UnknownRules:
        return None


def _demand(condition: object, what: str) -> None:
    if not condition:
        raise ContractError(what)


@dataclass
class _Checker:
    """One game, held to its contract."""

    game: Game
    seats: int
    rng: random.Random
    options: Any
    components: Any
    codec: Codec
    notation: Notation | None
    renderer: Renderer | None

    def __post_init__(self) -> None:
        codec = self.codec
        self.rules = {rule.id for rule in self.game.catalogue}
        _demand(len(self.rules) == len(self.game.catalogue), "two rules have one id")
        constraints = {rule.id for rule in self.game.catalogue if rule.kind is Kind.CONSTRAINT}
        unknown = sorted(self.game.waivable - constraints)
        _demand(not unknown, f"waivable: {', '.join(unknown)}; expected constraints of the catalogue")
        self.components = self._one_encoding(
            codec.encode_components, codec.decode_components, codec.encode_components(self.components)
        )
        data = b"" if self.options is None else codec.encode_options(self.options)
        self.options = self._one_encoding(codec.encode_options, codec.decode_options, data)
        self.moves: dict[type, Any] = {}
        """The last move of each kind."""
        self.outcomes: dict[type, Any] = {}
        self.dealer = self.game.dealer(self.seats, self.options, self.components, Shuffler(self.rng))

    def start(self) -> State:
        return self.game.new(self.seats, self.options, self.components)

    def play(self, played: Played, choose: Choose, watch: Callable[[State], None] | None, most_events: int) -> None:
        encode = self.codec.encode_components
        same = encode(self.game.default_components()) == encode(None)
        _demand(same, "default_components() are not the components that the codec takes for None")
        state = played.state
        while not isinstance(self._awaited(state), Over):
            _demand(len(played.events) < most_events, "the game does not end")
            if watch is not None:
                watch(state)
            self._look(state, seldom=len(played.events) % _SELDOM == 0)
            event = self._event(state, choose)
            played.wire.append(self._bytes(state, event))
            self._step(state, event)
            played.events.append(event)
            played.digests.append(state.digest())
        if watch is not None:
            watch(state)
        self._look(state, seldom=True)
        self._result(played.over)
        _demand(next(state.legal_moves(), None) is None, "a move is listed though the game is over")
        _demand(next(state.chance_outcomes(), None) is None, "an outcome is listed though the game is over")

    def replay(self, played: Played) -> None:
        """Replay from the bytes alone to the same digests."""
        state = self.start()
        for event, data, digest in zip(played.events, played.wire, played.digests, strict=True):
            match self._awaited(state):
                case Chance():
                    read = self.codec.decode_outcome(data, self.components)
                case Forced(seat):
                    read = ForcedPass(seat)
                case _:
                    read = self.codec.decode_move(data, self.components)
            _demand(read == event, f"played again from its bytes, {event!r} is {read!r}")
            _demand(state.check(read) == (), f"played again, {read!r} is refused")
            state.apply(read)
            _demand(state.digest() == digest, f"played again, the position after {read!r} is another")

    def _awaited(self, state: State) -> Any:
        awaited = state.pending()
        _demand(len(awaited) == 1, f"{len(awaited)} things are awaited at once")
        return awaited[0]

    def play_at_a_table(self, most_events: int) -> None:
        """Play to the end with stand-ins for some of the seats (TBL-2) and with illegal moves that stand (TBL-7)."""
        state = self.start()
        absent = self.rng.sample(range(self.seats), self.rng.randint(0, self.seats))
        try:
            self._play_at_a_table(state, absent, most_events)
        except Exception as error:
            error.add_note(f"in a second game, with stand-ins for seats {sorted(absent)}: {state!r}; the first was:")
            raise

    def _play_at_a_table(self, state: State, absent: Sequence[int], most_events: int) -> None:
        dealer = self.game.dealer(self.seats, self.options, self.components, Shuffler(self.rng))
        for _ in range(most_events):
            match self._awaited(state):
                case Over() as over:
                    self._result(over)
                    return
                case Chance():
                    event = dealer.outcome(state)
                case Forced(seat):
                    event = ForcedPass(seat)
                case Decision(seat) if seat in absent:
                    event = self._stand_in(state, seat)
                case _:
                    event = self.rng.choice(list(state.legal_moves()))
                    event = next(self._standing(state, event), event)
            state.apply(event)
            self._look(state, seldom=False)
        raise ContractError("the game with stand-ins does not end")

    def _stand_in(self, state: State, seat: int) -> Any:
        """Return the move for a seat that makes none."""
        move = state.stand_in(seat)
        found = self._judged(state, move)
        _demand(not found, f"the stand-in's {move!r} is refused: {found!r}")
        other = state.copy().stand_in(seat)
        _demand(other == move, f"the stand-in makes {move!r} and {other!r} in the same position")
        for nobody in (-1, *range(self.seats), self.seats):
            if nobody != seat:
                try:
                    move = state.stand_in(nobody)
                except ValueError:
                    continue
                raise ContractError(f"the stand-in makes {move!r} for seat {nobody}, which is not awaited")
        return state.stand_in(seat)

    def _standing(self, state: State, move: Any) -> Iterator[Any]:
        """Illegal moves that may stand, among those that were seen and those that are a bit away from this one."""
        seen = list(self.moves.values())
        for wrong in self._altered(self.codec.encode_move(move, self.components)):
            try:
                seen.append(self.codec.decode_move(wrong, self.components))
            except MalformedError:
                continue
        for event in seen:
            found = {violation.rule_id for violation in self._judged(state, event)}
            if found and found <= self.game.waivable:
                before, twin = state.digest(), state.copy()
                twin.apply(event)
                _demand(state.digest() == before, f"{event!r} stands, and the copy is not independent")
                _demand(twin.digest() != before, f"{event!r} stands, and nothing happened")
                yield event

    # Before an event

    def _look(self, state: State, *, seldom: bool) -> None:
        """Ask all questions of a position. They change nothing. ``seldom``: the slow ones as well."""
        before = state.digest()
        _demand(before == sha256(state.encode()).digest(), "the digest is not SHA-256 of the encoding")
        _demand(isinstance(self.codec.position(state), Message), "the codec's position is no message")
        for seat in (None, *range(self.seats)):
            state.observation(seat)
        if self.notation is not None and seldom:
            described: dict[str, Any] = {}
            for move in state.legal_moves():
                other = described.setdefault(self.notation.describe(move, state), move)
                _demand(other == move, f"{other!r} and {move!r} are described alike")
        if self.renderer is not None and seldom:
            text = self.renderer.position_text(state)
            _demand(text.endswith("\n"), "the position as text does not end in a newline")
            text = self.renderer.position_text(state, (0,), ascii_only=True)
            _demand(text.isascii(), "the position as ASCII text is not ASCII")
            text = self.renderer.boards_text(state, (0,), ascii_only=True)
            _demand(text.isascii() and text.endswith("\n"), "boards as ASCII text are not ASCII that ends in a newline")
        for event in (*self.moves.values(), *self.outcomes.values()):
            self._judged(state, event)
        _demand(state.digest() == before, "looking changed the state")

    def _judged(self, state: State, event: Any) -> tuple[Violation, ...]:
        """Return what the state says of any event."""
        found = state.check(event)
        _demand(isinstance(found, tuple), f"check({event!r}) gave {found!r}; expected a tuple of violations")
        for violation in found:
            _demand(violation.rule_id in self.rules, f"{event!r} breaks {violation.rule_id}, which is no rule")
        return found

    def _event(self, state: State, choose: Choose) -> Any:
        """Return an event that is awaited, after a look at everything that is listed."""
        awaited = self._awaited(state)
        before = state.digest()
        moves = list(state.legal_moves())
        _demand(len(set(moves)) == len(moves), "a move is listed twice")
        for move in moves:
            _demand(state.check(move) == (), f"{move!r} is listed and refused")
        _demand(bool(moves) == isinstance(awaited, Decision), f"{len(moves)} moves are listed at {awaited!r}")
        match awaited:
            case Decision(seat, kinds):
                _demand(kinds and 0 <= seat < self.seats, f"{awaited!r}; expected a seat and kinds of moves")
                _demand(self._judged(state, ForcedPass(seat)), "a pass is possible beside moves")
                event = choose(self.rng, state, moves)
                strangers = self.outcomes
            case Forced(seat):
                _demand(0 <= seat < self.seats, f"{awaited!r}; expected a seat")
                return ForcedPass(seat)
            case Chance():
                event = self.dealer.outcome(state)
                self._listed(state, event)
                self._sampled(state)
                strangers = self.moves
            case _:
                raise ContractError(f"{awaited!r} is awaited")
        _demand(state.digest() == before, "listing or dealing changed the state")
        for stranger in strangers.values():
            _demand(self._judged(state, stranger), f"{stranger!r} is legal where {awaited!r} is awaited")
        (self.moves if isinstance(awaited, Decision) else self.outcomes)[type(event)] = event
        return event

    def _listed(self, state: State, outcome: Any) -> None:
        """The outcome is one that can come, as far as that can be looked through."""
        listed = list(islice(state.chance_outcomes(), _LOOK + 1))
        for possible, weight in listed[:_LOOK]:
            _demand(type(weight) is int and weight > 0, f"{possible!r} has weight {weight!r}")
            _demand(state.check(possible) == (), f"{possible!r} is listed and refused")
        if len(listed) > _LOOK or any(possible == outcome for possible, _ in listed):
            return
        # The dealer's outcome may be longer, with rolls that did not count.
        after = _after(state, outcome)
        among = any(_after(state, possible) == after for possible, _ in listed)
        _demand(among, f"the dealer brings {outcome!r}; neither it is listed nor one that leads where it leads")

    def _sampled(self, state: State) -> None:
        """Check that a player in thought can draw an outcome: a legal one, the same for the same draws."""
        seed = state.digest()  # not of the game's own generator, so that its course depends on no question
        outcome, again = (state.sample(random.Random(seed).randrange) for _ in range(2))  # noqa: S311 - it deals nothing
        _demand(outcome == again, f"the same draws give {outcome!r} and {again!r}")
        _demand(state.check(outcome) == (), f"{outcome!r} is sampled and refused")

    # Words and bytes

    def _words(self, state: State, event: Any) -> None:
        if self.notation is not None:
            words = self.notation.describe(event, state)
            _demand(words and words.isprintable(), f"{event!r} is described as {words!r}; expected one line")

    def _bytes(self, state: State, event: Any) -> bytes:
        """Return the event's bytes, which are read as the event and as nothing else."""
        self._words(state, event)
        codec, components = self.codec, self.components
        match self._awaited(state):
            case Forced():
                return b""
            case Chance():
                encode = partial(codec.encode_outcome, components=components)
                decode = partial(codec.decode_outcome, components=components)
            case _:
                encode = partial(codec.encode_move, components=components)
                decode = partial(codec.decode_move, components=components)
        data = encode(event)
        read = self._one_encoding(encode, decode, data)
        _demand(read == event, f"the bytes of {event!r} are read as {read!r}")
        return data

    def _one_encoding(self, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], data: bytes) -> Any:
        """Return what the bytes say. Bytes that are a little wrong are refused, or say something else, and no more."""
        value = decode(data)
        _demand(encode(value) == data, f"{value!r} has two encodings, {data.hex()} and {encode(value).hex()}")
        for wrong in self._altered(data):
            try:
                other = decode(wrong)
            except MalformedError:
                continue
            _demand(encode(other) == wrong, f"{other!r} has two encodings, {wrong.hex()} and {encode(other).hex()}")
        return value

    def _altered(self, data: bytes) -> list[bytes]:
        at = self.rng.randrange(len(data)) if data else 0
        flipped = bytes([data[at] ^ 1 << self.rng.randrange(8)]) if data else b"\0"
        return [data[:at], data[:at] + flipped + data[at + 1 :], data + flipped]

    # The event

    def _step(self, state: State, event: Any) -> None:
        """Apply the event; on the way copy and observation are shown to be equal and independent."""
        before = state.digest()
        twin, seen = state.copy(), state.observation(None)
        kept = _value(seen)
        _demand(twin.digest() == before and twin.encode() == state.encode(), "the copy is another position")
        _demand(twin.pending() == state.pending(), "the copy awaits something else")
        found = self._judged(state, event)
        _demand(not found, f"{event!r} is awaited and refused: {found!r}")
        _demand(state.digest() == before, "check changed the state")
        twin.apply(event)
        _demand(state.digest() == before, "the copy is not independent")
        state.apply(event)
        _demand(state.digest() == twin.digest(), "the same event led to two positions")
        _demand(state.digest() != before, "nothing happened")
        _demand(_value(seen) == kept, "an earlier observation of a seat changed with the event")

    def _result(self, over: Over) -> None:
        scores, places = over.scores, over.places
        _demand(len(scores) == len(places) == self.seats, f"{over!r}; expected a score and a place for each seat")
        _demand(min(places) >= 1, f"places {places}; the first is 1")
        ranked = sorted(zip(places, scores, strict=True))
        fits = all(better >= score for (_, better), (_, score) in pairwise(ranked))
        _demand(fits, f"places {places} do not fit scores {scores}")


def _after(state: State, event: Any) -> bytes:
    """Return the position that the event leads to."""
    twin = state.copy()
    twin.apply(event)
    return twin.digest()


def _value(seen: Any) -> Any:
    """Return what does not change if the thing does."""
    return seen.encode() if hasattr(seen, "encode") else deepcopy(seen)
