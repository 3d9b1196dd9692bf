"""A pairing before it is entered: tables, its quality, and why each table is as it is."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static


class Preview(ModalScreen[str]):
    """Dismissed with the lines to enter, separated by newlines; empty: nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss('pair')", "Pair"),
        Binding("f6", "dismiss('pair\\npublish')", "Pair and publish"),
        Binding("escape,f5", "dismiss('')", "Change nothing", key_display="Esc"),
    ]
    CSS = """
    Preview { background: $background; }
    Preview #title { height: auto; }
    Preview VerticalScroll { height: 1fr; border-top: solid; scrollbar-size-vertical: 1; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        yield Static(self._title, id="title", markup=False)
        with VerticalScroll():
            yield Static(self._text, id="pairing", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
