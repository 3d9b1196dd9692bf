"""The screen of a game without its prompt: clocks, boards and entries, and the words for them. Knows no game.

The screens that derive from it say who enters, and how.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from referee.games.game import Cell, Decision, Forced
from referee.games.results import Result
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.events import Author, Corrected, Declared, Moved, Role
from referee.log.game import Phase
from referee.log.judge import judge_act
from referee.log.replay import Record
from referee.telling.game_file import Line, Transcript, numbered, scored
from referee.text.notation.outcomes import counted, named, needs_words, outcome
from referee.text.render.drawing import player_words, renderer
from referee.v1 import game_pb2
from referee_clients.status import time_left
from referee_clients.terminal.desk.guide import guide
from referee_clients.terminal.desk.hand import Hand
from referee_clients.terminal.desk.line import Desk, first_words


class BoardScreen(Screen[None]):
    """One game, while it is played."""

    CSS = """
    BoardScreen #title { height: 1; }
    BoardScreen #awaited, BoardScreen #clocks { height: auto; }
    BoardScreen #panes { height: 1fr; }
    BoardScreen #board, BoardScreen #entries { scrollbar-size-vertical: 1; border-top: solid; }
    BoardScreen.-narrow #panes { layout: vertical; }
    BoardScreen.-narrow #board { height: 1fr; }
    BoardScreen.-narrow #entries { height: 4; }
    BoardScreen.-narrow.entries #board { display: none; }
    BoardScreen.-narrow.entries #entries { height: 1fr; }
    BoardScreen.-wide #panes { layout: horizontal; }
    BoardScreen.-wide #board { width: 82; }
    BoardScreen.-wide #entries { width: 1fr; margin-left: 1; }
    BoardScreen.-wide.entries #board { display: none; }
    BoardScreen #board Static { width: auto; }
    BoardScreen #entries Static { width: 1fr; }
    BoardScreen #verdict { height: auto; max-height: 12; border-top: solid; }
    """
    SCOPED_CSS = False
    """The rules are for every screen that is made of this one, and name it themselves."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self.names: Sequence[str] = ()
        self.desk: Desk | None = None
        """The position after the last entry, while that is on the screen."""
        self.history = History()
        self._way = "connecting"
        self._said = False
        """True if a message was shown since the game was read."""
        self.hides = False
        """Hands are not shown."""
        self._marked: Collection[Cell] = ()
        """Cells of the first board."""
        self.hand = self.make_hand()

    # --- what each screen says for itself ----------------------------------------------------------------------------

    def make_hand(self) -> Hand:
        """Return who enters; it calls ``moved_on`` and ``on_way``."""
        raise NotImplementedError

    async def follow(self) -> None:
        """Follow the game to its end, and say what comes then."""
        raise NotImplementedError

    def named(self, state: Any) -> Sequence[str]:
        """Return the names by seat, empty for none."""
        raise NotImplementedError

    def can_enter(self) -> bool:
        """Return whether the move or draw that is awaited is entered here."""
        raise NotImplementedError

    def first_seat(self, state: Any) -> int:
        """Return the seat whose board comes first: by default the one on turn."""
        awaited = state.pending()[0]
        return awaited.seat if isinstance(awaited, Decision | Forced) else 0

    def shown(self) -> None:
        """Do what is to be done when a new position is on the screen."""

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

    def on_mount(self) -> None:
        self._show_title()
        self._show_clocks()
        self.set_interval(1, self._show_clocks)
        self.run_worker(self.follow(), name="follow")

    def moved_on(self) -> None:
        """Entries came. A few of them at once are shown once."""
        self.desk = None
        self.call_later(self.show)

    def on_way(self, why: str) -> None:
        """Tell that there is no connection, and why, or that there is one again."""
        self._way = why
        self._show_title()
        if why and self.hand.is_waiting:
            self.say(f"No connection to the referee ({why}). Everything is sent again once there is one.")

    def show(self) -> None:
        """Show the position after the last entry, if another one is on the screen."""
        if self.desk is not None:
            return
        record = self.hand.ledger.record
        rules_id = record.opened.rules_id
        state: Any = record.game.position.state
        self.names = self.named(state)
        self.desk = Desk(rules_id, state, goes_on=record.game.goes_on and self.can_enter())
        self.history.read(self.hand.ledger.entries)
        self._show_title()
        self._show_clocks()
        self.query_one("#awaited", Static).update(self.awaited())
        self.query_one("#position", Static).update(self._position(rules_id, state))
        self.query_one("#board", VerticalScroll).scroll_home(animate=False)
        self.query_one("#history", Static).update(self._entries())
        self.query_one("#entries", VerticalScroll).scroll_end(animate=False)
        if not self._said:
            entries = counted(len(self.history.entries), "entry", "entries")
            words = f"{entries} so far. F1 shows what you can enter."
            self.query_one("#verdict", Static).update(words)
        self.shown()

    def awaited(self) -> str:
        return awaited(self.hand.ledger.record, self.desk, self.names) if self.desk is not None else ""

    def mark(self, cells: Collection[Cell]) -> None:
        """Mark these cells on the first board, and no others."""
        if self.desk is not None and self._marked != cells:
            self._marked = cells
            self.query_one("#position", Static).update(self._position(self.desk.rules_id, self.desk.state))

    def _position(self, rules_id: str, state: Any) -> str:
        """Return the table, then the boards."""
        first = self.first_seat(state)
        seats = [(first + i) % state.seats for i in range(state.seats)]
        draw = renderer(rules_id)
        # The awaited move or chance stands above, in the screen's own words.
        text = draw.position_text(
            state, seats, names=self.names, awaits=False, marked=self._marked, ascii_only=self._ascii_only
        )
        return without_hands(text) if self.hides else text.rstrip("\n")

    def _entries(self) -> str:
        lines = self.history.lines()
        return "\n".join(map(without_hand, lines) if self.hides else lines)

    def _show_title(self) -> None:
        ledger = self.hand.ledger
        game = guide(ledger.record.opened.rules_id).TITLE if ledger.size else "Tile Referee"
        way = f"NO CONNECTION ({self._way})" if self._way else "connected"
        self.query_one("#title", Static).update(f"{game}, game {self.hand.game_id[:8]}; {way}", layout=False)

    def _show_clocks(self) -> None:
        ledger = self.hand.ledger
        shown = clocks(ledger.record, self.names, self.hand.now_ms) if ledger.size else ""
        line = self.query_one("#clocks", Static)
        line.display = bool(shown)
        line.update(shown)

    def say(self, words: str) -> None:
        """Say it above the line."""
        self._said = True
        self.query_one("#verdict", Static).update(without_hand(words) if self.hides else words)

    def add(self, words: str) -> None:
        """Say it under what was said of the last act, if anything was."""
        said = str(self.query_one("#verdict", Static).content)
        self.say(f"{said}\n{words}" if self._said else words)

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_hide(self) -> None:
        """Hide hands, and show them again."""
        self.hides = not self.hides
        if self.desk is not None:
            self.query_one("#position", Static).update(self._position(self.desk.rules_id, self.desk.state))
            self.query_one("#history", Static).update(self._entries())
        self.say("Hands are hidden; F6 shows them." if self.hides else "Hands are shown.")

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


