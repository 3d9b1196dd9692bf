"""The screen of a game with its prompt: the meaning of the line, its consequence, and its answer. Knows no game.

The screens of a scribe and of a seat derive from it and say what only they can enter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, Input, Static

from referee.games.game import Cell
from referee_clients.sdk.errors import ClientError
from referee_clients.terminal.desk import acts
from referee_clients.terminal.desk.acts import Field, Intended, Offer
from referee_clients.terminal.desk.boards import BoardScreen
from referee_clients.terminal.desk.dialogs import Filling, Moves
from referee_clients.terminal.desk.hand import NotEntered
from referee_clients.terminal.desk.line import Desk, Reading, last_words
from referee_clients.terminal.widgets import Beside, Help


class Line(Input):
    """Tab completes, Up and Down bring back what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("up", "recall(-1)", "Typed before", show=False),
        Binding("down", "recall(1)", "Typed after", show=False),
        Binding("pageup", "screen.look(-1)", "Scroll up", show=False),
        Binding("pagedown", "screen.look(1)", "Scroll down", show=False),
    ]

    def __init__(self, completed: Callable[[str], str]) -> None:
        """``completed``: the text as far as there is one continuation."""
        super().__init__(id="line", compact=True, select_on_focus=False)
        self._completed = completed
        self._typed: list[str] = []
        self._at = 0

    def begin(self, text: str) -> None:
        """Replace the text, with the cursor behind it."""
        self.value = text
        self.cursor_position = len(text)

    def keep(self, text: str) -> None:
        """Keep what was entered, to be brought back."""
        if text.strip() and self._typed[-1:] != [text]:
            self._typed.append(text)
        self._at = len(self._typed)

    def action_complete(self) -> None:
        if self.cursor_position == len(self.value) and (longer := self._completed(self.value)) != self.value:
            self.begin(longer)

    def action_recall(self, step: int) -> None:
        at = self._at + step
        if 0 <= at < len(self._typed):
            self._at = at
            self.begin(self._typed[at])


def fitting(words: Sequence[str], width: int) -> str:
    """Return as many of the words that can continue a line as one line holds, and the number of the others."""
    room = width - len("Tab:  and 5000 more")
    shown: list[str] = []
    for word in words:
        room -= len(word) + 1
        if room < 0:
            return f"Tab: {' '.join(shown)} and {len(words) - len(shown)} more"
        shown.append(word)
    return f"Tab: {' '.join(shown)}" if shown else ""


KEYS = """\
Tab completes a word. Up and Down bring back what was typed before.
PageUp and PageDown scroll the boards; F2 shows the entries in their place.
F3 lists the moves that the rules allow now.
F6, or :hide, hides the players' hands on the screen, and shows them again."""
NOTATION = "docs/notation.md of Tile Referee describes the whole notation."

Command = tuple[Callable[[str], None], str]
"""The function of a word that is typed behind a colon, and its help."""
_SOON_S = 0.3
"""An answer that takes no longer needs no word before it."""
_NOT_YET = "The referee has not answered yet."


