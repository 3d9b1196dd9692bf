"""The desk itself: what is awaited, the boards, what was entered, and the line that is typed into. Knows no game."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from referee.games.game import Decision, Forced
from referee.games.results import Result
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.notation import table_acts
from referee.notation.errors import NotationError
from referee.notation.outcomes import counted, outcome
from referee.notation.table_acts import Kind, arbiter_name
from referee.render.registry import renderer
from referee_clients.desk import acts
from referee_clients.desk.acts import Meant, Offer
from referee_clients.desk.beside import Beside
from referee_clients.desk.correction import Correction
from referee_clients.desk.fields import fields_of
from referee_clients.desk.filling import Filling
from referee_clients.desk.folder import Folder, FolderError, Known
from referee_clients.desk.guide import guide
from referee_clients.desk.help import Help
from referee_clients.desk.history import History
from referee_clients.desk.line import Line
from referee_clients.desk.place import Place
from referee_clients.desk.reading import Desk, Reading, last_words, seat_name
from referee_clients.desk.scribe import NotEntered, Scribe
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import organiser

_KEYS = """\
Enter enters the line, once it means one thing that the rules allow: its meaning is shown below the line.
Tab completes a word. Up and Down bring back what was typed before.
PageUp and PageDown scroll the boards; F2 shows the entries in their place.
F7, or :table, lists what can happen beside the moves: resign, protest, take back, rulings.
F8, or :correct and an entry's number, goes back to an earlier entry, to correct a mistake.
F6, or :hide, hides the players' hands on the screen, and shows them again.
Esc goes back to the list of games, Ctrl+Q leaves the desk. What was accepted is kept, and a game goes on from there.

