"""A text's headers: the game, its seats and options, and the acts beside the moves. Knows no game.

Headers that every game has begin with a capital letter. The others are the game's options, by their names. Names of
players are for reports alone: no log has them.

    [Forfeits "1 resigned, 0 flag"]     seats that forfeited and how, in that order
    [Penalties "2 0 0"]                 points that an arbiter took off, by seat
    [Result "…"]                        * while the game runs; the points where its rules ended it; else the ending
    [Points "9 1 5"]                    of an adjudication with points
    [Places "1 3 2"]                    by seat, wherever the points alone do not give them
    [Waits "protests"]                  the result is not entered yet: there is time to protest; or for "a ruling"

A header that is left out says nothing: no forfeits, no penalties, the result that these and the position give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from referee.console import printable
from referee.games import registry, table_rules
from referee.games.game import Ending, Pending, SetupError, State
from referee.games.results import Contest, Result, Wait
from referee.text.notation.grammar import place, place_of, shown, syntax_error
from referee.text.notation.options import OptionError, chosen, options_of, written
from referee.text.notation.violations import Kind, NotationError, cut, either

EVENT, ROUND, TABLE, ARBITERS = "Event", "Round", "Table", "Arbiters"
_NUMBERS: Final = {EVENT: (1 << 64) - 1, ROUND: (1 << 32) - 1, TABLE: (1 << 32) - 1, ARBITERS: 512}
"""Numbers that the organiser chose, and the most of each that is read: no log has a larger one."""

COMPONENTS = "Components"
"""The components, in place of the version's own: see ``write_components`` of each game that has such."""

POSITION, BOARDS = "Position", "Boards"
"""The headers that make a text that of a position, or of boards alone."""

PLAYER, MAX_NAME = "Player", 100
"""``Player0`` has the name of the player at seat 0, and so on; and the most characters of a name."""

FORFEITS, PENALTIES, RESULT, POINTS, PLACES = "Forfeits", "Penalties", "Result", "Points", "Places"
WAITS = "Waits"
OF_THE_CONTEST: Final = (FORFEITS, PENALTIES, RESULT, POINTS, PLACES, WAITS)
"""The headers on events beside the moves, which ``read_contest`` reads when it knows the position."""
RUNNING: Final = "*"
"""The result of a game that is not over."""

_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,19})\Z", re.ASCII)
_GAME: Final = re.compile(r'(?:[ \t\r\n]|;[^\r\n]*|\{[^{}]*\})*(?P<header>\[[ \t]*Game[ \t]*"(?P<name>[^"\r\n]*)")?')


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup with which a game is opened."""

    rules_id: str
    version: int
    seats: int
    options: Any
    components: Any = None
    """None: the version's own."""
    event: int | None = None
    round: int | None = None
    table: int | None = None
    arbiters: int | None = None
    """The number of the game's arbiters; None: as many as act in it."""
    players: tuple[str, ...] = ()
    """A name for every seat, empty if it has none; or nothing, if no seat has one."""

    @property
    def game(self) -> Any:
        """The rules. Raise ``UnknownRules``."""
        return registry.get(self.rules_id, self.version)

    def start(self) -> State:
        """Return the position before the first event. Raise ``SetupError``."""
        state: State = self.game.new(self.seats, self.options, self.components)
        return state


def named_game(text: str) -> str:
    """Return which game the text is of: its first header. Raise ``NotationError``."""
    found = _GAME.match(text)
    if found is None or found["header"] is None:
        at = place(text, found.end() if found else 0)
        raise NotationError(Kind.SYNTAX, at, "the text does not name its game", '[Game "…"] first')
    if found["name"] not in registry.names():
        at = place(text, found.start("name"))
        raise NotationError(Kind.SYNTAX, at, f"game {shown(found['name'])}", either(registry.names()))
    return found["name"]


# Printing


def write(setup: Setup) -> list[str]:
    """Return a line for each; options and components only if they are not as they are by default."""
    values = {"Game": setup.rules_id, "Version": str(setup.version), "Seats": str(setup.seats)}
    numbers = {EVENT: setup.event, ROUND: setup.round, TABLE: setup.table, ARBITERS: setup.arbiters}
    values |= {name: str(number) for name, number in numbers.items() if number is not None}
    values |= {f"{PLAYER}{seat}": name for seat, name in enumerate(setup.players) if name}
    values |= {name: written(value) for name, value in chosen(setup.options).items()}
    if setup.components is not None:
        values[COMPONENTS] = registry.part(__package__, setup.rules_id, "text").write_components(setup.components)
    return [line(name, value) for name, value in values.items()]