class TableScreen(BoardScreen):
    """One game, with a line for entries."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "entries", "Entries"),
        Binding("f3", "moves", "Moves"),
        Binding("f6", "hide", "Hide hands", show=False),
        Binding("f7", "beside", "Beside moves"),
    ]
    CSS = (
        BoardScreen.CSS
        + """
    TableScreen Line { margin-right: 1; }
    TableScreen #meaning { height: auto; max-height: 5; }
    TableScreen #choices { height: 1; }
    """
    )
    HELP = f"{KEYS}\n\n{NOTATION}"
    """The help about keys."""
    ASKS_BESIDE = "What happened beside the moves? Choose with Up and Down."

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__(ascii_only=ascii_only)
        self._meant: tuple[Desk | None, str] = None, ""
        """The position and the line whose meaning is shown."""
        self._asked = ""
        """The last line that was asked about, as it cannot be corrected."""
        self._asked_of = ""
        """The line that was asked about, as typed."""
        self._refused = ""
        """The line that was refused, as long as it stands there."""
        self._begun = ""
        """The beginning that the screen put into the line; while it stands there alone, no key was typed."""
        self._commands: dict[str, Command] = {
            **self.commands(),
            "table": (lambda _: self.action_beside(), "table: acts beside the moves"),
            "moves": (lambda _: self.action_moves(), "moves: the moves that the rules allow now"),
            "hide": (lambda _: self.action_hide(), "hide: hide or show the players' hands"),
            "help": (lambda _: self.action_help(), "help: what you can enter now"),
            "quit": (lambda _: self.app.exit(), "quit: leave"),
        }

    # --- who enters: what each screen says for itself ---------------------------------------------------------------

    def commands(self) -> dict[str, Command]:
        """Return the screen's own."""
        return {}

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
        """Return why there are no rulings among them; empty: there are, or none belong there."""
        return ""

    def over(self) -> str:
        """Return that the game is over, and the acts that are possible then."""
        return "The game is over."

    # --- the game ----------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Line(self._completed)
        yield Static("", id="meaning", markup=False)
        yield Static("", id="choices", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Line).focus()

    def show(self) -> None:
        if self.desk is not None:
            return
        untouched = self._begun == self.query_one(Line).value
        super().show()
        if untouched and not self.hand.is_waiting:
            self._begin()
        if self._asked:
            self._asked = self._asked_of = ""
            self.say("Something else was entered meanwhile. Look again before you enter your line.")
        self._show_meaning()

    def _catch_up(self) -> None:
        """Show at once what has come, so that a key that is pressed meanwhile is not lost."""
        if self.hand.ledger.size:
            self.show()

    def _begin(self) -> None:
        self._begun = self.desk.beginning if self.desk is not None else ""
        self._refused = self._asked_of = ""
        self.mark(())
        self.query_one(Line).begin(self._begun)
        self.query_one(Line).password = self._hides_typing()

    # --- the line ----------------------------------------------------------------------------------------------------

    def _completed(self, text: str) -> str:
        if self.desk is None:
            return text
        longer = self.desk.completed(text)
        return longer if longer != text else self._completed_beside(self.desk.whole(text), text)

    def _completed_beside(self, begun: str, text: str) -> str:
        """Return the line with the next word of an act beside the moves, if there is one continuation."""
        if not begun.strip() or self.hand.ledger.record.game.is_over:
            return text
        found = [each.line for each in self.offers() if each.line.startswith(begun)]
        ends = {line[: end if (end := line.find(" ", len(begun) + 1)) >= 0 else len(line)] for line in found}
        return ends.pop() if len(ends) == 1 else text

    def on_input_changed(self, changed: Input.Changed) -> None:
        if self._refused and changed.value != self._refused:
            self._refused = ""
            self.say("")
            self.mark(())
        if self._asked and changed.value != self._asked_of:
            self._asked = self._asked_of = ""
            self.say("")
        self.query_one(Line).password = self._hides_typing()
        self._show_meaning()

    def _show_meaning(self) -> None:
        """Show what the line would enter, and its continuations."""
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
        if self.hides and meaning.startswith("For example"):
            meaning = ""
        elif meaning and self._hides_typing():
            meaning = f"{meaning.partition(':')[0]}: (hidden)"
        self.query_one("#meaning", Static).update(meaning)
        self.query_one("#choices", Static).update("" if self.hides else fitting(choices, self.size.width), layout=False)

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
        """Return the line without its beginning."""
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
        self.mark(cells)
        self._refused = text
        self._meant = None, ""
        self._show_meaning()

    def run_entering(self, words: str, act: Awaitable[int | str]) -> None:
        """Wait for the outcome of an act, its entry or a message, without keeping anything else waiting."""
        self._asked = self._asked_of = ""
        self.run_worker(self._entering(words, act), name="enter")

    async def _entering(self, words: str, act: Awaitable[int | str]) -> None:
        """Tell what becomes of an act. The line is left as it is until that is known."""
        line = self.query_one(Line)
        typed = line.value
        is_answered = False

        def tell() -> None:
            if not is_answered:  # a timer that has run out is not stopped: its call waits in a queue
                self.say(f"Sent: {words}. {_NOT_YET}")

        later = self.set_timer(_SOON_S, tell)
        try:
            done = await act
        except (NotEntered, ClientError) as error:
            self.say(f"Not entered: {error}. It was: {words}")
            self._refused = typed if line.value == typed else ""
            self.show()
            return
        finally:
            is_answered = True
            later.stop()
        self.say(f"Accepted as entry {done}: {words}" if isinstance(done, int) else done)
        self.desk = None
        self.show()
        if line.value == typed:  # otherwise the next line is typed already
            self._begin()
        self._show_meaning()

    async def answered(self) -> None:
        """Return when the outcome of every act that was entered is shown."""
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
            self.app.push_screen(
                Beside(self.offers(), self.ASKS_BESIDE, lacks=self.lacks()),
                self._chosen,
            )

    def _chosen(self, offer: Offer | None) -> None:
        if offer is not None:
            self.fill(offer)

    def fill(self, offer: Offer) -> None:
        """Ask for the parts of an act, and enter it."""
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
            self.app.push_screen(Help("\n".join([self.awaited(), "", *now, "", *self._help_beside(), self.HELP])))

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
        super().action_hide()
        self.query_one(Line).password = self._hides_typing()
        self._meant = None, ""
        self._show_meaning()

    def _hides_typing(self) -> bool:
        """Return whether what is typed now is a hand, or was brought back as one."""
        return self.hides and (self._begun.startswith("hand") or "hand" in self.query_one(Line).value)
