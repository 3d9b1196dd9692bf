"""A new game in the words of an organiser, as `referee new` and the page /desk take them; the module opens nothing.

Times and clocks, a game's options as JSON, its terms, its place in a series: the wishes put them into one request.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from referee.games import registry
from referee.games.game import InputError, UnknownRules
from referee.log.entry import SALT_BYTES
from referee.log.names import Person, people_of
from referee.log.replay import Record
from referee.log.terms import MAX_BUDGET_MS
from referee.log.v1 import log_pb2
from referee.text.notation.options import Option, OptionError, options_of
from referee.text.notation.times import duration_ms, in_words
from referee.text.notation.violations import BadWord, cut
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import game_service_pb2 as pb
from referee.wire.registry import Codec, codec

# --- times and clocks -----------------------------------------------------------------------------------------------


_EXPECTED = phrase("a time such as 90s, 5m, 1h30m or 2d")
_CLOCK_EXPECTED = phrase(
    "BASE (10m), BASE+MORE (10m+5s or 10:00+5), TIME/move (30s/move), BASE dDELAY (10m d3s) or DAYS/move (3d/move)"
)
CLOCK_EXPECTED = str(_CLOCK_EXPECTED)
_INCREMENT = re.compile(r"([^\s+]+)(?:\s*\+\s*([^\s+]+))?")
_PER_MOVE = re.compile(r"(\S+)/move")
_DELAY = re.compile(r"(\S+)\s+d\s*(\S+)")
_FACE = re.compile(r"(?:([0-9]{1,3}):(?=[0-9]{2}:))?([0-9]{1,4}):([0-5][0-9])", re.ASCII)
"""A time as a clock shows it: 5:00 or 1:30:00."""


def milliseconds(word: str, text: str) -> int:
    """Raise ``BadWord``."""
    if (found := duration_ms(text)) is None:
        raise BadWord(word, phrase(" {found}: expected {expected}", found=repr(text), expected=_EXPECTED))
    if found > MAX_BUDGET_MS:
        most = in_words(MAX_BUDGET_MS)
        raise BadWord(word, phrase(" {number}: expected at most {most}", number=text, most=most))
    return found


def clock(word: str, text: str) -> log_pb2.ClockTerms:
    """Return a game's clock, without its time for the network. Raise ``BadWord``."""
    terms = log_pb2.ClockTerms()
    if found := _PER_MOVE.fullmatch(text):
        if days := re.fullmatch(r"([0-9]{1,3})d", found[1], re.ASCII):
            terms.correspondence.days = int(days[1])
        else:
            terms.per_move.move_ms = _part(word, text, found[1])
    elif found := _DELAY.fullmatch(text):
        base_ms, delay_ms = _parts(word, text, found[1], found[2])
        terms.delay.CopyFrom(log_pb2.Delay(base_ms=base_ms, delay_ms=delay_ms))
    elif found := _INCREMENT.fullmatch(text):
        base_ms, increment_ms = _parts(word, text, found[1], found[2] or "0s")
        terms.increment.CopyFrom(log_pb2.Increment(base_ms=base_ms, increment_ms=increment_ms))
    else:
        raise BadWord(word, phrase(" {found}: expected {expected}", found=repr(text), expected=_CLOCK_EXPECTED))
    return terms


def _parts(word: str, text: str, base: str, more: str) -> tuple[int, int]:
    """Return base time and the time on top; after a base such as 5:00 a number alone is of seconds."""
    if ":" in base and more.isascii() and more.isdecimal():
        more += "s"
    return _part(word, text, base), _part(word, text, more)


def _part(word: str, text: str, part: str) -> int:
    found = duration_ms(part)
    if face := _FACE.fullmatch(part):
        hours, minutes, seconds = (int(figures or 0) for figures in face.groups())
        found = 1000 * (3600 * hours + 60 * minutes + seconds)
    if found is None or found > MAX_BUDGET_MS:
        what = " {found}: {part} is not a time; expected {expected}"
        raise BadWord(word, phrase(what, found=repr(text), part=repr(part), expected=_CLOCK_EXPECTED))
    return found


# --- a game's options, as JSON --------------------------------------------------------------------------------------


_AGE_ORDER = "age_order"


