"""The one line that is typed into, with what was typed before, and completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class Line(Input):
    """Tab completes, Up and Down bring back what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("up", "recall(-1)", "Typed before", show=False),
        Binding("down", "recall(1)", "Typed after", show=False),
        Binding("pageup", "screen.look(-1)", "Scroll up", show=False),
        Binding("pagedown", "screen.look(1)", "Scroll down", show=False),
    ]

    def __init__(self, completed: Callable[[str], str]) -> None:
        """``completed``: the text as far as there is one way to go on."""
        super().__init__(id="line", compact=True, select_on_focus=False)
        self._completed = completed
        self._typed: list[str] = []
        self._at = 0

    def begin(self, text: str) -> None:
        """Replace the text, with the cursor behind it."""
        self.value = text
        self.cursor_position = len(text)

    def keep(self, text: str) -> None:
        """Keep what was entered, to be brought back."""
        if text.strip() and self._typed[-1:] != [text]:
            self._typed.append(text)
        self._at = len(self._typed)

    def action_complete(self) -> None:
        if self.cursor_position == len(self.value) and (longer := self._completed(self.value)) != self.value:
            self.begin(longer)

    def action_recall(self, step: int) -> None:
        at = self._at + step
        if 0 <= at < len(self._typed):
            self._at = at
            self.begin(self._typed[at])


def fitting(words: Sequence[str], width: int) -> str:
    """Return as many of the words with which a line can go on as one line holds, and how many more there are."""
    room = width - len("Tab:  and 5000 more")
    shown: list[str] = []
    for word in words:
        room -= len(word) + 1
        if room < 0:
            return f"Tab: {' '.join(shown)} and {len(words) - len(shown)} more"
        shown.append(word)
    return f"Tab: {' '.join(shown)}" if shown else ""