docs/notation.md of Tile Referee describes the whole notation."""

_HAND = re.compile(r"^( *hand), .+$|^(.*\bhand \d+:) .+$")
"""Where a line tells what is in a hand."""
_SOON_S = 0.3
"""An answer that takes no longer needs no word before it."""


class TableScreen(Screen[None]):
    """One game."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "entries", "Entries"),
        Binding("f6", "hide", "Hide hands", show=False),
        Binding("f7", "beside", "Beside moves"),
        Binding("f8", "correct", "Correct"),
        Binding("escape", "leave", "Games", key_display="Esc"),
    ]
    CSS = """
    TableScreen #title { height: 1; }
    TableScreen #awaited { height: auto; }
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

    def __init__(self, folder: Folder, place: Place, known: Known, *, ascii_only: bool = False) -> None:
        super().__init__()
        self._folder = folder
        self._place = place
        self._known = known
        self._ascii_only = ascii_only
        self._names: tuple[str, ...] = ()
        self._desk: Desk | None = None
        self._history = History()
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
        self._file_is_kept = False
        """The file of the game, which is over, is in the folder."""
        self._refused = ""
        """The line that was refused, as long as it stands there."""
        self._begun = ""
        """What the line was begun with; as long as it stands there, nobody has typed."""
        self._scribe = Scribe(
            place.address,
            known.game_id,
            known.token,
            folder.key,
            verifier=VerifierKey.parse(known.verifier),
            security=place.security,
            on_commit=self._moved_on,
            on_way=self._on_way,
        )
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "correct": (self._correct_to, "correct 12: back to the position after entry 12"),
            "table": (lambda _: self.action_beside(), "table: what happened beside the moves"),
            "hide": (lambda _: self.action_hide(), "hide: hide or show the players' hands"),
            "help": (lambda _: self.action_help(), "help: what you can enter now"),
            "games": (lambda _: self.action_leave(), "games: back to the first screen"),
            "quit": (lambda _: self.app.exit(), "quit: leave"),
        }

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield Static("", id="awaited", markup=False)
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
        self.run_worker(self._follow(), name="follow")

    # --- the game ------------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        try:
            await self._scribe.run()
            await self._keep_file()
        except ClientError as error:
            self._say(f"The desk cannot go on with this game: {error}")

    async def _keep_file(self) -> None:
        """At the end of the game."""
        log = self._folder.log_file(self._known.game_id)
        try:
            async with organiser(self._place.address, "", self._place.security) as there:
                await there.save_log(self._known.game_id, log)
        except (ClientError, OSError) as error:
            self._add(f"The game is over. Its file could not be written: {error}")
            return
        self._file_is_kept = True
        self._add(self._about_file())

    def _about_file(self) -> str:
        """Return where the file of a game that is over is, and how it is checked."""
        log, key = self._folder.log_file(self._known.game_id), self._folder.key_file(self._known.game_id)
        check = f"referee audit {log.name} --key {key.name}"
        return f"The game is over. Its file is in {log.parent}; check it there with:\n{check}"

    def _moved_on(self) -> None:
        """Entries came. A few of them at once are shown once."""
        if self._desk is not None:
            self._desk = None
        self.call_later(self._show)

    def _catch_up(self) -> None:
        """Show at once what has come, so that a key that is pressed meanwhile is not lost."""
        if self._scribe.ledger.size:
            self._show()

    def _on_way(self, why: str) -> None:
        self._way = why
        self._show_title()
        if why and self._scribe.is_waiting:
            self._say(f"No connection to the referee ({why}). The desk sends everything again once it is connected.")

    def _show(self) -> None:
        """The position after the last entry."""
        if self._desk is not None:
            return
        record = self._scribe.ledger.record
        rules_id = record.opened.rules_id
        state: Any = record.game.position.state
        typed = self.query_one(Line)
        untouched = self._begun == typed.value
        self._names = self._folder.names(self._known.game_id, state.seats)
        self._desk = Desk(rules_id, state, goes_on=record.game.goes_on)
        self._history.read(self._scribe.ledger.entries)
        if untouched and not self._scribe.is_waiting:
            self._begin()
        self._show_title()
        self.query_one("#awaited", Static).update(self._awaited())
        self.query_one("#position", Static).update(self._position(rules_id, state))
        self.query_one("#board", VerticalScroll).scroll_home(animate=False)
        self.query_one("#history", Static).update(self._entries())
        self.query_one("#entries", VerticalScroll).scroll_end(animate=False)
        self._show_meaning()
        if not self._said:
            entries = counted(len(self._history.entries), "entry", "entries")
            words = f"{entries} so far. F1 shows what you can enter."
            self.query_one("#verdict", Static).update(words)

    def _begin(self) -> None:
        self._begun = self._desk.beginning if self._desk is not None else ""
        self._refused = self._asked_of = ""
        self.query_one(Line).begin(self._begun)
        self.query_one(Line).password = self._hides_typing()

    def _awaited(self) -> str:
        record = self._scribe.ledger.record
        if (result := record.game.result()) is not None:
            return f"{self._ended(record, result)}."
        if (suspended := record.game.arbitration.suspended) is not None:
            return " ".join((f"An arbiter has ruled that the game is {suspended.value}.", *self._open(record)))
        return " ".join((self._desk.awaited(self._names) + ".", *self._open(record))) if self._desk is not None else ""

    @staticmethod
    def _open(record: Record) -> list[str]:
        """Return what waits for an arbiter, or for the other players."""
        table = record.game.arbitration
        disputes = [
            f"Entry {seq}, {'a protest' if dispute.appealed is None else 'an appeal'}, waits for an arbiter."
            for seq, dispute in table.disputes.items()
            if dispute.ruled is None
        ]
        proposal = table.proposal
        agree = [] if proposal is None else [f"Entry {proposal.seq}, a take-back, waits until all have agreed."]
        return [*disputes, *agree]

    def _ended(self, record: Record, result: Result) -> str:
        over, contest = record.game.is_over, record.game.contest()
        parts = ["The game is over" if over else "The game has come to its end"]
        if not over or not contest.is_plain:
            parts.append(outcome(result, contest, waits=record.game.result_waits))
        if result.places:
            order = sorted(range(len(result.places)), key=lambda seat: (result.places[seat], seat))
            points = [f", {score} points" for score in result.scores] or [""] * len(order)
            ranks = (f"{result.places[seat]}. {seat_name(seat, self._names)}{points[seat]}" for seat in order)
            parts.append("; ".join(ranks))
        return ": ".join((parts[0], "; ".join(parts[1:])))

    def _position(self, rules_id: str, state: Any) -> str:
        """Return the table, then the boards, that of the seat on turn first."""
        awaited = state.pending()[0]
        first = awaited.seat if isinstance(awaited, Decision | Forced) else 0
        seats = [(first + i) % state.seats for i in range(state.seats)]
        draw = renderer(rules_id)
        # What is awaited stands above, in the desk's own words.
        text = draw.position_text(state, seats, names=self._names, awaits=False, ascii_only=self._ascii_only)
        return "\n".join(map(without_hand, text.splitlines())) if self._hides else text.rstrip("\n")

    def _entries(self) -> str:
        lines = self._history.lines()
        return "\n".join(map(without_hand, lines) if self._hides else lines)

    def _show_title(self) -> None:
        way = f"NO CONNECTION ({self._way})" if self._way else "connected"
        title = f"{guide(self._known.rules_id).TITLE}, game {self._known.game_id[:8]}; {way}"
        self.query_one("#title", Static).update(title, layout=False)

    def _say(self, words: str) -> None:
        self._said = True
        if self._hides:
            words = without_hand(words)
        self.query_one("#verdict", Static).update(words)

    def _add(self, words: str) -> None:
        """Under what was said of the last act, if anything was."""
        said = str(self.query_one("#verdict", Static).content)
        self._say(f"{said}\n{words}" if self._said else words)

    # --- the line ------------------------------------------------------------------------------------------------

    def _completed(self, text: str) -> str:
        if self._desk is None:
            return text
        longer = self._desk.completed(text)
        return longer if longer != text else self._completed_beside(self._desk.whole(text), text)

    def _completed_beside(self, begun: str, text: str) -> str:
        """Of an act beside the moves the next word, if there is one way to go on."""
        record = self._scribe.ledger.record
        if not begun.strip() or record.game.is_over:
            return text
        found = [each.line for each in acts.offers(record, self._names, self._number()) if each.line.startswith(begun)]
        ends = {line[: end if (end := line.find(" ", len(begun) + 1)) >= 0 else len(line)] for line in found}
        return ends.pop() if len(ends) == 1 else text

    def on_input_changed(self, changed: Input.Changed) -> None:
        if self._refused and changed.value != self._refused:
            self._refused = ""
            self._say("")
        if self._asked and changed.value != self._asked_of:
            self._asked = self._asked_of = ""
            self._say("")
        self.query_one(Line).password = self._hides_typing()
        self._show_meaning()

    def _show_meaning(self) -> None:
        """What the line would enter, and how it can go on."""
        text = self.query_one(Line).value
        if self._meant == (self._desk, text):
            return
        self._meant = self._desk, text
        meaning, choices = "", list[str]()
        # Why a line was refused, or what it will do, stands above already.
        is_told = bool(text) and text in (self._refused, self._asked_of)
        if self._desk is not None and self._command(text) is None and not is_told:
            meant = self._beside(self._desk, text)
            if meant is not None:
                meaning = self._about(meant)
            elif acts.begins_act(self._desk.whole(text)):
                error = acts.fault(self._desk.rules_id, self._desk.whole(text))
                meaning = f"Not {'yet' if error is not None and error.is_unfinished else 'possible'}: {_wrong(error)}"
            elif self._desk.beginning:
                meaning = self._meaning(self._desk, text)
                choices = last_words(self._desk.choices(self._desk.whole(text)))
            elif text.strip():
                meaning = "Nothing is awaited that is a move or a draw. F7 shows what else can be entered."
        if self._hides and meaning.startswith("For example"):
            meaning = ""
        elif meaning and self._hides_typing():
            meaning = f"{meaning.partition(':')[0]}: (hidden)"
        self.query_one("#meaning", Static).update(meaning)
        self.query_one("#choices", Static).update("" if self._hides else self._fitting(choices), layout=False)

    # --- beside the moves ----------------------------------------------------------------------------------------

    def _beside(self, desk: Desk, text: str) -> Meant | None:
        return acts.read(desk.rules_id, desk.state, desk.whole(text), self._number())

    def _arbiter(self) -> PrivateKey | None:
        """Return the arbiter's key, if it can be read and is one of this game."""
        try:
            key = self._folder.arbiter()
        except FolderError:
            return None
        keys = self._scribe.ledger.record.opened.arbiter_keys
        return key if key is not None and key.public.raw in keys else None

    def _number(self) -> int:
        """Return which of the game's arbiters can rule at this desk; 0 if none can."""
        key = self._arbiter()
        return 0 if key is None else list(self._scribe.ledger.record.opened.arbiter_keys).index(key.public.raw)

    def _why_not(self, meant: Meant) -> str:
        if meant.act.is_ruling and self._arbiter() is not None and meant.act.arbiter != self._number():
            has = f"this desk has the key of arbiter {self._number()}, not of arbiter {meant.act.arbiter}"
            return f"{has}; expected {arbiter_name(self._number())}:"
        if why := acts.check(self._scribe.ledger.record, meant):
            return why
        if meant.act.is_ruling and self._arbiter() is None:
            return acts.NO_KEY
        if meant.act.kind is Kind.ABORT and not self._place.token:
            return "only the organiser can break the game off; start the desk with the organiser's --token-file"
        return ""

    def _about(self, meant: Meant) -> str:
        """Return what the act will do, or why it is not possible."""
        if why := self._why_not(meant):
            return f"Not possible: {why}"
        to = meant.act.line if meant.act.kind in (Kind.CORRECT, Kind.RESTORE, Kind.TAKE_BACK) else -1
        gone = len(self._history.taken_back(to)) if to >= 0 else 0
        return f"{meant}: {acts.consequence(self._scribe.ledger.record, meant, gone)}."

    def _submit_beside(self, meant: Meant, text: str) -> None:
        if why := self._why_not(meant):
            self._refuse(why, text)
        elif self._asked != str(meant):
            self._ask(str(meant), text, self._about(meant))
        else:
            self._enter_beside(meant, text)

    def _enter_beside(self, meant: Meant, text: str) -> None:
        self._asked = self._asked_of = ""
        self.query_one(Line).keep(text)
        act = self._scribe.act(meant, self._arbiter(), self._known.arbiter_token, self._place.token)
        self.run_worker(self._enter(str(meant), act), name="enter")

    def action_beside(self) -> None:
        """List what can happen beside the moves."""
        if self._desk is None or self._scribe.is_waiting:
            self._say("The referee has not answered yet.")
        elif self._scribe.ledger.record.game.is_over:
            self._say(f"Nothing more can be entered. {self._over()}")
        else:
            offers = acts.offers(self._scribe.ledger.record, self._names, self._number())
            self.app.push_screen(Beside(offers, has_arbiter=self._arbiter() is not None), self._chosen)

    def _chosen(self, offer: Offer | None) -> None:
        act = table_acts.read_line(self._known.rules_id, offer.line) if offer is not None else None
        if offer is not None and act is not None:
            has_clock = self._scribe.ledger.record.opened.terms.HasField("clock")
            fields = fields_of(act, has_clock=has_clock)
            self.app.push_screen(Filling(offer.words, fields, self._about_line), self._filled)

    def _about_line(self, text: str) -> tuple[str, bool]:
        """Return what a line about the table will do, or why it cannot be entered, and whether it can."""
        self._catch_up()
        if self._desk is None or self._scribe.is_waiting:
            return "The referee has not answered yet.", False
        if (meant := self._beside(self._desk, text)) is None:
            return f"Not possible: {_wrong(acts.fault(self._desk.rules_id, text))}", False
        return self._about(meant), not self._why_not(meant)

    def _filled(self, text: str | None) -> None:
        """Enter a line whose consequences were shown; not if something else has happened since."""
        if text is None:
            self._say("Nothing was entered.")
            return
        told, can = self._about_line(text)
        meant = self._beside(self._desk, text) if self._desk is not None else None
        if can and meant is not None:
            self._enter_beside(meant, text)
        else:
            self._say(told)

    def action_hide(self) -> None:
        """Hide hands, and show them again."""
        self._hides = not self._hides
        self.query_one(Line).password = self._hides_typing()
        self._meant = None, ""
        if self._desk is not None:
            state = self._desk.state
            self.query_one("#position", Static).update(self._position(self._desk.rules_id, state))
            self.query_one("#history", Static).update(self._entries())
        self._show_meaning()
        self._say("Hands are hidden; F6 shows them." if self._hides else "Hands are shown.")

    def _hides_typing(self) -> bool:
        """Return whether what is typed now is a hand, or was brought back as one."""
        return self._hides and (self._begun.startswith("hand") or "hand" in self.query_one(Line).value)

    @staticmethod
    def _meaning(desk: Desk, text: str) -> str:
        if desk.whole(text).strip() in ("", desk.beginning.strip()):
            return f"For example: {desk.example()}"
        reading = desk.read(text)
        if reading.event is not None:
            return f"Enter enters: {reading.line}"
        goes_on = reading.unfinished or desk.choices(desk.whole(text))
        return f"Not yet: {reading.error}" if goes_on else f"Not possible: {_where(reading)}"

    def _fitting(self, words: list[str]) -> str:
        """So many as one line holds, and how many more there are."""
        room = self.size.width - len("Tab:  and 5000 more")
        shown: list[str] = []
        for word in words:
            room -= len(word) + 1
            if room < 0:
                return f"Tab: {' '.join(shown)} and {len(words) - len(shown)} more"
            shown.append(word)
        return f"Tab: {' '.join(shown)}" if shown else ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text = event.value
        self._catch_up()
        if (command := self._command(text)) is not None:
            name, argument = command
            self._begin()
            self._commands[name][0](argument)
        elif self._desk is None or self._scribe.is_waiting:
            self._say("The referee has not answered yet.")
        elif (meant := self._beside(self._desk, text)) is not None:
            self._submit_beside(meant, text)
        elif acts.begins_act(self._desk.whole(text)):
            self._refuse(_wrong(acts.fault(self._desk.rules_id, self._desk.whole(text))), text)
        elif self._desk.beginning:
            self._submit(self._desk, text)
        elif text.strip():
            over = self._scribe.ledger.record.game.is_over
            what = "nothing more can be entered" if over else "no move is awaited; F7 shows what can be entered"
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
        # With time to protest the last move can be corrected until the result is entered.
        is_final = not self._scribe.ledger.record.opened.terms.protest_ms
        if reading.event is not None and is_final and desk.is_last(reading.event) and self._asked != reading.line:
            words = f"{reading.line} ends the game, and nothing can be corrected after that."
            self._ask(reading.line, line.value, words)
        elif reading.event is not None:
            line.keep(text)
            self.run_worker(self._enter(reading.line, self._scribe.enter(reading.event)), name="enter")
        elif self._typed(text).startswith(":"):
            self._say("There is no such command. Commands: " + "; ".join(words for _, words in self._commands.values()))
        elif desk.whole(text).strip() == desk.beginning.strip():
            self._say("Nothing was typed, so nothing was entered.")
        else:
            self._refuse(_where(reading), line.value)

    def _ask(self, what: str, text: str, words: str) -> None:
        """Say what the line will do; it is entered with the next Enter if it still stands there."""
        self._asked, self._asked_of = what, text
        self._say(f"{words} Press Enter again to enter it.")
        self._meant = None, ""
        self._show_meaning()

    def _refuse(self, why: str, text: str) -> None:
        """Say why the line is not entered, for as long as it stands there."""
        self._say(f"Not entered: {why}")
        self._refused = text
        self._meant = None, ""
        self._show_meaning()

    async def _enter(self, words: str, act: Awaitable[int]) -> None:
        """Tell what becomes of an act. The line is left as it is until that is known."""
        line = self.query_one(Line)
        typed = line.value
        is_answered = False

        def tell() -> None:
            if not is_answered:  # a timer that has run out is not stopped: what it calls waits in a queue
                self._say(f"Sent: {words}. The referee has not answered yet.")

        later = self.set_timer(_SOON_S, tell)
        try:
            seq = await act
        except (NotEntered, ClientError) as error:
            self._say(f"Not entered: {error}. It was: {words}")
            self._refused = typed if line.value == typed else ""
            self._show()
            return
        finally:
            is_answered = True
            later.stop()
        self._say(f"Accepted as entry {seq}: {words}")
        self._desk = None
        self._show()
        if line.value == typed:  # otherwise somebody types the next line already
            self._begin()
        self._show_meaning()

    # --- keys ----------------------------------------------------------------------------------------------------

    def _over(self) -> str:
        """Return that the game is over, and where its file is as soon as it is there."""
        return self._about_file() if self._file_is_kept else "The game is over."

    def action_help(self) -> None:
        """Show what may be entered now, then the keys."""
        if self._desk is not None:
            over = self._scribe.ledger.record.game.is_over
            now = [f"Nothing more can be entered. {self._over()}"] if over else self._desk.help()
            self.app.push_screen(Help("\n".join([self._awaited(), "", *now, "", *self._help_beside(), _KEYS])))

    def on_resize(self) -> None:
        """Show the newest entries in a list that has another size, too."""
        self.call_after_refresh(lambda: self.query_one("#entries", VerticalScroll).scroll_end(animate=False))

    def _help_beside(self) -> list[str]:
        record = self._scribe.ledger.record
        if record.game.is_over:
            return []
        has_key = self._arbiter() is not None
        offers = [each for each in acts.offers(record, self._names, self._number()) if has_key or not each.is_ruling]
        lines = [line for each in offers for line in (f"{each.words}.", f"    {each.line}")]
        return ["Beside the moves:", *lines, *([] if has_key else [f"Rulings: {acts.NO_KEY}."]), ""]

    def action_entries(self) -> None:
        self.toggle_class("entries")

    def action_leave(self) -> None:
        self.dismiss()

    def action_look(self, step: int) -> None:
        """Scroll the boards, or the entries where they have their place."""
        shown = "#entries" if self.has_class("entries") else "#board"
        pane = self.query_one(shown, VerticalScroll)
        pane.scroll_relative(y=step * max(1, pane.size.height - 1), animate=False)

    def action_correct(self) -> None:
        self._correct_to("")

    def _correct_to(self, to_seq: str) -> None:
        """Ask to which entry the game is to go back; with a number it is proposed."""
        known = [entry.seq for entry in self._history.places()]
        if not known:
            if self._scribe.ledger.size and self._scribe.ledger.record.game.is_over:
                self._say(f"Nothing can be corrected now. {self._over()}")
            elif not any(entry.counts for entry in self._history.entries):
                self._say("There is no entry yet to take back.")
            else:
                self._say("A scribe cannot go back now: a player or an arbiter made the last act (TBL-25).")
            return
        if to_seq and (not to_seq.isdecimal() or int(to_seq) not in known):
            self._say(f"correct {to_seq}: there is no such entry to go back to; expected one of {_ranges(known)}")
            return
        chosen = Correction(self._history, int(to_seq) if to_seq else None)
        self.app.push_screen(chosen, self._corrected)

    def _corrected(self, to_seq: int | None) -> None:
        if to_seq is None:
            self._say("Nothing was taken back.")
            return
        words = f"back to the position after entry {to_seq}"
        self.run_worker(self._enter(words, self._scribe.correct(to_seq)), name="enter")


def without_hand(line: str) -> str:
    """Return a line of the boards, or of the list of entries, without the cards of a hand."""
    return _HAND.sub(lambda found: f"{found[1] + ':' if found[1] else found[2]} (hidden)", line)


def _wrong(error: NotationError | None) -> str:
    if error is None:
        return "this is no act of the table"
    return f"{'' if error.is_unfinished else f'{error.what}; '}expected {error.expected}"


def _where(reading: Reading) -> str:
    return f"column {reading.column}: {reading.error}" if reading.column else reading.error


def _ranges(numbers: Sequence[int]) -> str:
    """Return ``1 to 4, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
