"""Going back: to which entry, what that takes back, and whether it is meant."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee_clients.terminal.desk.choices import Choices
from referee_clients.terminal.desk.history import History, entry_line


class Correction(ModalScreen[int | None]):
    """Dismissed with the entry whose position the game goes back to, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f8", "take_back", "Take back"),
        Binding("escape", "dismiss", "Change nothing", key_display="Esc"),
    ]
    CSS = """
    Correction { background: $background; }
    Correction OptionList { height: 1fr; border: none; }
    Correction VerticalScroll { height: 1fr; border-top: solid; scrollbar-size-vertical: 1; }
    Correction #question, Correction #asked { height: auto; }
    """

    def __init__(self, history: History, to_seq: int | None = None) -> None:
        """``to_seq``: chosen already; otherwise the last act is proposed."""
        super().__init__()
        self._history = history
        self._places = history.places()
        proposed = to_seq if to_seq is not None else history.last_act()
        self._chosen = next((i for i, entry in enumerate(self._places) if entry.seq == proposed), len(self._places) - 1)

    def compose(self) -> ComposeResult:
        yield Static("Back to the position after which entry? Choose with Up and Down.", id="question", markup=False)
        options = [Option(entry_line(entry), id=str(entry.seq)) for entry in self._places]
        yield Choices(*options, id="places", markup=False)
        with VerticalScroll(can_focus=False):
            yield Static("", id="discarded", markup=False)
        yield Static("F8 takes them back. They stay in the log, as taken back.", id="asked", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        options = self.query_one(Choices)
        options.highlighted = self._chosen
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._chosen = event.option_index
        discarded = self._history.taken_back(self._places[self._chosen].seq)
        what = "this entry" if len(discarded) == 1 else f"these {len(discarded)} entries"
        self.query_one("#discarded", Static).update("\n".join([f"Takes back {what}:", *map(entry_line, discarded)]))

    def action_take_back(self) -> None:
        self.dismiss(self._places[self._chosen].seq)
