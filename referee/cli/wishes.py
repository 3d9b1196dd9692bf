"""What an organiser wants of a new game, in the words of ``referee new``, and the request that says it to a referee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from referee.cli.arguments import public_key
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.options import components as game_components
from referee.cli.options import options as game_options
from referee.cli.series import game_before, next_options, place
from referee.cli.terms import terms
from referee.games import registry
from referee.games.game import UnknownRules
from referee.live.errors import BadField
from referee.live.opening import rehearse
from referee.log.engines import installed
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.v1 import game_service_pb2 as pb

DEFAULT_RULES: Final = "alhambra"
"""The game, unless another is named."""


class Proofs(StrEnum):
    """As ``referee.log.v1.ProofPolicy``."""

    NONE = "none"
    REFUSALS = "refusals"
    ALL = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """The options of the command, as they are given; those of one game."""

    rules: str | None
    seats: int | None
    age_order: str | None
    principals: Sequence[str]
    options: str | None
    components: Path | None
    series: bool
    series_of: Path | None
    declare: str | None
    scribed: Sequence[int]
    scribes: Sequence[str]
    illegal: Sequence[str]
    proofs: Proofs
    clock: str | None
    lag: str | None
    absence: str | None
    take_backs: bool
    protest_time: str | None
    arbiter_keys: Sequence[str]
    event: int | None
    round: int | None
    table: int | None

    def request(self) -> pb.CreateGameRequest:
        """Return what the referee is asked for. Raise ``Failure``, which begins with the option that is to blame."""
        if self.series_of is not None and (self.options or self.age_order or self.components):
            raise Failure(
                "--series-of: options and components are those of the previous game; expected none here", EXIT_USAGE
            )
        previous = None if self.series_of is None else game_before(self.series_of)
        rules, seats = game_of(self.rules, self.seats, previous)
        before = b"" if previous is None else next_options(previous)
        chosen = game_options(rules, before, self.options, self.age_order)
        request = pb.CreateGameRequest(rules_id=rules, options=chosen, series=place(previous, first=self.series))
        request.components = _components(rules, self.components, previous)
        for seat in self.scribed:
            if not 0 <= seat < seats:
                raise Failure(f"--scribed {seat}: the game has seats 0 to {seats - 1}", EXIT_USAGE)
        request.seats.extend(log_pb2.Seat(scribed=seat in self.scribed) for seat in range(seats))
        if self.principals:
            if len(self.principals) != seats:
                found = len(self.principals)
                raise Failure(f"--principal: {found} given; expected {seats}, one for each seat", EXIT_USAGE)
            request.principals.extend("" if name == "-" else name for name in self.principals)
        self._add_keys(request)
        self._add_occasion(request)
        request.terms.CopyFrom(
            terms(self.clock, self.lag, self.illegal, self.absence, self.take_backs, self.protest_time)
        )
        if self.proofs is Proofs.REFUSALS and not request.terms.illegal_moves:
            raise Failure(
                "--proofs refusals: only recorded refusals are proved; expected --record-attempts with it", EXIT_USAGE
            )
        if self.proofs is not Proofs.NONE:
            request.terms.proofs = log_pb2.ProofPolicy.Value(f"PROOF_POLICY_{self.proofs.name}")
        return request

    def _add_keys(self, request: pb.CreateGameRequest) -> None:
        if self.declare is not None:
            request.declaring_scribe_key = public_key(f"--declare {self.declare}", self.declare)
        request.scribe_keys.extend(public_key(f"--scribe {key}", key) for key in self.scribes)
        request.arbiter_keys.extend(public_key(f"--arbiter-key {key}", key) for key in self.arbiter_keys)

    def _add_occasion(self, request: pb.CreateGameRequest) -> None:
        occasion = (("event", "event_id", self.event, 64), ("round", "round", self.round, 32))
        for option, field, number, bits in (*occasion, ("table", "table", self.table, 32)):
            if number is not None and number >= 1 << bits:
                raise Failure(f"--{option} {number}: expected at most {(1 << bits) - 1}", EXIT_USAGE)
            if number is not None:
                setattr(request, field, number)


def check(request: pb.CreateGameRequest) -> None:
    """Raise ``Failure``, as ``Wishes.request`` does, for what a referee would refuse."""
    try:
        rehearse(request, installed())
    except BadField as error:
        raise Failure(f"{option_of(error.field)}: {error.what}", EXIT_USAGE) from None
    except (LogError, UnknownRules) as error:
        raise Failure(str(error), EXIT_USAGE) from None


_OPTIONS: Final[Mapping[str, str]] = {
    "seats": "--seats",
    "options": "--options",
    "age_order": "--age-order",
    "components": "--components",
    "principals": "--principal",
    "arbiter_keys": "--arbiter-key",
    "scribe_keys": "--scribe",
    "declared": "--declare",
    "tables": "--components",
    "series": "--series-of",
    "terms.clock": "--clock",
    "terms.illegal_moves": "--illegal",
    "terms.strikes": "--illegal",
    "terms.penalty_ms": "--illegal penalty",
    "terms.absence_ms": "--absence",
    "terms.protest_ms": "--protest-time",
    "terms.take_backs": "--take-backs",
    "terms.proofs": "--proofs",
}
"""What fills the fields of the request."""


def option_of(field: str) -> str:
    """Return the option that says what the field of a request does."""
    return _OPTIONS.get(field.partition("[")[0], f"--options {field}")


def game_of(rules: str | None, seats: int | None, previous: Record | None) -> tuple[str, int]:
    """Return rules and seats: as they are given or, of a series, as they were. Raise ``Failure``."""
    if previous is not None:
        known = previous.opened.rules_id, len(previous.opened.seats)
        if (rules or known[0], seats or known[1]) != known:
            raise Failure(
                f"--series-of: the previous game is {known[0]} with {known[1]} seats; expected the same", EXIT_USAGE
            )
        return known
    rules = rules or DEFAULT_RULES
    try:
        return rules, seats or registry.get(rules).min_seats
    except UnknownRules as error:
        raise Failure(f"--rules {rules}: {error}; expected one of {', '.join(registry.names())}", EXIT_USAGE) from None


def _components(rules: str, file: Path | None, previous: Record | None) -> bytes:
    """Return those of the file or, of a series, as they were; empty: the default. Raise ``Failure``."""
    if file is not None:
        return game_components(rules, file)
    return b"" if previous is None else previous.opened.tables
