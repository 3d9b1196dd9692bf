"""A game on the screen: what is awaited, the boards, what was entered, and the line that is typed into. Knows no game.

Who enters, a scribe or a seat, and what only they can do, is for the screens that are made of this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from referee.games.game import Cell, Decision, Forced
from referee.notation.outcomes import counted
from referee.render.registry import renderer
from referee_clients.desk import acts, standing
from referee_clients.desk.beside import Beside
from referee_clients.desk.fields import Field
from referee_clients.desk.filling import Filling
from referee_clients.desk.guide import guide
from referee_clients.desk.hand import Hand, NotEntered
from referee_clients.desk.help import Help
from referee_clients.desk.hiding import without_hand, without_hands
from referee_clients.desk.history import History
from referee_clients.desk.intended import Intended
from referee_clients.desk.line import Line, fitting
from referee_clients.desk.moves import Moves
from referee_clients.desk.offers import Offer
from referee_clients.desk.reading import Desk, Reading, last_words
from referee_clients.sdk.errors import ClientError

KEYS = """\
Enter enters the line, once it means one thing that the rules allow: its meaning is shown below the line.
Tab completes a word. Up and Down bring back what was typed before.
PageUp and PageDown scroll the boards; F2 shows the entries in their place.
F3 lists the moves that the rules allow now.
F6, or :hide, hides the players' hands on the screen, and shows them again."""
NOTATION = "docs/notation.md of Tile Referee describes the whole notation."

Command = tuple[Callable[[str], None], str]
"""What a word does that is typed behind a colon, and what it is for."""
_SOON_S = 0.3
"""An answer that takes no longer needs no word before it."""
_NOT_YET = "The referee has not answered yet."


