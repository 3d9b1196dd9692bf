"""The screens that open over a game: its legal moves, the form of an act, and a correction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from referee.text.notation.outcomes import counted
from referee_clients.terminal.desk.acts import Field, line_of
from referee_clients.terminal.desk.boards import History, entry_line
from referee_clients.terminal.widgets import Choices


class Moves(ModalScreen[str | None]):
    """The list of legal moves. Dismissed with the line of the chosen one, or None."""

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


_HOW = "Tab and Shift+Tab go from field to field. Enter shows what this will do."


class Filling(ModalScreen[str | None]):
    """The form of an act beside the moves. Dismissed with its line, or None."""

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
        """``words``: the event. ``about``: the effect of a line, or why it cannot be entered, and whether it can."""
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
        """Return the line that the fields make."""
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


class Correction(ModalScreen[int | None]):
    """The list of entries to go back to. Dismissed with the number of one, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f8", "take_back", "Take back"),
        Binding("escape", "dismiss", "Change nothing", key_display="Esc"),
    ]
    CSS = """
    Correction { background: $background; }
    Correction OptionList { height: 1fr; border: none; }
    Correction VerticalScroll { height: 1fr; border-top: solid; scrollbar-size-vertical: 1; }
    Correction #question, Correction #asked { height: auto; }
    """

    def __init__(self, history: History, to_seq: int | None = None) -> None:
        """``to_seq``: chosen already; otherwise the last act is proposed."""
        super().__init__()
        self._history = history
        self._places = history.places()
        proposed = to_seq if to_seq is not None else history.last_act()
        self._chosen = next((i for i, entry in enumerate(self._places) if entry.seq == proposed), len(self._places) - 1)

    def compose(self) -> ComposeResult:
        yield Static("Back to the position after which entry? Choose with Up and Down.", id="question", markup=False)
        options = [Option(entry_line(entry), id=str(entry.seq)) for entry in self._places]
        yield Choices(*options, id="places", markup=False)
        with VerticalScroll(can_focus=False):
            yield Static("", id="discarded", markup=False)
        yield Static("F8 takes them back. They stay in the log, as taken back.", id="asked", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        options = self.query_one(Choices)
        options.highlighted = self._chosen
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._chosen = event.option_index
        discarded = self._history.taken_back(self._places[self._chosen].seq)
        what = "this entry" if len(discarded) == 1 else f"these {len(discarded)} entries"
        self.query_one("#discarded", Static).update("\n".join([f"Takes back {what}:", *map(entry_line, discarded)]))

    def action_take_back(self) -> None:
        self.dismiss(self._places[self._chosen].seq)
