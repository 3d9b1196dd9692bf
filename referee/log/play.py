"""A game's position as its engine has it: what comes in is decoded and judged, what goes out encoded.

Raises ``LogError`` and nothing else on purpose; an exception of the rules engine becomes one with code ``ENGINE``, as a
hostile log may try to cause any. Knows neither seats' keys nor the order of acts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, TypeVar

from referee.games.game import Dealer, Pending, SetupError, State
from referee.log.deck import Deck, deck_key
from referee.log.engines import Engines
from referee.log.errors import Code, LogError, RulesError, demand, malformed
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError

_T = TypeVar("_T")


class Play:
    """The position of one game."""

    def __init__(self, opened: log_pb2.GameOpen, engines: Engines) -> None:
        self.opened = opened
        self.dealer: Dealer | None = None
        """Of a dealt game whose deck is known."""
        self._outcome: bytes | None = None
        self._pending: tuple[Pending, ...] | None = None
        self.game, self.codec = engines.get(opened.rules_id, opened.rules_version)
        self.options = _decoded("options", self.codec.decode_options, opened.options)
        self.tables = _decoded("tables", self.codec.decode_tables, opened.tables)
        self.own_tables = opened.tables == _guarded(lambda: self.codec.encode_tables(None))
        """Whether they are those that the version has where nobody declares others."""
        if not (self.own_tables or self.game.declares_tables):
            # Rules with other tables are other rules, and need a version of their own.
            what = f"tables that are not those of {opened.rules_id} version {opened.rules_version}"
            raise LogError(Code.RULES, what, "the version's own", entry=0)
        try:
            self.state: State = self.game.new(len(opened.seats), self.options, self.tables)
        except SetupError as error:
            raise LogError(Code.RULES, f"no game can be set up: {error}", entry=0) from error
        except Exception as error:
            raise engine_failed(error) from error
        self._digest = _guarded(self.state.digest)

    def chosen_options(self) -> dict[str, Any]:
        """The options, by name, that are not as they are by default."""
        default = _decoded("options", self.codec.decode_options, b"")
        if not is_dataclass(default):
            return {} if self.options == default else {"options": self.options}
        names = [field.name for field in fields(default)]
        return {n: getattr(self.options, n) for n in names if getattr(self.options, n) != getattr(default, n)}

    def about_opening(self) -> list[str]:
        """What every report has to say about its tables and its series, a line each; often nothing."""
        name, remark = (getattr(self.tables, attribute, "") for attribute in ("name", "remark"))
        what = f"declared tables {name}".rstrip()
        declared = [] if self.own_tables else [f"{what}, SHA-256 {sha256(self.opened.tables).hexdigest()}"]
        return [*declared, *([remark] if remark else []), *self._series()]

    def _series(self) -> list[str]:
        if not self.opened.HasField("series"):
            return []
        series = self.opened.series
        after = f", after entry {series.previous_head.hex()}" if series.previous_head else ""
        return [f"game {series.index + 1} of series {series.id.hex()}{after}"]

    def digest(self) -> bytes:
        """Of the position now."""
        return self._digest

    def pending(self) -> tuple[Pending, ...]:
        """What the rules await; meaningful while PLAYING."""
        if self._pending is None:
            self._pending = _guarded(self.state.pending)
        return self._pending

    # --- what comes in ------------------------------------------------------------------------------------

    def decoded_move(self, data: bytes) -> Any:
        """The engine's own event. Raises ``LogError``."""
        return _decoded("move", self.codec.decode_move, data, self.tables)

    def decoded_outcome(self, data: bytes) -> Any:
        """Likewise."""
        return _decoded("outcome", self.codec.decode_outcome, data, self.tables)

    def check_rules(self, event: Any) -> None:
        """Raises ``RulesError`` if the rules forbid it."""
        if violations := _guarded(lambda: self.state.check(event)):
            raise RulesError(violations)

    def accepted(self, accept: log_pb2.Accept) -> Any:
        """TBL-7: the move that stands though it breaks rules. Raises ``LogError``."""
        event = self.decoded_move(accept.move)
        broken = tuple(sorted({violation.rule_id for violation in _guarded(lambda: self.state.check(event))}))
        what = f"a move accepted against {', '.join(accept.rule_ids) or 'nothing'}"
        told = broken != () and tuple(accept.rule_ids) == broken
        demand("TBL-7", told, what, ", ".join(broken) or "a move that breaks a rule")
        never = ", ".join(sorted(set(broken) - self.game.waivable))
        demand("TBL-7", not never, f"a move accepted against {never}", "rules that a move can stand against")
        return event

    # --- what goes out ------------------------------------------------------------------------------------

    def stand_in(self, seat: int) -> log_pb2.StandIn:
        """TBL-2: what is entered for the seat, which is on turn."""
        move = _guarded(lambda: self.state.stand_in(seat))
        return log_pb2.StandIn(seat=seat, move=_guarded(lambda: self.codec.encode_move(move, self.tables)))

    def dealt_outcome(self, dealer: Dealer) -> bytes:
        """The chance that the deck has now."""
        # Kept until it is applied: a dealer is asked once for each chance event.
        if self._outcome is None:
            try:
                self._outcome = self.codec.encode_outcome(dealer.outcome(self.state), self.tables)
            except Exception as error:
                raise engine_failed(error) from error
        return self._outcome

    # --- what it changes ----------------------------------------------------------------------------------

    def move(self, event: Any) -> None:
        """The position goes on."""
        self._outcome = None
        self._pending = None
        try:
            self.state.apply(event)
            self._digest = self.state.digest()
        except Exception as error:
            raise engine_failed(error) from error

    def place(self, state: State) -> None:
        """The position becomes this one."""
        self._outcome = None
        self._pending = None
        self.state = state
        self._digest = _guarded(state.digest)

    def shuffle(self, secret: bytes, identity: bytes, seeds: Sequence[bytes]) -> None:
        """The deck is that of these seeds."""
        stream = Deck(deck_key(secret, identity, seeds))
        try:
            self.dealer = self.game.dealer(len(self.opened.seats), self.options, self.tables, stream)
        except Exception as error:
            raise engine_failed(error) from error


def _decoded(thing: str, decode: Callable[..., _T], *arguments: Any) -> _T:
    try:
        return decode(*arguments)
    except MalformedError as error:
        raise malformed(error, thing) from error
    except Exception as error:
        raise engine_failed(error) from error


def _guarded(ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except Exception as error:
        raise engine_failed(error) from error


def engine_failed(error: Exception) -> LogError:
    """The rules engine's failure as one of this family."""
    return LogError(Code.ENGINE, f"the rules engine failed: {type(error).__name__}: {error}")
