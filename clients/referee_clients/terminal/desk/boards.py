"""A game on the screen: what is awaited, the clocks, the boards, and what was entered. Knows no game.

Who enters there, and how, is for the screens that are made of this one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from referee.games.game import Cell, Decision, Forced
from referee.text.notation.outcomes import counted
from referee.text.render.registry import renderer
from referee_clients.terminal.desk import standing
from referee_clients.terminal.desk.guide import guide
from referee_clients.terminal.desk.hand import Hand
from referee_clients.terminal.desk.hiding import without_hand, without_hands
from referee_clients.terminal.desk.history import History
from referee_clients.terminal.desk.reading import Desk


class BoardScreen(Screen[None]):
    """One game, as it goes on."""

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
        """Whether anything was to be told since the game was read."""
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
        return standing.awaited(self.hand.ledger.record, self.desk, self.names) if self.desk is not None else ""

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
        # What is awaited stands above, in the screen's own words.
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
        shown = standing.clocks(ledger.record, self.names, self.hand.now_ms) if ledger.size else ""
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
