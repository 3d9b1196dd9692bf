"""The desk's application: its first screen, the form for a new game, and the way to a game. Knows no game.

Options are written as the headers of the notation have them, and read by its parser.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Footer, Input, Label, OptionList, Select, Static
from textual.widgets.option_list import Option

from referee.games import registry
from referee.games.game import InputError
from referee.log.entry import SALT_BYTES
from referee.log.names import Person, people_of
from referee.text.notation import game_text, headers
from referee.text.notation.headers import Setup
from referee.text.notation.options import Option as RulesOption
from referee.text.notation.options import options_of, plain, written
from referee.text.notation.outcomes import counted
from referee.text.notation.violations import NotationError
from referee.v1 import game_pb2
from referee.wire.registry import codec
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk.folder import (
    Folder,
    FolderError,
    Known,
    Place,
    ReadComponents,
)
from referee_clients.terminal.desk.guide import guide
from referee_clients.terminal.desk.screen import DeskScreen
from referee_clients.terminal.widgets import Choices, Help, TerminalApp

_HELP_START = """\
The first screen

Up and Down choose, Enter opens what is chosen.

A new game asks for its rules, options and players. A game of the list continues where it stopped: all accepted \
entries are kept.

The folder {folder} has everything: the scribe's key (scribe.pem), which signs every act; games.json, which gives \
access to the games; names.csv with the players' names, which are in no log. Keep a copy of the folder."""


class GameOption(Option):
    """A game in the list."""

    def __init__(self, known: Known, words: str, *, is_over: bool | None) -> None:
        """``is_over``: None if the referee does not say."""
        super().__init__(words, id=known.game_id)
        self.known = known
        self.is_over = is_over


class Start(Screen[None]):
    """The first screen: a new game, or one that was opened at this desk."""

    class NewGame(Message):
        """A new game is wanted."""

    @dataclass
    class Chosen(Message):
        """A game of the list is wanted."""

        known: Known

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1", "help", "Help")]
    CSS = """
    Start OptionList { height: 1fr; border: none; }
    Start #title { height: auto; padding-bottom: 1; }
    Start #said { height: auto; }
    """

    def __init__(self, folder: Folder, place: Place) -> None:
        super().__init__()
        self._folder = folder
        self._place = place

    def compose(self) -> ComposeResult:
        where = f"at {self._place.server}" if self._place.server else "with a referee of its own"
        yield Static(f"Tile Referee: the desk, {where}. Games in {self._folder.path}.", id="title", markup=False)
        yield Choices(id="games", markup=False)
        yield Static("", id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Choices).focus()

    def on_screen_resume(self) -> None:
        self.run_worker(self._list(), exclusive=True)

    async def _list(self) -> None:
        games: list[GameOption] = []
        options = self.query_one(Choices)
        chosen = options.highlighted
        async with organiser(self._place.address, "", self._place.security) as there:
            for known in self._folder.games(self._place.server):
                try:
                    games.append(self._option(known, await there.game(known.game_id)))
                except ClientError as error:
                    words = f"{guide(known.rules_id).TITLE}, game {known.game_id[:8]}: {error}"
                    games.append(GameOption(known, words, is_over=None))
        # A choice that was made while the referee was asked stays.
        kept = options.highlighted_option if options.highlighted != chosen else None
        options.clear_options()
        if self._place.token:
            options.add_option(Option("New game"))
        else:
            self.query_one("#said", Static).update("No game can be opened here without an organiser's token.")
        options.add_options(games)
        # A running game is the usual reason to come back.
        proposed = [game.known.game_id for game in games if game.is_over is False]
        found = kept.id if kept is not None else next(iter(proposed), None)
        options.highlighted = options.get_option_index(found) if found is not None else 0

    def _option(self, known: Known, game: game_pb2.Game) -> GameOption:
        names = ", ".join(filter(None, self._folder.names(known.game_id, len(game.seats))))
        seats = counted(len(game.seats), "player") + (f" ({names})" if names else "")
        is_over = game.state == game_pb2.GAME_STATE_OVER
        entries = f"{game.size} {'entry' if game.size == 1 else 'entries'}, {'is over' if is_over else 'in progress'}"
        words = f"{guide(known.rules_id).TITLE}, {seats}, game {known.game_id[:8]}: {entries}"
        return GameOption(known, words, is_over=is_over)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option
        self.post_message(self.Chosen(chosen.known) if isinstance(chosen, GameOption) else self.NewGame())

    def action_help(self) -> None:
        self.app.push_screen(Help(_HELP_START.format(folder=self._folder.path)))


_HELP_OPENING = """\
A new game

Tab and Shift+Tab go from field to field; the line at the bottom explains each. Enter opens the choices of a \
field that has some. F2 opens the game: from then on its rules and options stay as they are.

