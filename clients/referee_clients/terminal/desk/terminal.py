"""What every application in a terminal has in common: its widths, its keys, and where it is drawn."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import App
from textual.binding import Binding, BindingType

from referee_clients.terminal.desk.driver import OutputDriver

_T = TypeVar("_T")


class TerminalApp(App[_T]):
    """``run_async`` it."""

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
        """As on the keyboard and in the guides: ``F1``, ``Ctrl+Q``."""
        return binding.key_display or "+".join(part.capitalize() for part in binding.key.split("+"))
