"""A game's position as its engine has it, and the deal: chance from the deck that was committed to.

Raises ``LogError`` and nothing else on purpose; an exception of the rules engine becomes one with code ``ENGINE``, as a
hostile log may try to cause any. Knows neither seats' keys nor the order of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

from referee.games.game import Dealer, Pending, SetupError, State, Violation
from referee.log.deck import Deck, deck_key, referee_commitment, seat_commitment
from referee.log.engines import Engines
from referee.log.errors import Code, LogError, malformed
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import Phrase, phrase
from referee.wire.strict import MalformedError

_T = TypeVar("_T")


class Position:
    """The position of one game. A ``state`` that was seen never changes: the next one is another object."""

    def __init__(self, opened: log_pb2.GameOpen, engines: Engines) -> None:
        """Set up the position before the first event. Raise ``LogError``."""
        self.seats = len(opened.seats)
        self.rules, self.codec = engines.get(opened.rules_id, opened.rules_version)
        self.options = _decoded("options", self.codec.decode_options, opened.options)
        self.components = _decoded("tables", self.codec.decode_components, opened.tables)
        self.own_components = opened.tables == guarded(lambda: self.codec.encode_components(None))
        """True if they are the version's own, which count if none are declared."""
        if not (self.own_components or self.rules.declares_components):
            # Rules with other components are other rules, and need a version of their own.
            what = f"components that are not those of {opened.rules_id} version {opened.rules_version}"
            raise LogError(Code.RULES, what, "the version's own", entry=0)
        self._opened = opened
        self._pending: tuple[Pending, ...] | None = None
        try:
            self.state: State = self.rules.new(self.seats, self.options, self.components)
        except SetupError as error:
            what = f"no game can be set up: {error}"
            raise LogError(Code.RULES, what, field=error.field, found=error.what, entry=0) from error
        except Exception as error:
            raise engine_failed(error) from error
        self._digest = guarded(self.state.digest)

    def about_opening(self) -> list[str | Phrase]:
        """Return what every report has to say about components and series, a line each; often nothing."""
        name, provenance = [getattr(self.components, attribute, "") for attribute in ("name", "provenance")]
        what = f"{getattr(self.components, 'called', 'declared components')} {name}".rstrip()
        declared = [] if self.own_components else [f"{what}, SHA-256 {sha256(self._opened.tables).hexdigest()}"]
        return [*declared, *([provenance] if provenance else []), *self._series()]

    def _series(self) -> list[Phrase]:
        if not self._opened.HasField("series"):
            return []
        series = self._opened.series
        found = phrase("game {n} of series {id}", n=series.index + 1, id=series.id.hex())
        if series.previous_head:
            found = phrase("{game}, after entry {head}", game=found, head=series.previous_head.hex())
        return [found]

    def digest(self) -> bytes:
        """Return that of the position now, 32 bytes."""
        return self._digest

    def pending(self) -> tuple[Pending, ...]:
        """Return what the rules await; meaningful while the game is played."""
        if self._pending is None:
            try:
                self._pending = self.state.pending()
            except Exception as error:
                raise engine_failed(error) from error
        return self._pending

    # --- what comes in ------------------------------------------------------------------------------------

    def decoded_move(self, data: bytes) -> Any:
        """Return the engine's own move. Raise ``LogError``."""
        return _decoded("move", self.codec.decode_move, data, self.components)

    def decoded_outcome(self, data: bytes) -> Any:
        """Return the engine's own outcome. Raise ``LogError``."""
        return _decoded("outcome", self.codec.decode_outcome, data, self.components)

    def violations(self, event: Any) -> tuple[Violation, ...]:
        """Return every rule that the event breaks here."""
        try:
            return self.state.check(event)
        except Exception as error:
            raise engine_failed(error) from error

    # --- what goes out ------------------------------------------------------------------------------------

    def encoded_move(self, move: Any) -> bytes:
        """Return its exact bytes in the log."""
        return guarded(lambda: self.codec.encode_move(move, self.components))

    def stand_in(self, seat: int) -> Any:
        """Return what is entered for the seat, which is on turn (TBL-2)."""
        return guarded(lambda: self.state.stand_in(seat))

    # --- what it changes ----------------------------------------------------------------------------------

    def move(self, event: Any) -> None:
        """Go on by a move, an outcome or a pass."""
        try:
            after = self.state.copy()
            after.apply(event)
            digest = after.digest()
        except Exception as error:
            raise engine_failed(error) from error
        self.state, self._digest, self._pending = after, digest, None

    def place(self, state: State) -> None:
        """Make this the position. ``state`` must not change from now on."""
        self.state, self._digest, self._pending = state, guarded(state.digest), None