def awaited(record: Record, desk: Desk, names: Sequence[str]) -> str:
    """Return what the game waits for, or how it ended."""
    game = record.game
    if (result := game.result()) is not None:
        return f"{_ended(record, result, names)}."
    if (suspended := game.arbitration.suspended) is not None:
        return " ".join((f"An arbiter has ruled that the game is {suspended.value}.", *_open(record)))
    if missing := game.missing():
        what = "join" if game.phase is Phase.JOINING else "reveal their shares of the deck"
        return f"The game waits for {named([player_words(seat, names) for seat in missing])} to {what}."
    out = [f"{first_words(seat, names)} is out ({how.words})." for seat, how in game.arbitration.out.items()]
    return " ".join((desk.awaited(names) + ".", *out, *_open(record)))


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


def _ended(record: Record, result: Result, names: Sequence[str]) -> str:
    over, contest = record.game.is_over, record.game.contest()
    parts = ["The game is over" if over else "The game has come to its end"]
    if not over or needs_words(result, contest):
        parts.append(outcome(result, contest, waits=record.game.result_waits))
    if result.places:
        order = sorted(range(len(result.places)), key=lambda seat: (result.places[seat], seat))
        points = [f", {score} points" for score in result.scores] or [""] * len(order)
        ranks = (f"place {result.places[seat]}: {player_words(seat, names)}{points[seat]}" for seat in order)
        parts.append("; ".join(ranks))
    return ": ".join((parts[0], "; ".join(parts[1:])))


