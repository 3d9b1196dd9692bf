"""The first screen: a new game, or one that was opened at this desk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee.v1 import game_pb2
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk.choices import Choices
from referee_clients.terminal.desk.folder import Folder, Known
from referee_clients.terminal.desk.guide import guide
from referee_clients.terminal.desk.help import Help
from referee_clients.terminal.desk.place import Place

_HELP = """\
The first screen

Up and Down choose, Enter opens what is chosen.

A new game asks for its rules, options and players. A game of the list goes on where it stopped: everything that was \
accepted is kept.

The folder {folder} has everything: the scribe's key (scribe.pem), which signs every act; games.json, which gives \
access to the games; names.json with the players' names, which are in no log. Keep a copy of the folder."""


class GameOption(Option):
    """A game in the list."""

    def __init__(self, known: Known, words: str, *, is_over: bool | None) -> None:
        """``is_over``: None if the referee does not say."""
        super().__init__(words, id=known.game_id)
        self.known = known
        self.is_over = is_over


class Start(Screen[None]):
    """What there is to enter."""

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
        # Who has chosen while the referee was asked keeps that choice.
        kept = options.highlighted_option if options.highlighted != chosen else None
        options.clear_options()
        if self._place.token:
            options.add_option(Option("New game"))
        else:
            self.query_one("#said", Static).update("No game can be opened here without an organiser's token.")
        options.add_options(games)
        # The game that goes on is what one comes back for.
        proposed = [game.known.game_id for game in games if game.is_over is False]
        found = kept.id if kept is not None else next(iter(proposed), None)
        options.highlighted = options.get_option_index(found) if found is not None else 0

    def _option(self, known: Known, game: game_pb2.Game) -> GameOption:
        names = ", ".join(filter(None, self._folder.names(known.game_id, len(game.seats))))
        seats = f"{len(game.seats)} {'seat' if len(game.seats) == 1 else 'seats'}" + (f" ({names})" if names else "")
        is_over = game.state == game_pb2.GAME_STATE_OVER
        entries = f"{game.size} {'entry' if game.size == 1 else 'entries'}, {'is over' if is_over else 'goes on'}"
        words = f"{guide(known.rules_id).TITLE}, {seats}, game {known.game_id[:8]}: {entries}"
        return GameOption(known, words, is_over=is_over)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option
        self.post_message(self.Chosen(chosen.known) if isinstance(chosen, GameOption) else self.NewGame())

    def action_help(self) -> None:
        self.app.push_screen(Help(_HELP.format(folder=self._folder.path)))
