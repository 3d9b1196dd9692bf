"""A text's headers: which game, how many seats, what differs from the default. Knows no game.

Headers that every game has begin with a capital letter. The others are the game's options, by their names. Names of
players are for reports alone: no log has them. Old names of headers are still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.console import printable
from referee.games import registry
from referee.games.game import SetupError, State
from referee.text.notation import old_names
from referee.text.notation.errors import Kind, NotationError, cut, either
from referee.text.notation.grammar import place, place_of, shown, syntax_error
from referee.text.notation.options import OptionError, chosen, options_of, written

EVENT, ROUND, TABLE, ARBITERS = "Event", "Round", "Table", "Arbiters"
_NUMBERS: Final = {EVENT: (1 << 64) - 1, ROUND: (1 << 32) - 1, TABLE: (1 << 32) - 1, ARBITERS: 512}
"""Numbers that the organiser chose, and the most of each that is read: no log has a larger one."""

COMPONENTS = "Components"
"""What is played with, in place of the version's own: see ``write_components`` of each game that has such."""

POSITION, BOARDS = "Position", "Boards"
"""Which make a text that of a position, or of boards alone."""

PLAYER, MAX_NAME = "Player", 100
"""``Player0`` has the name of who sits at seat 0, and so on; and how many characters it may have."""

FORFEITS, PENALTIES, RESULT, POINTS, PLACES = "Forfeits", "Penalties", "Result", "Points", "Places"
WAITS = "Waits"
OF_THE_CONTEST: Final = (FORFEITS, PENALTIES, RESULT, POINTS, PLACES, WAITS)
"""What happened beside the moves, which ``contest_text`` reads when it knows the position."""
RUNNING: Final = "*"
"""The result of a game that goes on."""

_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,19})\Z", re.ASCII)
_GAME: Final = re.compile(r'(?:[ \t\r\n]|;[^\r\n]*|\{[^{}]*\})*(?P<header>\[[ \t]*Game[ \t]*"(?P<name>[^"\r\n]*)")?')


@dataclass(frozen=True, slots=True)
class Setup:
    """What a game is opened with."""

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
    """How many the game has; None: as many as act in it."""
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
        """By today's names."""
        self._written: dict[str, str] = {}
        """The names that the text has for them."""
        for tree in trees:
            written, value = tree.children
            name = old_names.header(rules_id, written)
            if name not in known:
                raise syntax_error(written, f"header {shown(written)}", either(known))
            if name in self.values:
                raise syntax_error(written, f"header {name} is given twice", "each header once")
            self.values[name] = value
            self._written[name] = written
        self.line = trees[0].meta.line

    def text(self, name: str) -> str | None:
        """Return the value without its quotes; None if there is none."""
        return self.values[name][1:-1] if name in self.values else None

    def wrong(self, name: str, expected: str) -> NotationError:
        """Return the error about a header's value."""
        return syntax_error(self.values[name], f"{name} {printable(cut(self.values[name]))}", expected)

    def setup(self) -> Setup:
        """Raise ``NotationError``."""
        versions = [str(game.version) for game in registry.games() if game.rules_id == self.rules_id]
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
                _, value = old_names.option(self.rules_id, self._written[name], value)
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
        """At the option that is wrong, or at the seats."""
        value = self.values.get(error.field, self.values["Seats"])
        return NotationError(Kind.ILLEGAL, place_of(value), f"no game can be set up: {error}")