def clocks(record: Record, names: Sequence[str], now_ms: int) -> str:
    """Return the clocks, those that run marked; empty in a game without, and after its end.

    ``now_ms``: by the referee's clock.
    """
    found = record.game.clocks
    if found is None or record.game.result() is not None:
        return ""
    told = []
    for seat, (left_ms, since_ms, free_ms) in enumerate(found.shown()):
        shown = game_pb2.SeatClock(
            left_ms=left_ms, running=since_ms is not None, since_ms=since_ms or 0, free_ms=free_ms
        )
        runs = " (running)" if since_ms is not None else ""
        told.append(f"{first_words(seat, names)}: {time_left(shown, now_ms)}{runs}")
    return f"Time left: {'; '.join(told)}"


_HAND: Final = re.compile(r"^( *hand), .+$|^(.*\bhand \d+:) .+$")
"""The parts of a line that show a hand."""


def without_hand(line: str) -> str:
    """Return the line without the cards of a hand."""
    return _HAND.sub(lambda found: f"{found[1] + ':' if found[1] else found[2]} (hidden)", line)


def without_hands(text: str) -> str:
    """Return the text without them."""
    return "\n".join(map(without_hand, text.splitlines()))


_WIDTH: Final = 4
"""Columns of an entry's number."""


# --- the entries -----------------------------------------------------------------------------------------------------


class History:
    """The entries of one game, as far as they were read."""

    def __init__(self) -> None:
        self._record: Record | None = None
        self._transcript: Transcript | None = None

    @property
    def entries(self) -> Sequence[Line]:
        """Return the entries in words."""
        return self._transcript.entries if self._transcript is not None else ()

    def read(self, entries: Sequence[bytes]) -> None:
        """Take over those that are new. ``entries``: all of a game, each checked before."""
        for data in entries[len(self.entries) :]:
            if self._record is None or self._transcript is None:
                self._record = Record(decode_entry(data).open)
                self._transcript = Transcript(self._record.opened)
            self._transcript.see(self._record.reread(data))

    def lines(self) -> list[str]:
        """Return the lines for a screen; scores stand under the entry that brought them."""
        return [line for told in self.entries for line in (*numbered(told, _WIDTH), *scored(told, _WIDTH))]

    def taken_back(self, to_seq: int) -> list[Line]:
        """Return what going back to the position after this entry takes back."""
        if self._transcript is None:
            return []
        return [self.entries[seq] for seq in self._transcript.counting_after(to_seq)]

    def places(self) -> list[Line]:
        """Return the entries to whose position a correction can go back now (TBL-25)."""
        return [told for told in self.entries if self._may_go_back(told.seq)]

    def last_act(self) -> int | None:
        """Return the entry to go back to so that the last act of a scribe is taken back; None: there is none."""
        acts = [told.seq for told in self.entries if told.counts and _is_scribes(told)]
        return next((seq - 1 for seq in reversed(acts) if self._may_go_back(seq - 1)), None)

    def _may_go_back(self, seq: int) -> bool:
        if self._record is None:
            return False
        try:
            judge_act(self._record.game, Corrected(Author(Role.SCRIBE, 0), seq), self._record.size)
        except LogError:
            return False
        return True


def entry_line(told: Line) -> str:
    """Return an entry with its number: its words, and whether it stands."""
    return "\n".join(numbered(told, _WIDTH))


def _is_scribes(told: Line) -> bool:
    return isinstance(told.event, Moved | Declared) and told.event.author.role is Role.SCRIBE
