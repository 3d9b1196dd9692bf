"""The form of an act beside the moves: seat, numbers and words in fields, and what it will do before it is entered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Label, Static

from referee_clients.terminal.desk.fields import Field, line_of

_HOW = "Tab and Shift+Tab go from field to field. Enter shows what this will do."


class Filling(ModalScreen[str | None]):
    """Dismissed with the line, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", "Show, then enter"),
        Binding("down", "app.focus_next", "Next field", show=False),
        Binding("up", "app.focus_previous", "Field before", show=False),
        Binding("escape", "dismiss", "Cancel", key_display="Esc"),
    ]
    CSS = """
    Filling { background: $background; }
    Filling #fields { height: 1fr; scrollbar-size-vertical: 1; border-top: solid; }
    Filling Horizontal { height: 1; }
    Filling Label { width: 10; }
    Filling Input { width: 1fr; }
    Filling #question, Filling #act, Filling #about { height: auto; }
    Filling #act { border-top: solid; }
    """

    def __init__(self, words: str, fields: Sequence[Field], about: Callable[[str], tuple[str, bool]]) -> None:
        """``words``: what happened. ``about``: what a line will do, or why it cannot be entered, and whether it can."""
        super().__init__()
        self._words = words
        self._fields = fields
        self._tell = about
        self._asked = ""
        """The line that was asked about."""

    def compose(self) -> ComposeResult:
        yield Static(self._words, id="question", markup=False)
        with VerticalScroll(id="fields", can_focus=False):
            for field in self._fields:
                if field.name:
                    empty = f"({field.empty})" if field.empty else ""
                    with Horizontal():
                        yield Label(field.name, markup=False)
                        yield Input(field.value, placeholder=empty, id=field.name, compact=True)
        yield Static("", id="act", markup=False)
        yield Static(_HOW, id="about", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self._show()
        if inputs := self.query(Input):
            inputs.first().focus()

    @property
    def line(self) -> str:
        """What the fields say."""
        return line_of(self._fields, [each.value for each in self.query(Input)])

    def _show(self) -> None:
        self.query_one("#act", Static).update(self.line)

    def on_input_changed(self) -> None:
        self._show()
        if self._asked != self.line:
            self._asked = ""
            self.query_one("#about", Static).update(_HOW)

    def on_input_submitted(self) -> None:
        self.action_confirm()

    def action_confirm(self) -> None:
        """Say what the line will do; then take it."""
        line = self.line
        told, can = self._tell(line)
        if can and self._asked == line:
            self.dismiss(line)
            return
        self._asked = line if can else ""
        self.query_one("#about", Static).update(f"{told} Press Enter again to enter it." if can else told)
