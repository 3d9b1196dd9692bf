"""The list of the moves that the rules allow now, to choose one from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee.text.notation.outcomes import counted
from referee_clients.terminal.desk.choices import Choices


class Moves(ModalScreen[str | None]):
    """Dismissed with the line of the move that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f3", "dismiss", "Back", key_display="Esc")]
    CSS = """
    Moves { background: $background; }
    Moves Choices { height: 1fr; border: none; }
    Moves #question { height: auto; }
    """

    def __init__(self, moves: Sequence[str]) -> None:
        super().__init__()
        self._moves = moves

    def compose(self) -> ComposeResult:
        many = counted(len(self._moves), "move")
        yield Static(f"{many}. Enter puts the chosen one into the line.", id="question", markup=False)
        yield Choices(*(Option(move) for move in self._moves), markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Choices).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._moves[event.option_index])