def line(name: str, value: str) -> str:
    """Return ``[Seats "2"]``."""
    return f'[{name} "{value}"]'


# Reading


class Headers:
    """The headers of a text by name, each with the token of its value. Raises ``NotationError``."""

    def __init__(self, rules_id: str, trees: Sequence[Any]) -> None:
        self.rules_id = rules_id
        self._text = registry.part(__package__, rules_id, "text")
        game = registry.get(rules_id)
        plain = game.new(game.min_seats)
        self._own_components = game.default_components()
        self._options_type = type(plain.options)
        self._options = options_of(self._options_type)
        players = [f"{PLAYER}{seat}" for seat in range(game.max_seats)]
        known = ["Game", "Version", "Seats", *_NUMBERS, *players, *self._options]
        known += [*([COMPONENTS] if game.declares_components else []), POSITION, BOARDS, *OF_THE_CONTEST]
        self.values: dict[str, Any] = {}
        for tree in trees:
            name, value = tree.children
            if name not in known:
                raise syntax_error(name, f"header {shown(name)}", either(known))
            if name in self.values:
                raise syntax_error(name, f"header {name} is given twice", "each header once")
            self.values[str(name)] = value
        self.line = trees[0].meta.line

    def text(self, name: str) -> str | None:
        """Return the value without its quotes; None if there is none."""
        return self.values[name][1:-1] if name in self.values else None

    def wrong(self, name: str, expected: str) -> NotationError:
        """Return the error about a header's value."""
        return syntax_error(self.values[name], f"{name} {printable(cut(self.values[name]))}", expected)

    def setup(self) -> Setup:
        """Raise ``NotationError``."""
        versions = [*map(str, registry.versions(self.rules_id))]
        version = self.text("Version")
        if version is not None and version not in versions:
            raise self.wrong("Version", either(versions))
        game = registry.get(self.rules_id, int(version or 0))
        if "Seats" not in self.values:
            raise NotationError(Kind.SYNTAX, (self.line, 1), "header Seats is missing", '[Seats "…"]')
        seats = self._number("Seats", game.max_seats)
        setup = Setup(
            rules_id=self.rules_id,
            version=game.version,
            seats=seats,
            options=self._options_type(**dict(self._chosen())),
            components=self._components(),
            event=self._chosen_number(EVENT),
            round=self._chosen_number(ROUND),
            table=self._chosen_number(TABLE),
            arbiters=self._chosen_number(ARBITERS),
            players=self._players(seats, game.max_seats),
        )
        try:
            setup.start()
        except SetupError as error:
            raise self._not_set_up(error) from None
        return setup

    def _chosen(self) -> Iterator[tuple[str, Any]]:
        for name, option in self._options.items():
            if (value := self.text(name)) is not None:
                try:
                    yield name, option.parse(value)
                except OptionError as error:
                    raise self.wrong(name, error.expected) from None

    def _components(self) -> Any:
        """Return none also for the version's own, written out."""
        if (value := self.text(COMPONENTS)) is None:
            return None
        try:
            components = self._text.read_components(value)
        except SetupError as error:
            raise NotationError(Kind.SYNTAX, place_of(self.values[COMPONENTS]), f"{COMPONENTS}: {error}") from None
        same = self._text.write_components(components) == self._text.write_components(self._own_components)
        return None if same else components

    def _chosen_number(self, name: str) -> int | None:
        return self._number(name, _NUMBERS[name]) if name in self.values else None

    def _players(self, seats: int, most: int) -> tuple[str, ...]:
        names = [self.text(f"{PLAYER}{seat}") for seat in range(most)]
        for seat, name in enumerate(names):
            if name is not None and not (name.strip() == name and 0 < len(name) <= MAX_NAME and seat < seats):
                name_of_one = f"a name of up to {MAX_NAME} characters, no blanks around it"
                expected = name_of_one if seat < seats else f"seats 0 to {seats - 1}"
                raise self.wrong(f"{PLAYER}{seat}", expected)
        return tuple(name or "" for name in names[:seats]) if any(names) else ()

    def _number(self, name: str, most: int) -> int:
        text = self.text(name) or ""
        if not _NUMBER.match(text) or int(text) > most:
            raise self.wrong(name, f"a number up to {most}")
        return int(text)

    def _not_set_up(self, error: SetupError) -> NotationError:
        """Return the error at the option that is wrong, or at the seats."""
        value = self.values.get(error.field, self.values["Seats"])
        return NotationError(Kind.ILLEGAL, place_of(value), f"no game can be set up: {error}")


