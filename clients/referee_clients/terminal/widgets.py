"""The application, the list, the help page and the list of acts that all terminal programs use. Knows no game."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from referee_clients.terminal.desk.acts import Offer


class OutputDriver(LinuxDriver):
    """The framework's driver on standard output, so that standard error can go to a file."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        assert sys.__stdout__ is not None  # noqa: S101 - the command has asked whether it is a terminal
        self._file = sys.__stdout__


_T = TypeVar("_T")


class TerminalApp(App[_T]):
    """The base of every application: widths, keys, and where it is drawn. ``run_async`` it."""

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012 - as it is declared above
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Leave", priority=True)]
    CSS = """
    Screen { layout: vertical; }
    Static { width: 1fr; }
    Footer { height: 1; }
    """

    def __init__(self) -> None:
        super().__init__(driver_class=OutputDriver)

    def get_key_display(self, binding: Binding) -> str:
        """Return the key in the spelling of keyboards and guides: ``F1``, ``Ctrl+Q``."""
        return binding.key_display or "+".join(part.capitalize() for part in binding.key.split("+"))


class Choices(OptionList):
    """A list that does not wrap around: one key too many at its end chooses nothing else."""

    def action_cursor_down(self) -> None:
        if self.highlighted is None or self.highlighted + 1 < self.option_count:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        if self.highlighted is None or self.highlighted > 0:
            super().action_cursor_up()


class Help(ModalScreen[None]):
    """One page of text over the screen."""

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


_HOW = (
    "Enter asks for its seat, numbers and words, and then says what it will do. "
    "You can also type this line into the prompt."
)


class Beside(ModalScreen[Offer | None]):
    """The acts beside the moves that are possible now, in words. Dismissed with the chosen one, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel", key_display="Esc")]
    CSS = """
    Beside { background: $background; }
    Beside OptionList { height: 1fr; border: none; }
    Beside #question, Beside #about { height: auto; }
    Beside #about { border-top: solid; }
    """

    def __init__(self, offers: Sequence[Offer], question: str, *, lacks: str = "", how: str = _HOW) -> None:
        """``lacks``: why there are no rulings; empty: there are, or none belong there. ``how``: the effect of Enter."""
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