Names are kept in {folder}/names.csv and do not appear in any log: a log knows only seats.

docs/rules of Tile Referee explains the options, rule by rule."""
# --- the form for a new game -----------------------------------------------------------------------------------------


_GAME, _SEATS, _NAMES, _COMPONENTS, _ARBITER = "Game", "Seats", "names", "components", "arbiter"
_YES: Final = "yes"


class Opening(Screen[Known | None]):
    """Dismissed with the game that was opened, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "open", "Open the game"),
        Binding("escape", "dismiss", "Back", key_display="Esc"),
    ]
    CSS = """
    Opening #fields { height: 1fr; scrollbar-size-vertical: 1; }
    Opening #options { height: auto; }
    Opening Horizontal { height: 1; }
    Opening Label { width: 20; }
    Opening Input { width: 1fr; }
    Opening Select { width: 1fr; }
    Opening #about, Opening #said { height: auto; }
    Opening #about { border-top: solid; }
    """

    def __init__(self, folder: Folder, place: Place, read_components: ReadComponents) -> None:
        super().__init__()
        self._folder = folder
        self._place = place
        self._read_components = read_components
        self._rules_id = registry.names()[0]
        self._opening = False
        self._wrong: list[str] | None = None
        """The values of the form when something was found to be wrong."""

    def compose(self) -> ComposeResult:
        yield Static("A new game at the table", id="title", markup=False)
        games = [(guide(rules_id).TITLE, rules_id) for rules_id in registry.names()]
        with VerticalScroll(id="fields", can_focus=False):
            yield _row(_GAME, Select(games, value=self._rules_id, allow_blank=False, id=_GAME, compact=True))
            yield Vertical(*self._fields(), id="options")
            yield Button("Open the game", id="open", compact=True)
        yield Static("", id="about", markup=False)
        yield Static("", id="said", markup=False)
        yield Footer()

    def _fields(self) -> list[Widget]:
        """Return all that depend on the game."""
        game = registry.get(self._rules_id)
        seats = [(str(number), str(number)) for number in range(game.min_seats, game.max_seats + 1)]
        rows: list[Widget] = [
            _row("Players", Select(seats, value=seats[0][1], allow_blank=False, id=_SEATS, compact=True))
        ]
        rows.append(_row(_NAMES, Input(placeholder="(such as Red, Blue)", id=_NAMES, compact=True)))
        rulings = [("yes, at this desk", _YES), ("no", "no")]
        rows.append(_row(_ARBITER, Select(rulings, value=_YES, allow_blank=False, id=_ARBITER, compact=True)))
        rows += [_row(option.name, _field(option)) for option in self._options()]
        if game.declares_components:
            rows.append(_row(_COMPONENTS, Input(placeholder="(the standard ones)", id=_COMPONENTS, compact=True)))
        return rows

    def _options(self) -> Iterable[RulesOption]:
        game = registry.get(self._rules_id)
        return options_of(type(game.new(game.min_seats).options)).values()

    def on_mount(self) -> None:
        self.query_one(f"#{_GAME}").focus()

    @on(Select.Changed)
    @on(Input.Changed)
    def _is_changed(self) -> None:
        """Drop the message about a value that has changed since."""
        if self._wrong is not None and self._wrong != self._filled_in():
            self._say("")

    @on(Select.Changed)
    async def _other_game(self, event: Select.Changed) -> None:
        if event.select.id == _GAME and event.value != self._rules_id:
            self._rules_id = str(event.value)
            options = self.query_one("#options", Vertical)
            await options.remove_children()
            await options.mount_all(self._fields())

    @on(DescendantFocus)
    def _focused(self, event: DescendantFocus) -> None:
        self.query_one("#about", Static).update(self._about(event.widget.id or ""))

    def _about(self, field: str) -> str:
        known = guide(self._rules_id)
        command = f"referee new --rules {self._rules_id} --show-components"
        fixed = {
            _GAME: "Game: the rules to play by.",
            _SEATS: "Players: how many play, in their order. In the notation the first one is 0.",
            _NAMES: "Names: the players in order of play, with commas between; optional. The game's referee keeps them "
            "beside the game, and the game proves them.",
            _ARBITER: "Arbiter: for rulings at this desk: penalties, players who did not come, the result. The key is "
            f"{self._folder.arbiter_file}; it is made if it is not there. It cannot be added later.",
            _COMPONENTS: f"Components: the {known.COMPONENTS} on your table, if not standard: a file in the "
            f"form that {command} prints.",
            "open": "Enter opens the game; so does F2 from every field.",
        }
        words = fixed.get(field) or (f"{field}: {known.OPTIONS[field]}." if field in known.OPTIONS else "")
        # The open list of a field has no name of its own.
        return words or str(self.query_one("#about", Static).content)

    def _filled_in(self) -> list[str]:
        fields: list[Any] = [*self.query(Input), *self.query(Select)]
        return [str(field.value) for field in fields]

    def _say(self, words: str) -> None:
        """Tell it for as long as the form stays as it is."""
        self._wrong = self._filled_in() if words else None
        self.query_one("#said", Static).update(words)

    @on(Button.Pressed)
    def action_open(self) -> None:
        if not self._opening:
            self._opening = True
            self.run_worker(self._open())

    async def _open(self) -> None:
        try:
            if (setup := self._setup()) is None or (names := self._names(setup.seats)) is None:
                return
            components = self._components()
            self._say("Opening the game.")
            wire = codec(setup.rules_id, setup.version)
            async with organiser(self._place.address, self._place.token, self._place.security) as there:
                arbiter = self._folder.arbiter(make=True) if self._value(_ARBITER) == _YES else None
                table = await there.open_table(
                    setup.rules_id,
                    setup.seats,
                    self._folder.key.public.raw,
                    options=wire.encode_options(setup.options),
                    components=components,
                    arbiters=[] if arbiter is None else [arbiter.public.raw],
                    people=names,
                )
            self.dismiss(self._folder.add(table, setup.rules_id, self._place.server, names))
        except (ClientError, FolderError, ValueError) as error:
            self._say(f"Not opened: {error}")
        finally:
            self._opening = False

    def _setup(self) -> Setup | None:
        """Return the form's setup, read as the headers of a text; None if it is wrong, after showing why."""
        values = {_GAME: self._rules_id, _SEATS: self._value(_SEATS)}
        values |= {option.name: value for option in self._options() if (value := self._value(option.name))}
        text = "".join(f"{headers.line(name, value)}\n" for name, value in values.items())
        try:
            found, _ = game_text.parse(text)
            return found.setup()
        except NotationError as error:
            field = list(values)[min(error.line, len(values)) - 1]
            expected = f"; expected {error.expected}" if error.expected else ""
            self._say(f"{field}: {error.what}{expected}")
            self.query_one(f"#{field}").focus()
            return None

    def _names(self, seats: int) -> dict[int, Person] | None:
        """Return the names that were given, by seat; None if they are too many or equal, after showing that."""
        given = self._value(_NAMES).split(",")
        wrong = f"{len(given)} of them; expected {seats} at most, with commas between" if len(given) > seats else ""
        try:
            people, _ = people_of(given)
        except InputError as error:
            people, wrong = {}, wrong or str(error)
        if wrong:
            self._say(f"names: {wrong}")
            self.query_one(f"#{_NAMES}").focus()
            return None
        return {seat: Person(name, token_bytes(SALT_BYTES)) for seat, name in people.items()}

    def _components(self) -> bytes:
        """Raise ``ValueError``."""
        path = self._value(_COMPONENTS) if registry.get(self._rules_id).declares_components else ""
        return self._read_components(self._rules_id, Path(path)) if path else b""

    def _value(self, field: str) -> str:
        widget: Any = self.query_one(f"#{field}")
        return str(widget.value).strip()

    def action_help(self) -> None:
        self.app.push_screen(Help(_HELP_OPENING.format(folder=self._folder.path)))