_RULED: Final = (Ending.ADJUDICATED, Ending.VOIDED, Ending.ABORTED, Ending.REFEREE_FAULT)
"""The endings that are possible whatever the moves and forfeits result in."""
_ENDINGS: Final = {ending.words: ending for ending in Ending}
_WAITS: Final = {"protests": Wait.PROTESTS, "a ruling": Wait.RULING}
_SIGNED: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,8})\Z", re.ASCII)
_FORFEIT: Final = re.compile(r"(?P<seat>0|[1-9][0-9]?) (?P<how>[a-z ]+)\Z", re.ASCII)


def result_words(result: Result | None) -> str:
    """Return the text of the header Result: ``51 43``, an ending's words, or ``*`` for a game that is not over."""
    if result is None:
        return RUNNING
    if result.scores and result.ending is not Ending.ADJUDICATED:
        return _written(result.scores)
    return result.ending.words


def write_contest(contest: Contest, seats: int, pending: Sequence[Pending], waits: Wait | None = None) -> list[str]:
    """Return the header lines of a contest where ``pending`` is awaited: Result, and the others with a value.

    ``waits``: the reason, if the game's result is not entered yet.
    """
    result = contest.result(seats, pending)
    values = {}
    if contest.out:
        values[FORFEITS] = ", ".join(f"{seat} {ending.words}" for seat, ending in contest.out.items())
    if any(contest.points_off):
        values[PENALTIES] = _written(contest.points_off)
    values[RESULT] = result_words(result)
    if contest.ruled is not None and contest.ruled.scores:
        values[POINTS] = _written(contest.ruled.scores)
    if result is not None and result.places and not (contest.is_plain and result.places == _by_points(result.scores)):
        values[PLACES] = _written(result.places)
    if result is not None and waits is not None:
        values[WAITS] = next(words for words, wait in _WAITS.items() if wait is waits)
    return [line(name, each) for name, each in values.items()]


