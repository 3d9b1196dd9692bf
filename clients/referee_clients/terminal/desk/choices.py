"""A list to choose from that does not go round: one key too many at its end chooses nothing else."""

from __future__ import annotations

from textual.widgets import OptionList


class Choices(OptionList):
    """Up and Down go from line to line, Enter chooses the one that is highlighted."""

    def action_cursor_down(self) -> None:
        if self.highlighted is None or self.highlighted + 1 < self.option_count:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        if self.highlighted is None or self.highlighted > 0:
            super().action_cursor_up()
