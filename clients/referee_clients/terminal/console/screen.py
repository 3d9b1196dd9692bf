"""The arbiter's application and first screen: all games of one arbiter, and docket and entries of the selected one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee.text.notation.outcomes import counted
from referee.v1 import game_service_pb2
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.errors import ClientError, Unreachable
from referee_clients.sdk.ledger import Ledger
from referee_clients.status import call_words, docket_lines
from referee_clients.terminal.console.cases import Case, Post
from referee_clients.terminal.console.ruling import KINDS, Kind, RulingScreen
from referee_clients.terminal.desk.acts import Offer, of_arbiter
from referee_clients.terminal.desk.boards import History
from referee_clients.terminal.widgets import Beside, Help, TerminalApp

EVERY_S = 2.0
"""Time from one look at all games to the next. The selected game is followed without a pause."""
_KINDS = "\n".join(f"    {kind.key}  {kind.words}" for kind in KINDS)
_HELP = f"""\
The arbiter's console

The list has every open game that your key may rule on and your tokens admit to, with the time since the last entry,
who is awaited and what the clock shows. Games with calls and open protests come first, with a !. Up and Down select a
game. Below are its docket and its entries.

A ruling takes three keys: select the game, press the key of the ruling, check what it will do and press Enter.

{_KINDS}