def options_of_games() -> str:
    """Return every game's options, for a help text."""
    games = []
    for rules_id in registry.names():
        known = _known(_codec(rules_id)).values()
        games.append(f"{rules_id}: {', '.join(f'{option.name} ({option.expected})' for option in known)}")
    return "; ".join(games)


def options(rules_id: str, before: bytes, text: str | None, age_order: str | None) -> bytes:
    """Return the game's options, encoded: those of ``before`` with the changes of JSON and words. Raise ``BadWord``."""
    wire = _codec(rules_id)
    known = _known(wire)
    given = {} if text is None else {name: _read(known, name, value) for name, value in _object(text).items()}
    if age_order is not None:
        given[_AGE_ORDER] = _ages(rules_id, known, age_order)
    return wire.encode_options(replace(wire.decode_options(before), **given))


def choices_of(rules_id: str) -> dict[str, Any]:
    """Return a game's data for a form: the possible numbers of seats, and the possible values of each option."""
    game = registry.get(rules_id)
    options = [
        {"name": each.name, "choices": each.choices, "is_flag": each.type is bool, "is_list": each.is_list}
        for each in _known(_codec(rules_id)).values()
    ]
    return {"seats": [game.min_seats, game.max_seats], "options": options}


def _codec(rules_id: str) -> Codec:
    return codec(rules_id, registry.get(rules_id).version)


def _known(wire: Codec) -> Mapping[str, Option]:
    return options_of(type(wire.decode_options(b"")))


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadWord("options", f": not JSON ({error})") from None
    if not isinstance(found, dict):
        raise BadWord("options", ": expected a JSON object, such as '{\"max_turns\": 200}'")
    return found


def _read(known: Mapping[str, Option], name: str, value: Any) -> Any:
    if name not in known:
        what = phrase(": no option {name}; expected some of {names}", name=repr(cut(name)), names=", ".join(known))
        raise BadWord("options", what)
    try:
        return known[name].read(value)
    except OptionError as error:
        shown = cut(json.dumps(value))
        what = phrase(": {name} is {found}; expected {expected}", name=name, found=shown, expected=error.expected)
        raise BadWord("options", what) from None


def _ages(rules_id: str, known: Mapping[str, Option], age_order: str) -> Any:
    if _AGE_ORDER not in known:
        raise BadWord("age-order", phrase(": {rules} does not ask for the players' ages", rules=rules_id))
    try:
        return known[_AGE_ORDER].parse(age_order.replace(",", " "))
    except OptionError:
        what = phrase(" {found}: expected seats, from 0 (player 1) on, such as 2,0,1", found=repr(age_order))
        raise BadWord("age-order", what) from None


# --- series: each log names the one before it by the hash of its last entry -----------------------------------------


_ID_BYTES = 16


def next_options(record: Record) -> bytes:
    """Return the options of the game that follows, encoded: as they were, unless the rules say how they change."""
    if (rules := _rules(record)) is None:
        return record.opened.options
    found: bytes = record.game.position.codec.encode_options(rules.next_options(record.game.position.state))
    return found


def _rules(record: Record) -> Any:
    """Return what the game has of series, if it has any."""
    scoring = registry.part("referee.games", record.opened.rules_id, "scoring")
    return scoring if hasattr(scoring, "next_options") else None


def place(record: Record | None, *, first: bool) -> log_pb2.Series | None:
    """Return the place in its series of a game: after this one, or the first of a new series; None: it is of none.

    Raise ``BadWord`` for both, and where the rules end the series.
    """
    if record is None:
        return log_pb2.Series(id=secrets.token_bytes(_ID_BYTES), index=0) if first else None
    if first:
        raise BadWord("series", " and --series-of: expected only one of them")
    before = record.opened.series
    if (rules := _rules(record)) is not None and rules.is_last(record.game.position.state, before.index):
        raise BadWord("series-of", ": this game was the last of its series; expected an earlier one")
    return log_pb2.Series(id=before.id, index=before.index + 1, previous_head=record.head)


# --- terms: time, illegal moves, absence, protests ------------------------------------------------------------------


_ILLEGAL_EXPECTED: Final = phrase("retry, record, strikes:N, penalty:TIME or forfeit")