def _row(label: str, widget: Widget) -> Horizontal:
    return Horizontal(Label(label, markup=False), widget)


def _field(option: RulesOption) -> Widget:
    """Return choices where there are some; otherwise a line, empty without a choice."""
    default = written(plain(option.default))
    if words := option.choices:
        choices = [(word, word) for word in words]
        return Select(choices, value=default, allow_blank=False, id=option.name, compact=True)
    return Input(default, id=option.name, compact=True)


class DeskApp(TerminalApp[None]):
    """The desk with one referee and one folder. ``run_async`` it."""

    TITLE = "Tile Referee: the desk"

    def __init__(
        self, folder: Folder, place: Place, read_components: ReadComponents, *, ascii_only: bool = False
    ) -> None:
        super().__init__()
        self.folder = folder
        self.place = place
        self.read_components = read_components
        self.ascii_only = ascii_only

    def on_mount(self) -> None:
        self.push_screen(Start(self.folder, self.place))

    def on_start_new_game(self) -> None:
        """Show the form for a new game; the game that it opens is entered at once."""
        self.push_screen(Opening(self.folder, self.place, self.read_components), self._opened)

    def on_start_chosen(self, message: Start.Chosen) -> None:
        """Go on with the game."""
        self._enter(message.known)

    def _opened(self, known: Known | None) -> None:
        if known is not None:
            self._enter(known)

    def _enter(self, known: Known) -> None:
        self.push_screen(DeskScreen(self.folder, self.place, known, ascii_only=self.ascii_only))
