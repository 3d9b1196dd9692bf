"""The application and the screen of a tournament's desk: a list, the prompt, its meaning, and the help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from referee.games.game import InputError
from referee.log.errors import LogError, RulesError
from referee.tournament import desk_line
from referee.tournament.desk_line import VERBS, Meant
from referee.tournament.file import EventFile
from referee.tournament.input import scanned, table_of
from referee.tournament.rules.acts import Result
from referee.tournament.words import describe, told_broken
from referee_clients.sdk.errors import ClientError
from referee_clients.terminal.desk.acts import Offer
from referee_clients.terminal.event_desk.views import (
    Line,
    Preview,
    Shown,
    View,
    brief_standings,
    fits_somebody,
    heading,
    listed,
)
from referee_clients.terminal.widgets import Beside, Choices, Help, TerminalApp

HELP: Final = """\
The desk of an event

What you type stands in the line at the bottom. Below it you see what Enter
will do, or why that is not possible. A refused line stays for correction.

F2  Players. Type a name or a number: Enter checks the player in; Enter again
    notes that the player left, and once more that the player is back.
    Up and Down choose. A new player:       enter Anna
F3  Tables. The table, and places by seat:  4 2,1,3,3
    or points of the game:                  4 scores 41,38,52,12
    Seats that forfeited:                   4 2,1,3 forfeited 2
    A player who never came has place 0. The code on a slip can be scanned.
    Another result amends the first:        4 1,2,3,3 because misread
    Of an earlier round:                    round 1 table 4 1,2,3,3 because …
F4  Standings.
F5  Shows the next pairing with its reasons, before anything is entered.
    By hand:                    pair 1,4,2,7; 3,5,6 because they share a car
F6  Publishes the pairing.
F7  Everything else: late entries, absences, rulings, the end.

Tab completes a name. After each act the file is whole. While this desk is
open, no other desk or command can enter anything in this file."""

OFFERS: Final = (
    Offer("A player enters, late if round 1 is paired", "enter "),
    Offer("All players who are not there yet check in", "checkin all"),
    Offer("A player leaves", "withdraw "),
    Offer("A player who left is back", "readmit "),
    Offer("A player misses the next round, or the round you name", "absent "),
    Offer("Two players should not meet; before round 1", "forbid "),
    Offer("Two players never meet; before round 1", "never "),
    Offer("All rounds that are left are planned; no two players meet twice", "plan"),
    Offer("The pairing is made again: a ruling; its results are gone", "reopen because "),
    Offer("You pair by hand: tables in the order of seats", "pair "),
    Offer("A table does not count: a ruling", "void "),
    Offer("A player is given points for a round: a ruling", "award "),
    Offer("A player is put out: a ruling", "expel "),
    Offer("Entries are closed and lots are drawn, before round 1", "draw"),
    Offer("The event is over, and the standings are final", "close"),
    Offer("The event ends here, though rounds are left", "abandon because "),
)


class Prompt(Input):
    """Keeps the keyboard: the list is moved through from here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "screen.complete", "Complete", show=False),
        Binding("up", "screen.choose(-1)", "Up", show=False),
        Binding("down", "screen.choose(1)", "Down", show=False),
        Binding("pageup", "screen.choose(-10)", "Ten up", show=False),
        Binding("pagedown", "screen.choose(10)", "Ten down", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="line", compact=True, select_on_focus=False)

    def begin(self, text: str) -> None:
        """Replace the text, with the cursor behind it."""
        self.value = text
        self.cursor_position = len(text)


_QUESTION = "What happened? Choose with Up and Down."
_REFUSED = "Not entered: "
EVERY_S = 2.0
"""Time from one look at a referee that keeps the event to the next."""
_HOW = "Enter puts this line into the prompt, to be completed and entered there."


