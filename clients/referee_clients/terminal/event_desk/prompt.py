"""The line that is typed into; Up and Down go through the list above it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class Prompt(Input):
    """Keeps the keyboard: the list is moved through from here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "screen.complete", "Complete", show=False),
        Binding("up", "screen.choose(-1)", "Up", show=False),
        Binding("down", "screen.choose(1)", "Down", show=False),
        Binding("pageup", "screen.choose(-10)", "Ten up", show=False),
        Binding("pagedown", "screen.choose(10)", "Ten down", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="line", compact=True, select_on_focus=False)

    def begin(self, text: str) -> None:
        """Replace the text, with the cursor behind it."""
        self.value = text
        self.cursor_position = len(text)
