"""A pairing before it is entered: tables, its quality, and why each table is as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from referee.games.game import InputError
from referee.tournament.event_file import EventFile
from referee.tournament.organiser import advance, draw_first, pair
from referee.tournament.reasons import why_lines
from referee.tournament.rules.acts import Act, Pair, Publish
from referee.tournament.words import possible_lines, quality_lines, table_lines


@dataclass(frozen=True)
class Shown:
    """A pairing that is shown."""

    made: Pair
    size: int
    """Entries of the event that it follows."""
    title: str
    text: str

    @classmethod
    def of(cls, event: EventFile) -> Shown:
        """Pair in a copy: nothing is entered. Raise ``InputError``, ``LogError``."""
        size, names = event.log.record.size, event.names
        before, made = pair(event.log.up_to(size), event.seed)
        again = " It takes the place of the pairing that is not published." if not before.is_between else ""
        why = [f"  {line}" for line in why_lines(before, made, names)]
        lines = [*table_lines(made, names), "", *quality_lines(made), *(["", "why:", *why] if why else [])]
        if not before.rounds:
            lines += ["", *possible_lines(len(before.there(1)), before.terms.sizes)]
        title = f"Round {made.round}, {made.origin.words}. Nothing is entered yet.{again}"
        return cls(made, size, title, "\n".join(lines))

    def acts(self, publishes: bool) -> Sequence[Act]:
        """Return this very pairing, and its publication if that is wanted."""
        return [self.made, *([Publish(self.made.round)] if publishes else [])]

    def enter(self, event: EventFile, acts: Sequence[Act]) -> None:
        """Enter them after what a pairing needs before it. Raise ``InputError`` if others acted; ``LogError``."""
        if event.log.record.size != self.size:
            raise InputError("", "the event went on while you looked; look again")
        draw_first(event.log, event.seed)
        advance(event.log)
        for act in acts:
            event.log.enter(act)


class Preview(ModalScreen[bool]):
    """Dismissed with whether to publish the pairing that is to be entered; None: nothing is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss(False)", "Pair"),
        Binding("f6", "dismiss(True)", "Pair and publish"),
        Binding("escape,f5", "dismiss(None)", "Change nothing", key_display="Esc"),
    ]
    CSS = """
    Preview { background: $background; }
    Preview #title { height: auto; }
    Preview VerticalScroll { height: 1fr; border-top: solid; scrollbar-size-vertical: 1; }
    """

    def __init__(self, shown: Shown, note: str = "") -> None:
        """``note``: what is said above it."""
        super().__init__()
        self._shown = shown
        self._note = note

    def compose(self) -> ComposeResult:
        yield Static(self._note + self._shown.title, id="title", markup=False)
        with VerticalScroll():
            yield Static(self._shown.text, id="pairing", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