class EventScreen(Screen[None]):
    """The desk of one tournament."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "view('ENTRANTS')", "Players"),
        Binding("f3", "view('TABLES')", "Tables"),
        Binding("f4", "view('STANDINGS')", "Standings"),
        Binding("f5", "pair", "Pair"),
        Binding("f6", "begin('publish')", "Publish"),
        Binding("f7", "beside", "Act"),
        Binding("escape", "begin('')", "Clear", show=False),
    ]
    CSS = """
    EventScreen #title { height: auto; }
    EventScreen #panes { height: 1fr; border-top: solid; border-bottom: solid; }
    EventScreen OptionList { border: none; width: 1fr; height: 1fr; scrollbar-size-vertical: 1; }
    EventScreen #beside { display: none; width: 1fr; height: 1fr; margin-left: 1; scrollbar-size-vertical: 1; }
    EventScreen.-wide #beside { display: block; }
    EventScreen.-wide.standings #beside { display: none; }
    EventScreen #meaning { height: auto; max-height: 4; min-height: 1; }
    EventScreen #said { height: auto; max-height: 5; }
    EventScreen Horizontal.prompt { height: 1; }
    EventScreen .prompt Static { width: 2; }
    EventScreen .prompt Input { width: 1fr; }
    """

    def __init__(self, event: EventFile) -> None:
        super().__init__()
        self._event = event
        self._view = View.ENTRANTS if not event.log.state.rounds else View.TABLES
        self._lines: list[Line] = []
        self._is_picked = False
        """The list was moved through since anything was entered: an empty line means what is chosen there."""
        self._busy = False
        """Something is being entered."""
        self._lock = asyncio.Lock()
        """Guards every change of the file, by an entry here or by the acts of others at its referee."""
        self._way = ""
        """The reason that there is no connection to the referee of the tournament."""

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with Horizontal(id="panes"):
            choices = Choices(id="list", markup=False)
            choices.can_focus = False
            yield choices
            with VerticalScroll(id="beside", can_focus=False):
                yield Static("", id="standings", markup=False)
        with Horizontal(classes="prompt"):
            yield Static("> ")
            yield Prompt()
        yield Static("", id="meaning", markup=False)
        yield Static("F1 shows what can be typed.", id="said", markup=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()
        self._show()
        if self._event.home is not None:
            self.set_interval(EVERY_S, lambda: self.run_worker(self._follow(), name="follow"))

    async def _follow(self) -> None:
        """Take over what others entered, if a referee keeps the event."""
        if self._lock.locked():
            return
        size, way = self._event.log.record.size, self._way
        async with self._lock:
            try:
                await asyncio.to_thread(self._event.follow, waits=False)
                self._way = ""
            except (InputError, LogError, OSError, ClientError) as error:
                self._way = f"No connection: {_told(error)}\n"
        if self._event.log.record.size > size or self._way != way:
            self._show()

    # --- what is shown ---------------------------------------------------------------------------------------------

    @property
    def _text(self) -> str:
        return self.query_one(Prompt).value

    def _show(self, highlight: int | None = None) -> None:
        """Show everything anew. ``highlight``: the number to choose in the list; by default the one that was."""
        state, names = self._event.log.state, self._event.names
        name = Path(self._event.path).name
        first, second = heading(state)
        self.query_one("#title", Static).update(f"{self._way}{name}: {first}\n{second}")
        self.set_class(self._view is View.STANDINGS, "standings")
        self.query_one("#standings", Static).update("\n".join(brief_standings(state, names)))
        self._list(highlight)

    def _list(self, highlight: int | None = None) -> None:
        options = self.query_one(OptionList)
        wanted = highlight if highlight is not None else getattr(self._chosen, "number", None)
        text = self._text if self._is_about_entrants else ""
        found = listed(self._view, self._event.log.state, self._event.names, text)
        if found != self._lines or options.option_count != len(found):
            self._lines = found
            options.clear_options()
            options.add_options([Option(line.words) for line in found])
        at = next((at for at, line in enumerate(found) if line.number == wanted), 0)
        options.highlighted = at if found else None
        self._mean()

    @property
    def _chosen(self) -> Line | None:
        at = self.query_one(OptionList).highlighted
        return self._lines[at] if at is not None and at < len(self._lines) else None

    @property
    def _is_about_entrants(self) -> bool:
        """Return whether the text is a number or a name, to be found in the list of entrants."""
        text = self._text.strip()
        if self._view is not View.ENTRANTS or not text:
            return self._view is View.ENTRANTS and self._is_picked
        return text not in VERBS and fits_somebody(self._event.log.state, self._event.names, text)

    def _meant(self) -> Meant | None:
        """Return what Enter will do; None if it does nothing. Raise ``InputError``."""
        if self._is_about_entrants and self._chosen is not None:
            return desk_line.one_act(
                self._event, desk_line.toggled(self._event.log.state.entrants[self._chosen.number])
            )
        return desk_line.read(self._event, self._text) if self._text.strip() else None

    def _mean(self) -> None:
        """Say what Enter will do."""
        try:
            meant = self._meant()
        except (InputError, LogError) as error:
            told = f"Not yet: {error}"
        else:
            if meant is None:
                told = self._hint()
            elif why_not := meant.why_not(self._event):
                told = f"Not possible: {why_not}"
            else:
                told = f"Enter: {meant.does}."
        self.query_one("#meaning", Static).update(told)

    def _hint(self) -> str:
        chosen = self._chosen
        if self._view is View.TABLES and chosen is not None and chosen.number:
            return f"Type a table and its places, such as 4 2,1,3,3. Enter begins with table {chosen.number}."
        if self._view is View.ENTRANTS:
            return "Type a name or a number. A new player: enter NAME"
        return ""

    def _say(self, words: str) -> None:
        self.query_one("#said", Static).update(words)

    def _refuse(self, error: Exception) -> None:
        """Say why nothing was entered. The line stays as it is."""
        self.query_one("#meaning", Static).update("")
        self._say(f"{_REFUSED}{_told(error)}")

    # --- keys ------------------------------------------------------------------------------------------------------

    def on_input_changed(self) -> None:
        if str(self.query_one("#said", Static).content).startswith(_REFUSED):
            self._say("")
        self._list()

    def action_choose(self, step: int) -> None:
        """Move through the list."""
        options = self.query_one(OptionList)
        if options.option_count:
            options.highlighted = min(max((options.highlighted or 0) + step, 0), options.option_count - 1)
        self._is_picked = True
        self._mean()

    def action_complete(self) -> None:
        """Complete the name that the line ends with, if it can be only one."""
        text = self._text
        for at in [0, *(at + 1 for at, letter in enumerate(text) if letter in " ,")]:
            begun = text[at:].casefold()
            names = [each.name for each in self._event.names.people.values() if each.name.casefold().startswith(begun)]
            if begun and len(names) == 1:
                self.query_one(Prompt).begin(text[:at] + names[0])
                return

    def action_begin(self, text: str) -> None:
        """Put a line into the prompt."""
        self.query_one(Prompt).begin(text)
        self._list()

    def action_view(self, name: str) -> None:
        """Show another list. The typed text stays."""
        self._view = View[name]
        self._show()

    def action_help(self) -> None:
        self.app.push_screen(Help(HELP))

    def action_beside(self) -> None:
        """List everything that can be typed."""

        def chosen(offer: Offer | None) -> None:
            if offer is not None:
                self.action_begin(offer.line)

        self.app.push_screen(Beside(OFFERS, _QUESTION, how=_HOW), chosen)

    def on_input_submitted(self) -> None:
        text = self._text.strip()
        if self._busy:
            self._say("One moment: the last act is not on disk yet.")
        elif scanned(text):
            self._begin_scanned(text)
        elif not text and self._view is View.TABLES and self._chosen is not None and self._chosen.number:
            self._begin_table(self._chosen.number)
        else:
            self._enter_text()

    def _begin_scanned(self, text: str) -> None:
        state = self._event.log.state
        try:
            table = table_of("slip", text, self._event.log.event_id, len(state.rounds))
        except InputError as error:
            self._refuse(error)
            return
        self._view = View.TABLES
        self._begin_table(table)
        self._show(table)

    def _begin_table(self, table: int) -> None:
        """Begin a table's result; one that is there stands in the line, to be amended."""
        round_ = self._event.log.state.round
        result = round_.results.get(table) if round_ is not None else None
        self.action_begin(f"{table} " if result is None else _line_of(table, result))

    def _enter_text(self) -> None:
        try:
            meant = self._meant()
        except (InputError, LogError) as error:
            self._refuse(error)
            return
        if meant is not None:
            toggled = self._chosen.number if self._is_about_entrants and self._chosen is not None else None
            self._run(lambda: meant.enter(self._event), meant.does, toggled)

    def _run(self, act: Callable[[], object], does: str, highlight: int | None = None) -> None:
        self._busy = True
        self.run_worker(self._enter(act, does, highlight), name="enter")

    async def _enter(self, act: Callable[[], object], does: str, highlight: int | None) -> bool:
        """Enter an act, all of it or nothing, and say what became of it. The line is emptied if it was entered."""
        entered = self._text
        try:
            if self._event.home is not None:
                self._say("Waiting for the referee …")
            async with self._lock:
                await asyncio.to_thread(self._keep, act)
        except (InputError, LogError, OSError, ClientError) as error:
            self._show()
            self._refuse(error)
            return False
        finally:
            self._busy = False
        self._say(f"Entered: {does}.")
        self._is_picked = False
        if self._text == entered:
            self.query_one(Prompt).begin("")
        newest = max(self._event.log.state.entrants, default=None) if entered.startswith("enter ") else None
        self._show(newest if highlight is None else highlight)
        return True

    def _keep(self, act: Callable[[], object]) -> None:
        with self._event.entering():
            act()

    # --- pairing -----------------------------------------------------------------------------------------------------

    def action_pair(self) -> None:
        """Show the next round's pairing with its reasons; there it can be entered."""
        if not self._busy:
            self._pair()

    def _pair(self, note: str = "") -> None:
        """``note``: the words above the pairing."""
        round_ = self._event.log.state.round
        if round_ is not None and round_.is_published and round_.undecided:
            self._say(
                f"{note}Not paired: round {round_.number} is being played; without a result: {_few(round_.undecided)}."
            )
            return
        self._busy = True
        self._say("Pairing…")
        self.run_worker(self._preview(note), name="enter")

    async def _preview(self, note: str) -> None:
        try:
            async with self._lock:
                shown = await asyncio.to_thread(Shown.of, self._event)
        except (InputError, LogError) as error:
            self._say(f"{note}Not paired: {_told(error)}")
            return
        finally:
            self._busy = False
        self._say("")
        self.app.push_screen(Preview(shown, note), lambda publishes: self._decided(shown, publishes))

    def _decided(self, shown: Shown, publishes: bool | None) -> None:
        if publishes is not None:
            self._view = View.TABLES
            self._busy = True
            self.run_worker(self._enter_shown(shown, publishes), name="enter")

    async def _enter_shown(self, shown: Shown, publishes: bool) -> None:
        """Enter what was shown; if others acted meanwhile, say so and show the pairing anew."""
        acts = shown.acts(publishes)
        does = describe(acts[-1], self._event.names)
        is_entered = await self._enter(lambda: shown.enter(self._event, acts), does, None)
        if not is_entered and self._event.log.record.size != shown.size:
            self._pair(f"{self.query_one('#said', Static).content}\n")


def _told(error: Exception) -> str:
    """Return why nothing was entered: the rules in their own words."""
    if isinstance(error, RulesError):
        return told_broken(error.violations)
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)


def _line_of(table: int, result: Result) -> str:
    """Return the line that enters this result, to be changed."""
    parts = [str(table), ",".join(map(str, result.places))]
    if result.forfeited:
        parts.append(f"forfeited {','.join(map(str, result.forfeited))}")
    return f"{' '.join(parts)} because "


def _few(tables: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, tables[:12]))
    return f"{shown} and {len(tables) - 12} more" if len(tables) > 12 else shown


class EventDeskApp(TerminalApp[None]):
    """The application. ``run_async`` it."""

    TITLE = "Tile Referee: the event's desk"

    def __init__(self, event: EventFile) -> None:
        """``event``: opened, so that no other desk can enter anything in it meanwhile."""
        super().__init__()
        self.event = event

    def on_mount(self) -> None:
        self.push_screen(EventScreen(self.event))
