"""What happened beside the moves: the acts that are possible now, in plain words, to choose one from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee_clients.terminal.desk.choices import Choices
from referee_clients.terminal.desk.offers import Offer

_HOW = (
    "Enter asks for its seat, numbers and words, and then says what it will do. "
    "You can also type this line into the prompt."
)


class Beside(ModalScreen[Offer | None]):
    """Dismissed with the act that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel", key_display="Esc")]
    CSS = """
    Beside { background: $background; }
    Beside OptionList { height: 1fr; border: none; }
    Beside #question, Beside #about { height: auto; }
    Beside #about { border-top: solid; }
    """

    def __init__(self, offers: Sequence[Offer], question: str, *, lacks: str = "", how: str = _HOW) -> None:
        """``lacks``: why there are no rulings; empty: there are, or nobody misses them. ``how``: what Enter does."""
        super().__init__()
        self._question = question
        self._how = how
        self._offers = offers
        self._lacks = f" Rulings are not offered. {lacks}." if lacks else ""

    def compose(self) -> ComposeResult:
        yield Static(self._question, id="question", markup=False)
        yield Choices(*(Option(each.words, id=str(n)) for n, each in enumerate(self._offers)), markup=False)
        yield Static("", id="about", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Choices).focus()
        if not self._offers:
            self.query_one("#about", Static).update(f"Nothing is possible now.{self._lacks}")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        line = self._offers[event.option_index].line
        self.query_one("#about", Static).update(f"{line}\n{self._how}{self._lacks}")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._offers[event.option_index])
