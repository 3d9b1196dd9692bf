"""What an organiser wants of a new game, in the words of ``referee new``, and the request that says it to a referee."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.opening.options import options as game_options
from referee_clients.sdk.opening.series import next_options, place
from referee_clients.sdk.opening.terms import terms

MOST_EVENT: Final = (1 << 64) - 2
MOST_NUMBER: Final = (1 << 32) - 1
"""Of a round or a table."""
DEFAULT_RULES: Final = "alhambra"
"""The game, unless another is named."""


class Proofs(StrEnum):
    """As ``referee.log.v1.ProofPolicy``."""

    NONE = "none"
    REFUSALS = "refusals"
    ALL = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What is given for one game; what is not given is as the referee has it."""

    rules: str | None = None
    seats: int | None = None
    age_order: str | None = None
    principals: Sequence[str] = ()
    options: str | None = None
    """As JSON."""
    components: Callable[[str], bytes] | None = None
    """Returns the game's own ones, encoded, for the name of its rules."""
    series: bool = False
    previous: Record | None = None
    """The game before, of a series."""
    declare: bytes | None = None
    """The public key of the scribe who declares draws and rolls."""
    scribed: Sequence[int] = ()
    scribes: Sequence[bytes] = ()
    illegal: Sequence[str] = ()
    proofs: Proofs = Proofs.NONE
    clock: str | None = None
    lag: str | None = None
    absence: str | None = None
    take_backs: bool = False
    protest_time: str | None = None
    grace: str | None = None
    arbiter_keys: Sequence[bytes] = ()
    event: int | None = None
    round: int | None = None
    table: int | None = None

    def request(self) -> pb.CreateGameRequest:
        """Return what the referee is asked for. Raise ``BadWord``."""
        previous = self.previous
        if previous is not None and (self.options or self.age_order or self.components):
            raise BadWord("series-of", ": options and components are those of the previous game; expected none here")
        rules, seats = game_of(self.rules, self.seats, previous)
        before = b"" if previous is None else next_options(previous)
        chosen = game_options(rules, before, self.options, self.age_order)
        request = pb.CreateGameRequest(rules_id=rules, options=chosen, series=place(previous, first=self.series))
        if self.components is not None:
            request.components = self.components(rules)
        elif previous is not None:
            request.components = previous.opened.tables
        for seat in self.scribed:
            if not 0 <= seat < seats:
                raise BadWord("scribed", phrase(" {seat}: the game has seats 0 to {last}", seat=seat, last=seats - 1))
        request.seats.extend(log_pb2.Seat(scribed=seat in self.scribed) for seat in range(seats))
        if self.principals:
            if len(self.principals) != seats:
                what = phrase(": {n} given; expected {seats}, one for each seat", n=len(self.principals), seats=seats)
                raise BadWord("principal", what)
            request.principals.extend("" if name == "-" else name for name in self.principals)
        request.declaring_scribe_key = self.declare or b""
        request.scribe_keys.extend(self.scribes)
        request.arbiter_keys.extend(self.arbiter_keys)
        self._add_occasion(request)
        request.terms.CopyFrom(
            terms(self.clock, self.lag, self.illegal, self.absence, self.take_backs, self.protest_time, self.grace)
        )
        if self.proofs is Proofs.REFUSALS and not request.terms.illegal_moves:
            unproved = " refusals: only recorded refusals are proved; expected illegal to be record or strikes:N"
            raise BadWord("proofs", phrase(unproved))
        if self.proofs is not Proofs.NONE:
            request.terms.proofs = log_pb2.ProofPolicy.Value(f"PROOF_POLICY_{self.proofs.name}")
        return request

    def _add_occasion(self, request: pb.CreateGameRequest) -> None:
        occasion = (("event", "event_id", self.event, MOST_EVENT), ("round", "round", self.round, MOST_NUMBER))
        for word, field, number, most in (*occasion, ("table", "table", self.table, MOST_NUMBER)):
            if number is not None and number > most:
                raise BadWord(word, phrase(" {number}: expected at most {most}", number=number, most=most))
            if number is not None:
                setattr(request, field, number)


_WORDS: Final[Mapping[str, str]] = {
    "seats": "seats",
    "options": "options",
    "age_order": "age-order",
    "components": "components",
    "principals": "principal",
    "arbiter_keys": "arbiter-key",
    "scribe_keys": "scribe",
    "declared": "declare",
    "tables": "components",
    "series": "series-of",
    "terms.clock": "clock",
    "terms.illegal_moves": "illegal",
    "terms.strikes": "illegal",
    "terms.penalty_ms": "illegal penalty",
    "terms.absence_ms": "absence",
    "terms.protest_ms": "protest-time",
    "terms.grace_ms": "grace",
    "terms.take_backs": "take-backs",
    "terms.proofs": "proofs",
}
"""What fills the fields of the request."""


def bad_field(field: str, what: str | Phrase) -> BadWord:
    """Return what a referee finds wrong with a field of the request, by the word that fills it."""
    word, space, part = _WORDS.get(field.partition("[")[0], f"options {field}").partition(" ")
    if isinstance(what, Phrase):
        return BadWord(word, phrase("{part}: {what}", part=space + part, what=what))
    return BadWord(word, f"{space}{part}: {what}")


def game_of(rules: str | None, seats: int | None, previous: Record | None) -> tuple[str, int]:
    """Return rules and seats: as they are given or, of a series, as they were. Raise ``BadWord``."""
    if previous is not None:
        known = previous.opened.rules_id, len(previous.opened.seats)
        if (rules or known[0], seats or known[1]) != known:
            raise BadWord("series-of", f": the previous game is {known[0]} with {known[1]} seats; expected the same")
        return known
    rules = rules or DEFAULT_RULES
    try:
        least = registry.get(rules).min_seats
    except UnknownRules as error:
        raise BadWord("rules", f" {rules}: {error}; expected one of {', '.join(registry.names())}") from None
    return rules, least if seats is None else seats
