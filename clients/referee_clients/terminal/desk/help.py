"""Pages of text over the screen: help, and what there is to read."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static


class Help(ModalScreen[None]):
    """One page."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,enter,q", "dismiss", "Back", key_display="Esc"),
    ]
    CSS = """
    Help { background: $background; }
    Help VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text, markup=False, id="help")
        yield Footer()