def terms(  # noqa: PLR0917 - as they stand in the wishes
    clock_text: str | None,
    lag: str | None,
    illegal: Sequence[str],
    absence: str | None,
    take_backs: bool,
    protest_time: str | None,
    grace: str | None = None,
) -> log_pb2.Terms:
    """Raise ``BadWord`` if it is no such term; the referee says whether they go together."""
    made = log_pb2.Terms(take_backs=take_backs)
    if clock_text is not None:
        made.clock.CopyFrom(clock("clock", clock_text))
    if lag is not None:
        if clock_text is None:
            raise BadWord("lag", phrase(" is an allowance on the clock; expected a clock with it"))
        made.clock.lag_ms = milliseconds("lag", lag)
    for word in illegal:
        _illegal(made, word)
    if absence is not None:
        made.absence_ms = _more_than_none("absence", absence)
    if protest_time is not None:
        made.protest_ms = _more_than_none("protest-time", protest_time)
    if grace is not None:
        made.grace_ms = milliseconds("grace", grace)
    return made


def _illegal(made: log_pb2.Terms, word: str) -> None:
    kind, _, value = word.partition(":")
    if word == "retry":
        return
    made.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
    if word == "forfeit":
        made.strikes = 1
    elif kind == "strikes" and re.fullmatch(r"[1-9][0-9]?", value, re.ASCII):
        made.strikes = int(value)
    elif kind == "penalty" and value:
        made.penalty_ms = _more_than_none("illegal", value)
    elif word != "record":
        raise BadWord("illegal", phrase(" {found}: expected {expected}", found=repr(word), expected=_ILLEGAL_EXPECTED))


def _more_than_none(word: str, text: str) -> int:
    if not (found := milliseconds(word, text)):
        raise BadWord(word, phrase(" {number}: expected more than zero", number=text))
    return found


# --- wishes, and the request that says them to a referee ------------------------------------------------------------


MOST_EVENT: Final = (1 << 64) - 2
MOST_NUMBER: Final = (1 << 32) - 1
"""The highest number of a round or a table."""
DEFAULT_RULES: Final = "alhambra"
"""The game, unless another is named."""


class Proofs(StrEnum):
    """The values of ``referee.log.v1.ProofPolicy``."""

    NONE = "none"
    REFUSALS = "refusals"
    ALL = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """The words given for one game; for all others the referee's defaults count."""

    rules: str | None = None
    seats: int | None = None
    age_order: str | None = None
    principals: Sequence[str] = ()
    names: Sequence[str] = ()
    """The players' names by seat, empty for none; the game commits to them."""
    options: str | None = None
    """The options, as JSON."""
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
        rules, seats = game_of(self.rules, self.seats or len(self.names) or None, previous)
        before = b"" if previous is None else next_options(previous)
        chosen = options(rules, before, self.options, self.age_order)
        request = pb.CreateGameRequest(rules_id=rules, options=chosen, series=place(previous, first=self.series))
        if self.components is not None:
            request.components = self.components(rules)
        elif previous is not None:
            request.components = previous.opened.tables
        for seat in self.scribed:
            if not 0 <= seat < seats:
                raise BadWord(
                    "scribed", phrase(" {seat}: the game has seats 0 (player 1) to {last}", seat=seat, last=seats - 1)
                )
        request.seats.extend(log_pb2.Seat(scribed=seat in self.scribed) for seat in range(seats))
        if self.principals:
            if len(self.principals) != seats:
                what = phrase(": {n} given; expected {seats}, one for each player", n=len(self.principals), seats=seats)
                raise BadWord("principal", what)
            request.principals.extend("" if name == "-" else name for name in self.principals)
        self._add_names(request)
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

    def _add_names(self, request: pb.CreateGameRequest) -> None:
        if len(self.names) > len(request.seats):
            what = phrase(": {n} given; expected at most {seats}", n=len(self.names), seats=len(request.seats))
            raise BadWord("names", what)
        try:
            people, _ = people_of(self.names)
        except InputError as error:
            raise BadWord("names", f": {error.what}; expected {error.expected}") from None
        for seat, name in people.items():
            person = Person(name, secrets.token_bytes(SALT_BYTES))
            request.seats[seat].player = person.player
            request.names.add(seat=seat, name=person.name, salt=person.salt)

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
    "names": "names",
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
"""The word for each field of the request."""


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