def _decoded(thing: str, decode: Callable[..., _T], *arguments: Any) -> _T:
    try:
        return decode(*arguments)
    except MalformedError as error:
        raise malformed(error, thing) from error
    except Exception as error:
        raise engine_failed(error) from error


def guarded(ask: Callable[[], _T]) -> _T:
    """Return what ``ask`` returns, with the rules engine's failures as ``LogError``."""
    try:
        return ask()
    except Exception as error:
        raise engine_failed(error) from error


def engine_failed(error: Exception) -> LogError:
    """Return the rules engine's failure as one of this family."""
    return LogError(Code.ENGINE, f"the rules engine failed: {type(error).__name__}: {error}")


class Deal:
    """One game's deal. A declared game has one, too, which gives nothing."""

    def __init__(self, opened: log_pb2.GameOpen, identity: bytes, secret: bytes | None) -> None:
        """``secret`` is r where it is known: by the referee from the start, by the auditor once disclosed."""
        self.is_dealt = opened.HasField("dealt")
        self.secret = secret
        self.seeds: dict[int, bytes] = {}
        """The seeds revealed, by seat."""
        self.dealer: Dealer | None = None
        """The dealer of a dealt game whose deck is known."""
        self._commitment = opened.dealt.commitment
        self._identity = identity
        self._is_doubted = False
        self._asked: State | None = None
        self._outcome = b""

    def check_reveal(self, seat: int, seed: bytes, commitment: bytes) -> None:
        """Raise ``LogError`` (``DECK``) for a seed that is not the one its seat committed to."""
        if not self._is_doubted and seat_commitment(self._identity, seat, seed) != commitment:
            raise LogError(Code.DECK, f"the seed of player {seat + 1} is not the one it committed to")

    def check_disclosed(self, seed: bytes) -> None:
        """Raise ``LogError`` (``DECK``) for a seed that is not the one the referee committed to."""
        if not self._is_doubted and referee_commitment(seed) != self._commitment:
            raise LogError(Code.DECK, "the referee's seed is not the one it committed to")

    def check_outcome(self, position: Position, data: bytes) -> None:
        """Raise ``LogError`` (``DECK``) for chance that is not the deck's, where the deck is known."""
        if self.dealer is not None and data != (expected := self.outcome(self.dealer, position)):
            raise LogError(Code.DECK, f"chance {data.hex()}", f"{expected.hex()} from the deck")

    def outcome(self, dealer: Dealer, position: Position) -> bytes:
        """Return the exact bytes of the deck's outcome in this position."""
        # A dealer is asked once for each chance event, and may be in need of its answer twice.
        if self._asked is not position.state:
            try:
                self._outcome = position.codec.encode_outcome(dealer.outcome(position.state), position.components)
            except Exception as error:
                raise engine_failed(error) from error
            self._asked = position.state
        return self._outcome

    def shuffle(self, position: Position) -> None:
        """Shuffle: every seed is revealed, so the deck is fixed, and known to the holder of the referee's secret."""
        if self.secret is None or referee_commitment(self.secret) != self._commitment:
            return
        stream = Deck(deck_key(self.secret, self._identity, [self.seeds[seat] for seat in sorted(self.seeds)]))
        try:
            self.dealer = position.rules.dealer(position.seats, position.options, position.components, stream)
        except Exception as error:
            raise engine_failed(error) from error

    def doubt(self) -> None:
        """Stop comparing, after a ``DECK`` failure: from here on chance is judged by the rules alone."""
        self.secret = None
        self.dealer = None
        self._is_doubted = True
