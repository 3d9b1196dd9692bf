"""The first screen: a new game, or one that was opened at this desk."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee.v1 import game_pb2
from referee_clients.desk.folder import Folder, Known
from referee_clients.desk.guide import guide
from referee_clients.desk.help import Help
from referee_clients.desk.place import Place
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import organiser

if TYPE_CHECKING:
    from referee_clients.desk.app import DeskApp

NEW = "new"
_HELP = """\
The first screen

Up and Down choose, Enter opens what is chosen.

A new game asks for its rules, options and who sits where. A game of the list goes on where it stood: everything that
was accepted is there.

The folder {folder} has all of it: the scribe's key (scribe.pem), which signs what is entered; games.json, which admits
to the games; names.json with the names of those who play, which are in no log. Keep a copy of it."""


class Start(Screen[None]):
    """What there is to enter."""

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
        yield OptionList(id="games", markup=False)
        yield Static("", id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_screen_resume(self) -> None:
        self.run_worker(self._list(), exclusive=True)

    async def _list(self) -> None:
        games = self._folder.games(self._place.server)
        told = []
        async with organiser(self._place.address, "", self._place.security) as there:
            for known in games:
                try:
                    told.append(self._words(known, await there.game(known.game_id)))
                except ClientError as error:
                    told.append(f"{guide(known.rules_id).TITLE}, game {known.game_id[:8]}: {error}")
        options = self.query_one(OptionList)
        options.clear_options()
        if self._place.token:
            options.add_option(Option("New game", id=NEW))
        else:
            self.query_one("#said", Static).update("Without an organiser's token no game can be opened here.")
        options.add_options(Option(words, id=known.game_id) for words, known in zip(told, games, strict=True))
        # The game that goes on is what one comes back for.
        running = [i for i, words in enumerate(told) if words.endswith("goes on")]
        options.highlighted = (running[0] + bool(self._place.token)) if running else 0

    def _words(self, known: Known, game: game_pb2.Game) -> str:
        names = ", ".join(filter(None, self._folder.names(known.game_id, len(game.seats))))
        seats = f"{len(game.seats)} {'seat' if len(game.seats) == 1 else 'seats'}" + (f" ({names})" if names else "")
        goes_on = "is over" if game.state == game_pb2.GAME_STATE_OVER else "goes on"
        entries = f"{game.size} {'entry' if game.size == 1 else 'entries'}"
        return f"{guide(known.rules_id).TITLE}, {seats}, game {known.game_id[:8]}: {entries}, {goes_on}"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        desk = cast("DeskApp", self.app)
        if event.option_id == NEW:
            desk.open_game()
            return
        for known in self._folder.games(self._place.server):
            if known.game_id == event.option_id:
                desk.enter_game(known)

    def action_help(self) -> None:
        self.app.push_screen(Help(_HELP.format(folder=self._folder.path)))