def _by_points(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the places that a reader finds who sees the points alone."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def _written(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def read_contest(found: Headers, seats: int, pending: Sequence[Pending], told: Contest | None = None) -> Contest:
    """Return the contest that the headers tell where ``pending`` is awaited.

    ``told``: by the lines of a text that has acts of the table; its headers can add a result, and must agree otherwise.

    Raise ``NotationError`` for headers that are not of this form, ``Contradiction`` for those that are not so.
    """
    return _ContestReader(found, seats, pending, told or Contest()).contest()


def read_waits(found: Headers) -> Wait | None:
    """Return the reason why the result waits by the headers; None if they give none. Raise ``NotationError``."""
    if (told := found.text(WAITS)) is None:
        return None
    if told not in _WAITS:
        raise found.wrong(WAITS, either(list(_WAITS)))
    return _WAITS[told]


class Contradiction(NotationError):
    """A header that is not so. ``told``: as the text has it; ``contest``: what the other headers tell."""

    def __init__(self, found: Headers, name: str, expected: str, contest: Contest) -> None:
        token: Any = found.values[name]
        super().__init__(Kind.ILLEGAL, place_of(token), f"{name} {cut(token)}", expected)
        self.told = (found.text(name) or "") if name == RESULT else line(name, found.text(name) or "")
        self.contest = contest


class _ContestReader:
    def __init__(self, found: Headers, seats: int, pending: Sequence[Pending], told: Contest) -> None:
        self._found = found
        self._seats = seats
        self._pending = pending
        self._told = told
        self._played = told
        """Forfeits and penalties, and the ruling that the lines tell."""
        self._points = self._numbers(POINTS, "points")
        self._places = self._numbers(PLACES, "places")

    def contest(self) -> Contest:
        played = self._played = self._agreed(Contest(self._forfeits(), self._penalties()))
        contest = self._with_result(played, played.result(self._seats, self._pending))
        result = contest.result(self._seats, self._pending)
        if self._points and (contest.ruled is None or contest.ruled.scores != self._points):
            self._contradicted(POINTS, f'none, as they are of [{RESULT} "{Ending.ADJUDICATED.words}"] alone')
        places = result.places if result is not None else ()
        if self._places and self._places != places:
            self._contradicted(PLACES, _written(places) or "none, as there are none with this result")
        return contest

    def _agreed(self, headers: Contest) -> Contest:
        """Return the contest of headers and lines: where both say something they have to agree."""
        told = self._told
        if told.out and headers.out and list(told.out.items()) != list(headers.out.items()):
            self._unlike(FORFEITS, ", ".join(f"{seat} {ending.words}" for seat, ending in told.out.items()))
        if told.points_off and headers.points_off and told.points_off != headers.points_off:
            self._unlike(PENALTIES, _written(told.points_off))
        return replace(told, out=told.out or headers.out, points_off=told.points_off or headers.points_off)

    def _with_result(self, played: Contest, reached: Result | None) -> Contest:
        """``reached``: the result by moves, forfeits and penalties."""
        told = self._found.text(RESULT)
        if told is None or (told == result_words(reached) and not self._is_another(reached)):
            return played
        endings = [*_RULED] if played.ruled is None else []
        if reached is None:
            # An older text, or one by hand, may not say whose the end at the table was.
            endings += [Ending.STALLED, *(table_rules.ENDINGS if not played.out else ())]
        ending = _ENDINGS.get(told)
        if ending not in endings:
            words = dict.fromkeys([result_words(reached), *(each.words for each in endings)])
            self._contradicted(RESULT, either(words))
        if ending is not Ending.ADJUDICATED:
            return replace(played, ruled=Result(ending))
        if self._points and not self._places:
            self._contradicted(POINTS, f"{PLACES} with them")
        if not all(place == 1 + sum(other < place for other in self._places) for place in self._places):
            self._contradicted(PLACES, "1 for the best, for others one more than the seats before them")
        return replace(played, ruled=Result(ending, self._points, self._places))

    def _is_another(self, reached: Result | None) -> bool:
        """Return whether an adjudication gave something else than the forfeits, the last of which was one as well."""
        if reached is None or reached.ending is not Ending.ADJUDICATED or self._played.ruled is not None:
            return False
        return bool(self._points) or self._places not in ((), reached.places)

    def _forfeits(self) -> dict[int, Ending]:
        out: dict[int, Ending] = {}
        for word in (self._found.text(FORFEITS) or "").split(", ") if FORFEITS in self._found.values else ():
            forfeit = _FORFEIT.match(word)
            ending = _ENDINGS.get(forfeit["how"]) if forfeit else None
            if forfeit is None or ending not in table_rules.ENDINGS:
                how = either(each.words for each in table_rules.ENDINGS)
                raise self._found.wrong(FORFEITS, f"seats and how, such as 1 resigned, 0 flag; how is {how}")
            seat = int(forfeit["seat"])
            if seat >= self._seats or seat in out:
                raise self._found.wrong(FORFEITS, f"seats 0 to {self._seats - 1}, each once")
            out[seat] = ending
        return out

    def _penalties(self) -> tuple[int, ...]:
        points = self._numbers(PENALTIES, "points off")
        if min(points, default=0) < 0:
            raise self._found.wrong(PENALTIES, "0 or more")
        return points if any(points) else ()

    def _numbers(self, name: str, what: str) -> tuple[int, ...]:
        """Return the numbers; empty where there is no such header."""
        if name not in self._found.values:
            return ()
        words = (self._found.text(name) or "").split(" ")
        if len(words) != self._seats or not all(map(_SIGNED.match, words)):
            raise self._found.wrong(name, f"the {what} of {self._seats} seats, such as {_written(range(self._seats))}")
        return tuple(map(int, words))

    def _unlike(self, name: str, expected: str) -> NoReturn:
        token: Any = self._found.values[name]
        what = f"{name} {cut(token)}, which is not what the lines below say"
        raise NotationError(Kind.ILLEGAL, place_of(token), what, expected)

    def _contradicted(self, name: str, expected: str) -> NoReturn:
        raise Contradiction(self._found, name, expected, self._played)