Enter lists every ruling that is possible now.
a answers the oldest call for an arbiter: players see that it is answered. Nothing of a call is in the log.
PageUp and PageDown scroll the entries; F2 shows the docket or the entries alone in a small window.
Ctrl+Q leaves. A game that you paused stays paused."""

_HINT = "Enter lists the rulings that are possible now. F1 shows every key."
_QUESTION = "Rulings that are possible now. Choose with Up and Down."
_HOW = "Enter shows what this will do; there you can change the line."


class Games(Screen[None]):
    """All games, and one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "switch", "Entries"),
        Binding("a", "answer", "Answer call"),
        *(Binding(kind.key, f"rule('{kind.key}')", kind.label or kind.words, show=bool(kind.label)) for kind in KINDS),
        Binding("pageup", "look(-1)", "Scroll up", show=False, priority=True),
        Binding("pagedown", "look(1)", "Scroll down", show=False, priority=True),
    ]
    CSS = """
    Games #title { height: 1; }
    Games OptionList { height: 40%; border: none; border-top: solid; scrollbar-size-vertical: 1; }
    Games #panes { height: 1fr; }
    Games #docket, Games #entries { scrollbar-size-vertical: 1; border-top: solid; height: 1fr; }
    Games.-narrow #panes { layout: vertical; }
    Games.-narrow #entries { display: none; }
    Games.-narrow.entries #docket { display: none; }
    Games.-narrow.entries #entries { display: block; }
    Games.-wide #panes { layout: horizontal; }
    Games.-wide #docket, Games.-wide #entries { width: 1fr; }
    Games.-wide #entries { margin-left: 1; }
    Games #said { height: auto; max-height: 4; border-top: solid; }
    """

    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post
        self._cases: dict[str, Case] = {}
        self._selected = ""
        self._history = History()
        self._docket: tuple[str, tuple[object, ...]] = "", ()
        """The game whose docket is shown, and its state then."""
        self._words: list[str] = []
        self._said: list[str] = []
        """The messages about the selected game."""
        self._ended = ""
        """The message that the selected game is over; it follows the message about a ruling."""
        self._way = "connecting"
        self._others = 0

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield OptionList(id="games", markup=False)
        with Container(id="panes"):
            with VerticalScroll(id="docket", can_focus=False):
                yield Static("", id="facts", markup=False)
            with VerticalScroll(id="entries", can_focus=False):
                yield Static("", id="history", markup=False)
        yield Static(_HINT, id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._show_title()
        self.run_worker(self._watch(), name="watch")

    # --- all games -----------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            await self.refresh_games()
            await asyncio.sleep(EVERY_S)

    async def refresh_games(self) -> None:
        """Ask the referee how all games stand, and show it."""
        try:
            cases, self._others = await self._post.cases()
            self._way = ""
        except Unreachable as error:
            self._way = str(error)
        except ClientError as error:
            self._way = "refused"
            self._say(f"The games cannot be listed: {error}.")
        else:
            self._show_games(cases)
            await self._show_docket()
        self._show_title()

    def _show_games(self, cases: list[Case]) -> None:
        options = self.query_one(OptionList)
        before = list(self._cases)
        self._cases = {case.game_id: case for case in cases}
        if before == list(self._cases):
            for case in cases:
                options.replace_option_prompt(case.game_id, "\n".join(case.lines()))
            return
        options.clear_options()
        options.add_options([Option("\n".join(case.lines()), id=case.game_id) for case in cases])
        if self._selected and self._selected not in self._cases:
            self._ended = f"Game {self._selected[:8]} is over."
            self._say("\n".join([*self._said, self._ended]))
        at = list(self._cases).index(self._selected) if self._selected in self._cases else 0
        options.highlighted = at if cases else None
        if not cases:
            self._select("")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None and event.option_id in self._cases:
            if self._selected in self._cases and event.option_id != self._selected:
                self._say(_HINT)  # the last message is about another game
            self._select(event.option_id)

    def _show_title(self) -> None:
        wanted = sum(case.is_wanted for case in self._cases.values())
        parts = [counted(len(self._cases), "game"), f"{wanted} for you" if wanted else "no calls"]
        way = f"NO CONNECTION ({self._way})" if self._way else "; ".join(parts)
        self.query_one("#title", Static).update(f"Arbiter's console at {self._post.address}: {way}", layout=False)

    # --- the selected game ---------------------------------------------------------------------------------------

    @property
    def _case(self) -> Case | None:
        return self._cases.get(self._selected)

    def _select(self, game_id: str) -> None:
        if game_id == self._selected:
            return
        self._selected = game_id
        self._history = History()
        self._words = []
        self._show_facts()
        self._show_entries()
        case = self._case
        if case is not None:
            self.run_worker(self._follow(case, self._history), group="follow", exclusive=True)
            self.run_worker(self._show_docket(), group="docket", exclusive=True)

    async def _follow(self, case: Case, history: History) -> None:
        """Read the game's entries as they come."""
        ledger = Ledger(case.game_id)

        async def take(message: game_service_pb2.WatchGameResponse) -> None:
            if message.HasField("commit") and history is self._history:
                history.read(ledger.entries)
                self._show_entries()

        try:
            async with Connection(
                self._post.address, case.game_id, case.token, patience_s=math.inf, security=self._post.security
            ) as connection:
                await connection.watch(ledger, take)
        except ClientError as error:
            self._say(f"The entries of game {case.name} cannot be shown: {error}.")

    async def _show_docket(self) -> None:
        """Ask how the table stands, if that may have changed."""
        case = self._case
        if case is None:
            return
        if self._docket != (case.game_id, case.signs) or not self._words:
            try:
                self._words = docket_lines(await self._post.calls(case).docket())
                self._docket = case.game_id, case.signs
            except ClientError as error:
                self._words = [f"The docket cannot be shown: {error}."]
        self._show_facts()

    def _show_facts(self) -> None:
        case = self._case
        clocks = case.clocks() if case is not None else ""
        empty = f"No open game has your key among its arbiters. {_others(self._others)}".rstrip()
        lines = [*self._words, *([clocks] if clocks else [])] if case is not None else [empty]
        self.query_one("#facts", Static).update("\n".join(lines))

    def _show_entries(self) -> None:
        self.query_one("#history", Static).update("\n".join(self._history.lines()))
        self.query_one("#entries", VerticalScroll).scroll_end(animate=False)

    def _say(self, words: str) -> None:
        self._said = [] if words == _HINT else [words]
        self.query_one("#said", Static).update(words)

    # --- keys ----------------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        self.app.push_screen(Help(_HELP))

    def action_switch(self) -> None:
        self.toggle_class("entries")

    def action_look(self, step: int) -> None:
        """Scroll the entries, or the docket where it has their place."""
        pane = self.query_one("#entries", VerticalScroll)
        if not pane.display:
            pane = self.query_one("#docket", VerticalScroll)
        pane.scroll_relative(y=step * max(1, pane.size.height - 1), animate=False)

    def action_answer(self) -> None:
        """Answer the oldest call of the selected game."""
        case = self._case
        if case is None or not case.status.calls:
            self._say("This game has no open call for an arbiter.")
            return
        self.run_worker(self._answer(case), name="ruling")

    async def _answer(self, case: Case) -> None:
        call = case.status.calls[0]
        try:
            answered = await self._post.calls(case).answer(call.number)
        except ClientError as error:
            self._say(f"Not answered: {error}.")
            return
        words = f"Answered, and shown no longer: {call_words(call)}"
        self._say(words if answered else "Another arbiter has answered this call already.")
        await self.refresh_games()

    def action_rule(self, key: str) -> None:
        """Begin the ruling that this key stands for."""
        kind = next(each for each in KINDS if each.key == key)
        if (case := self._case) is not None:
            self.run_worker(self._rule(case, kind), name="ruling")

    def on_option_list_option_selected(self) -> None:
        if (case := self._case) is not None:
            self.run_worker(self._choose(case), name="ruling")

    async def _rule(self, case: Case, kind: Kind) -> None:
        async def begin() -> None:
            bench = self._post.bench(case)
            look = await bench.look()
            if line := kind.line(look):
                self._ended = ""
                self.app.push_screen(RulingScreen(case.name, bench, look, f"{_by(case)}: {line}"), self._ruled)
            else:
                self._say("No protest and no appeal is open at this game.")

        await self._trying(begin())

    async def _choose(self, case: Case) -> None:
        """List the rulings that are possible now."""

        async def begin() -> None:
            bench = self._post.bench(case)
            look = await bench.look()
            offers = of_arbiter(look.record, case.arbiter)

            def chosen(offer: Offer | None) -> None:
                if offer is not None:
                    self._ended = ""
                    self.app.push_screen(RulingScreen(case.name, bench, look, offer.line), self._ruled)

            self.app.push_screen(Beside(offers, _QUESTION, how=_HOW), chosen)

        await self._trying(begin())

    async def _trying(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ClientError as error:
            self._say(f"This game cannot be ruled on now: {error}.")

    def _ruled(self, words: str | None) -> None:
        self._say("\n".join(filter(None, [words or "Nothing was entered.", self._ended])))
        self.run_worker(self.refresh_games(), group="ruled", exclusive=True)


def _by(case: Case) -> str:
    return f"arbiter {case.arbiter}" if case.arbiter else "arbiter"


def _others(number: int) -> str:
    if not number:
        return "Your tokens show no other game."
    return f"Your tokens show {counted(number, 'game')} with other arbiters' keys."


class ConsoleApp(TerminalApp[None]):
    """The application. ``run_async`` it."""

    TITLE = "Tile Referee: the arbiter's console"

    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post

    def on_mount(self) -> None:
        self.push_screen(Games(self._post))

    async def on_unmount(self) -> None:
        await self._post.close()