class TableScreen(Screen[None]):
    """One game."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "entries", "Entries"),
        Binding("f3", "moves", "Moves"),
        Binding("f6", "hide", "Hide hands", show=False),
        Binding("f7", "beside", "Beside moves"),
    ]
    CSS = """
    TableScreen #title { height: 1; }
    TableScreen #awaited, TableScreen #clocks { height: auto; }
    TableScreen #panes { height: 1fr; }
    TableScreen #board, TableScreen #entries { scrollbar-size-vertical: 1; border-top: solid; }
    TableScreen.-narrow #panes { layout: vertical; }
    TableScreen.-narrow #board { height: 1fr; }
    TableScreen.-narrow #entries { height: 4; }
    TableScreen.-narrow.entries #board { display: none; }
    TableScreen.-narrow.entries #entries { height: 1fr; }
    TableScreen.-wide #panes { layout: horizontal; }
    TableScreen.-wide #board { width: 82; }
    TableScreen.-wide #entries { width: 1fr; margin-left: 1; }
    TableScreen.-wide.entries #board { display: none; }
    TableScreen #board Static { width: auto; }
    TableScreen #entries Static { width: 1fr; }
    TableScreen #verdict { height: auto; max-height: 12; border-top: solid; }
    TableScreen Line { margin-right: 1; }
    TableScreen #meaning { height: auto; max-height: 5; }
    TableScreen #choices { height: 1; }
    """
    SCOPED_CSS = False
    """The rules are for every screen that is made of this one, and name it themselves."""
    HELP = f"{KEYS}\n\n{NOTATION}"
    """What the keys do."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self.names: Sequence[str] = ()
        self.desk: Desk | None = None
        self.history = History()
        self._way = "connecting"
        self._said = False
        """Whether anything was to be told since the game was read."""
        self._meant: tuple[Desk | None, str] = None, ""
        """The position and the line whose meaning is shown."""
        self._asked = ""
        """The last line that was asked about, as it cannot be corrected."""
        self._asked_of = ""
        """As it was typed."""
        self._hides = False
        """Hands are not shown."""
        self._refused = ""
        """The line that was refused, as long as it stands there."""
        self._marked: Collection[Cell] = ()
        """Where that line breaks a rule."""
        self._begun = ""
        """What the line was begun with; as long as it stands there, nobody has typed."""
        self.hand = self.make_hand()
        self._commands: dict[str, Command] = {
            **self.commands(),
            "table": (lambda _: self.action_beside(), "table: what happened beside the moves"),
            "moves": (lambda _: self.action_moves(), "moves: the moves that the rules allow now"),
            "hide": (lambda _: self.action_hide(), "hide: hide or show the players' hands"),
            "help": (lambda _: self.action_help(), "help: what you can enter now"),
            "quit": (lambda _: self.app.exit(), "quit: leave"),
        }

    # --- who enters: what each screen says for itself ---------------------------------------------------------------

    def make_hand(self) -> Hand:
        """Return who enters; it calls ``moved_on`` and ``on_way``."""
        raise NotImplementedError

    def commands(self) -> dict[str, Command]:
        """Return the screen's own."""
        return {}

    async def follow(self) -> None:
        """Follow the game to its end, and say what comes then."""
        raise NotImplementedError

    def named(self, state: Any) -> Sequence[str]:
        """Return the names by seat, empty for none."""
        raise NotImplementedError

    def can_enter(self) -> bool:
        """Return whether the move or draw that is awaited is entered here."""
        raise NotImplementedError

    def shown(self) -> None:
        """Do what is to be done when a new position is on the screen."""

    def question(self, desk: Desk, reading: Reading) -> str:
        """Return what is to be said before a move is entered, which then needs a second Enter; empty: nothing."""
        raise NotImplementedError

    def enter(self, event: Any) -> Awaitable[int]:
        """Enter a move or a draw; its entry."""
        raise NotImplementedError

    def intended(self, desk: Desk, text: str) -> Intended | None:
        """Return what a line would do beside the moves; None if it is not about that."""
        raise NotImplementedError

    def offers(self) -> Sequence[Offer]:
        """Return what can be entered beside the moves."""
        raise NotImplementedError

    def fields(self, offer: Offer) -> Sequence[Field]:
        """Return what is to be filled in for it."""
        raise NotImplementedError

    def lacks(self) -> str:
        """Return why there are no rulings among them; empty: there are, or nobody misses them."""
        return ""

    def over(self) -> str:
        """Return that the game is over, and what can be done then."""
        return "The game is over."

    # --- the game ----------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield Static("", id="awaited", markup=False)
        yield Static("", id="clocks", markup=False)
        with Container(id="panes"):
            with VerticalScroll(id="board", can_focus=False):
                yield Static("", id="position", markup=False)
            with VerticalScroll(id="entries", can_focus=False):
                yield Static("", id="history", markup=False)
        yield Static("Reading the game.", id="verdict", markup=False)
        yield Line(self._completed)
        yield Static("", id="meaning", markup=False)
        yield Static("", id="choices", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Line).focus()
        self._show_title()
        self._show_clocks()
        self.set_interval(1, self._show_clocks)
        self.run_worker(self.follow(), name="follow")

    def moved_on(self) -> None:
        """Entries came. A few of them at once are shown once."""
        self.desk = None
        self.call_later(self._show)

    def _catch_up(self) -> None:
        """Show at once what has come, so that a key that is pressed meanwhile is not lost."""
        if self.hand.ledger.size:
            self._show()

    def on_way(self, why: str) -> None:
        """Tell that there is no connection, and why, or that there is one again."""
        self._way = why
        self._show_title()
        if why and self.hand.is_waiting:
            self.say(f"No connection to the referee ({why}). Everything is sent again once there is one.")

    def _show(self) -> None:
        """The position after the last entry."""
        if self.desk is not None:
            return
        record = self.hand.ledger.record
        rules_id = record.opened.rules_id
        state: Any = record.game.position.state
        typed = self.query_one(Line)
        untouched = self._begun == typed.value
        self.names = self.named(state)
        self.desk = Desk(rules_id, state, goes_on=record.game.goes_on and self.can_enter())
        self.history.read(self.hand.ledger.entries)
        if untouched and not self.hand.is_waiting:
            self._begin()
        if self._asked:
            self._asked = self._asked_of = ""
            self.say("Something else was entered meanwhile. Look again before you enter your line.")
        self._show_title()
        self._show_clocks()
        self.query_one("#awaited", Static).update(self._awaited())
        self.query_one("#position", Static).update(self._position(rules_id, state))
        self.query_one("#board", VerticalScroll).scroll_home(animate=False)
        self.query_one("#history", Static).update(self._entries())
        self.query_one("#entries", VerticalScroll).scroll_end(animate=False)
        self._show_meaning()
        if not self._said:
            entries = counted(len(self.history.entries), "entry", "entries")
            words = f"{entries} so far. F1 shows what you can enter."
            self.query_one("#verdict", Static).update(words)
        self.shown()

    def _begin(self) -> None:
        self._begun = self.desk.beginning if self.desk is not None else ""
        self._refused = self._asked_of = ""
        self._mark(())
        self.query_one(Line).begin(self._begun)
        self.query_one(Line).password = self._hides_typing()

    def _awaited(self) -> str:
        return standing.awaited(self.hand.ledger.record, self.desk, self.names) if self.desk is not None else ""

    def first_seat(self, state: Any) -> int:
        """Return the seat whose board comes first: by default the one on turn."""
        awaited = state.pending()[0]
        return awaited.seat if isinstance(awaited, Decision | Forced) else 0

    def _mark(self, cells: Collection[Cell]) -> None:
        """Mark these cells on the first board, and no others."""
        if self.desk is not None and self._marked != cells:
            self._marked = cells
            self.query_one("#position", Static).update(self._position(self.desk.rules_id, self.desk.state))

    def _position(self, rules_id: str, state: Any) -> str:
        """Return the table, then the boards."""
        first = self.first_seat(state)
        seats = [(first + i) % state.seats for i in range(state.seats)]
        draw = renderer(rules_id)
        # What is awaited stands above, in the screen's own words.
        text = draw.position_text(
            state, seats, names=self.names, awaits=False, marked=self._marked, ascii_only=self._ascii_only
        )
        return without_hands(text) if self._hides else text.rstrip("\n")

    def _entries(self) -> str:
        lines = self.history.lines()
        return "\n".join(map(without_hand, lines) if self._hides else lines)

    def _show_title(self) -> None:
        ledger = self.hand.ledger
        game = guide(ledger.record.opened.rules_id).TITLE if ledger.size else "Tile Referee"
        way = f"NO CONNECTION ({self._way})" if self._way else "connected"
        self.query_one("#title", Static).update(f"{game}, game {self.hand.game_id[:8]}; {way}", layout=False)

    def _show_clocks(self) -> None:
        ledger = self.hand.ledger
        shown = standing.clocks(ledger.record, self.names, self.hand.now_ms) if ledger.size else ""
        line = self.query_one("#clocks", Static)
        line.display = bool(shown)
        line.update(shown)

    def say(self, words: str) -> None:
        """Say it above the line."""
        self._said = True
        self.query_one("#verdict", Static).update(without_hand(words) if self._hides else words)

    def add(self, words: str) -> None:
        """Say it under what was said of the last act, if anything was."""
        said = str(self.query_one("#verdict", Static).content)
        self.say(f"{said}\n{words}" if self._said else words)

    # --- the line ----------------------------------------------------------------------------------------------------

    def _completed(self, text: str) -> str:
        if self.desk is None:
            return text
        longer = self.desk.completed(text)
        return longer if longer != text else self._completed_beside(self.desk.whole(text), text)

    def _completed_beside(self, begun: str, text: str) -> str:
        """Of an act beside the moves the next word, if there is one way to go on."""
        if not begun.strip() or self.hand.ledger.record.game.is_over:
            return text
        found = [each.line for each in self.offers() if each.line.startswith(begun)]
        ends = {line[: end if (end := line.find(" ", len(begun) + 1)) >= 0 else len(line)] for line in found}
        return ends.pop() if len(ends) == 1 else text

    def on_input_changed(self, changed: Input.Changed) -> None:
        if self._refused and changed.value != self._refused:
            self._refused = ""
            self.say("")
            self._mark(())
        if self._asked and changed.value != self._asked_of:
            self._asked = self._asked_of = ""
            self.say("")
        self.query_one(Line).password = self._hides_typing()
        self._show_meaning()

    def _show_meaning(self) -> None:
        """What the line would enter, and how it can go on."""
        text = self.query_one(Line).value
        if self._meant == (self.desk, text):
            return
        self._meant = self.desk, text
        meaning, choices = "", list[str]()
        # Why a line was refused, or what it will do, stands above already.
        is_told = bool(text) and text in (self._refused, self._asked_of)
        if self.desk is not None and self._command(text) is None and not is_told:
            intended = self.intended(self.desk, text)
            if intended is not None:
                meaning = str(intended)
            elif acts.begins_act(self.desk.whole(text)):
                meaning = acts.fault_words(self.desk.rules_id, self.desk.whole(text))
            elif self.desk.beginning:
                meaning = self.desk.meaning(text)
                choices = last_words(self.desk.choices(self.desk.whole(text)))
            elif text.strip():
                meaning = "No move and no draw is awaited here now. F7 shows what else can be entered."
        if self._hides and meaning.startswith("For example"):
            meaning = ""
        elif meaning and self._hides_typing():
            meaning = f"{meaning.partition(':')[0]}: (hidden)"
        self.query_one("#meaning", Static).update(meaning)
        self.query_one("#choices", Static).update(
            "" if self._hides else fitting(choices, self.size.width), layout=False
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text = event.value
        self._catch_up()
        if (command := self._command(text)) is not None:
            name, argument = command
            self._begin()
            self._commands[name][0](argument)
        elif self.desk is None or self.hand.is_waiting:
            self.say(_NOT_YET)
        elif (intended := self.intended(self.desk, text)) is not None:
            self._submit_beside(intended, text)
        elif acts.begins_act(self.desk.whole(text)):
            self._refuse(acts.wrong(acts.fault(self.desk.rules_id, self.desk.whole(text))), text)
        elif self.desk.beginning:
            self._submit(self.desk, text)
        elif text.strip():
            over = self.hand.ledger.record.game.is_over
            what = "nothing more can be entered" if over else "no move is awaited here; F7 shows what can be entered"
            self._refuse(f"{what}.", text)

    def _command(self, text: str) -> tuple[str, str] | None:
        """``:correct 12``, also behind what the line began with; the colon may be missing."""
        name, _, argument = self._typed(text).removeprefix(":").partition(" ")
        return (name, argument.strip()) if name in self._commands else None

    def _typed(self, text: str) -> str:
        """Without what the line began with."""
        return text.strip().removeprefix(self._begun.strip()).strip()

    def _submit(self, desk: Desk, text: str) -> None:
        reading = desk.read(text)
        line = self.query_one(Line)
        asks = self.question(desk, reading) if reading.event is not None else ""
        if asks and self._asked != reading.line:
            self._ask(reading.line, line.value, asks)
        elif reading.event is not None:
            line.keep(text)
            self.run_entering(reading.line, self.enter(reading.event))
        elif self._typed(text).startswith(":"):
            self.say("There is no such command. Commands: " + "; ".join(words for _, words in self._commands.values()))
        elif desk.whole(text).strip() == desk.beginning.strip():
            self.say("Nothing was typed, so nothing was entered.")
        else:
            self._refuse(str(reading), line.value, reading.cells)

    def _ask(self, what: str, text: str, words: str) -> None:
        """Say what the line will do; it is entered with the next Enter if it still stands there."""
        self._asked, self._asked_of = what, text
        self.say(f"{words} Press Enter again to enter it.")
        self._meant = None, ""
        self._show_meaning()

    def _refuse(self, why: str, text: str, cells: Collection[Cell] = ()) -> None:
        """Say why the line is not entered, and mark where, for as long as it stands there."""
        self.say(f"Not entered: {why}")
        self._mark(cells)
        self._refused = text
        self._meant = None, ""
        self._show_meaning()

    def run_entering(self, words: str, act: Awaitable[int | str]) -> None:
        """Wait for what becomes of an act, its entry or what is to be said, without keeping anything else waiting."""
        self._asked = self._asked_of = ""
        self.run_worker(self._entering(words, act), name="enter")

    async def _entering(self, words: str, act: Awaitable[int | str]) -> None:
        """Tell what becomes of an act. The line is left as it is until that is known."""
        line = self.query_one(Line)
        typed = line.value
        is_answered = False

        def tell() -> None:
            if not is_answered:  # a timer that has run out is not stopped: what it calls waits in a queue
                self.say(f"Sent: {words}. {_NOT_YET}")

        later = self.set_timer(_SOON_S, tell)
        try:
            done = await act
        except (NotEntered, ClientError) as error:
            self.say(f"Not entered: {error}. It was: {words}")
            self._refused = typed if line.value == typed else ""
            self._show()
            return
        finally:
            is_answered = True
            later.stop()
        self.say(f"Accepted as entry {done}: {words}" if isinstance(done, int) else done)
        self.desk = None
        self._show()
        if line.value == typed:  # otherwise somebody types the next line already
            self._begin()
        self._show_meaning()

    async def answered(self) -> None:
        """Return when it is told what became of every act that was entered."""
        for worker in [worker for worker in self.workers if worker.node is self and worker.name == "enter"]:
            await worker.wait()

    # --- beside the moves --------------------------------------------------------------------------------------------

    def _submit_beside(self, intended: Intended, text: str) -> None:
        if intended.why_not:
            self._refuse(intended.why_not, text)
        elif self._asked != intended.line:
            self._ask(intended.line, text, str(intended))
        else:
            self._enter_beside(intended, text)

    def _enter_beside(self, intended: Intended, text: str) -> None:
        self.query_one(Line).keep(text)
        self.run_entering(intended.line, intended.enter())

    def action_beside(self) -> None:
        """List what can happen beside the moves."""
        if self.desk is None or self.hand.is_waiting:
            self.say(_NOT_YET)
        elif self.hand.ledger.record.game.is_over:
            self.say(f"Nothing more can be entered. {self.over()}")
        else:
            self.app.push_screen(Beside(self.offers(), lacks=self.lacks()), self._chosen)

    def _chosen(self, offer: Offer | None) -> None:
        if offer is not None:
            self.fill(offer)

    def fill(self, offer: Offer) -> None:
        """Ask for what belongs to an act, and enter it."""
        self.app.push_screen(Filling(offer.words, self.fields(offer), self._about_line), self._filled)

    def _about_line(self, text: str) -> tuple[str, bool]:
        """Return what a line about the table will do, or why it cannot be entered, and whether it can."""
        self._catch_up()
        if self.desk is None or self.hand.is_waiting:
            return _NOT_YET, False
        if (intended := self.intended(self.desk, text)) is None:
            return f"Not possible: {acts.wrong(acts.fault(self.desk.rules_id, text))}", False
        return str(intended), not intended.why_not

    def _filled(self, text: str | None) -> None:
        """Enter a line whose consequences were shown; not if something else has happened since."""
        if text is None:
            self.say("Nothing was entered.")
            return
        told, can = self._about_line(text)
        intended = self.intended(self.desk, text) if self.desk is not None else None
        if can and intended is not None:
            self._enter_beside(intended, text)
        else:
            self.say(told)

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        """Show what may be entered now, then the keys."""
        if self.desk is not None:
            over = self.hand.ledger.record.game.is_over
            now = [f"Nothing more can be entered. {self.over()}"] if over else self.desk.help()
            self.app.push_screen(Help("\n".join([self._awaited(), "", *now, "", *self._help_beside(), self.HELP])))

    def _help_beside(self) -> list[str]:
        if self.hand.ledger.record.game.is_over:
            return []
        lines = [line for each in self.offers() for line in (f"{each.words}.", f"    {each.line}")]
        return ["Beside the moves:", *lines, *([f"Rulings: {self.lacks()}."] if self.lacks() else []), ""]

    def action_moves(self) -> None:
        """List the moves that the rules allow now; the chosen one comes into the line."""
        if self.desk is None or not self.desk.moves:
            self.say("No move is awaited here now." if self.desk is not None else _NOT_YET)
            return
        self.app.push_screen(Moves(self.desk.moves), self._picked)

    def _picked(self, line: str | None) -> None:
        if line is not None:
            self.query_one(Line).begin(line)

    def action_hide(self) -> None:
        """Hide hands, and show them again."""
        self._hides = not self._hides
        self.query_one(Line).password = self._hides_typing()
        self._meant = None, ""
        if self.desk is not None:
            self.query_one("#position", Static).update(self._position(self.desk.rules_id, self.desk.state))
            self.query_one("#history", Static).update(self._entries())
        self._show_meaning()
        self.say("Hands are hidden; F6 shows them." if self._hides else "Hands are shown.")

    def _hides_typing(self) -> bool:
        """Return whether what is typed now is a hand, or was brought back as one."""
        return self._hides and (self._begun.startswith("hand") or "hand" in self.query_one(Line).value)

    def on_resize(self) -> None:
        """Show the newest entries in a list that has another size, too."""
        self.call_after_refresh(lambda: self.query_one("#entries", VerticalScroll).scroll_end(animate=False))

    def action_entries(self) -> None:
        self.toggle_class("entries")

    def action_look(self, step: int) -> None:
        """Scroll the boards, or the entries where they have their place."""
        shown = "#entries" if self.has_class("entries") else "#board"
        pane = self.query_one(shown, VerticalScroll)
        pane.scroll_relative(y=step * max(1, pane.size.height - 1), animate=False)
