"""The lists of a tournament's desk, entrants, tables and standings, and the preview of a pairing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from referee.games.game import InputError
from referee.text.notation.outcomes import counted
from referee.tournament.file import EventFile
from referee.tournament.names import Names
from referee.tournament.organiser import advance, draw_first, pair
from referee.tournament.rules import State
from referee.tournament.rules.acts import Act, Pair, Publish, Result
from referee.tournament.rules.round import Entrant
from referee.tournament.rules.scoring import standings
from referee.tournament.rules.terms import shown
from referee.tournament.words import called, possible_lines, quality_lines, standing_lines, table_lines, why_lines


class View(Enum):
    """The list that is shown."""

    ENTRANTS = "entrants"
    TABLES = "tables"
    STANDINGS = "standings"


class Line(NamedTuple):
    """One line of a list."""

    number: int
    """The number of the entrant or the table; 0: neither."""
    words: str


def listed(view: View, state: State, names: Names, text: str) -> list[Line]:
    """Return the list. ``text``: the typed text; entrants whom it cannot mean are left out, unless that is all."""
    match view:
        case View.ENTRANTS:
            known = [state.entrants[number] for number in sorted(state.entrants)]
            fitting = [each for each in known if names.fits(each.number, text)]
            return [_entrant(each, names) for each in fitting or known]
        case View.TABLES:
            return _tables(state, names)
        case View.STANDINGS:
            head, *rows = standing_lines(state, names)
            numbers = [row.number for row in standings(state)]
            return [Line(0, head), *map(Line, numbers, rows)]


def fits_somebody(state: State, names: Names, text: str) -> bool:
    """Return whether the text may be an entrant's number, or the beginning of a name."""
    return any(names.fits(number, text) for number in state.entrants)


def _entrant(entrant: Entrant, names: Names) -> Line:
    """Return ``there      3  Cara``."""
    late = f", from round {entrant.first_round}" if entrant.first_round > 1 else ""
    absent = f", absent from {', '.join(map(str, entrant.absent))}" if entrant.absent else ""
    name = names[entrant.number] if entrant.number in names.people else ""
    return Line(entrant.number, f"{_state(entrant):<9} {entrant.number:>4}  {name}{late}{absent}")


def _state(entrant: Entrant) -> str:
    if entrant.is_expelled:
        return "expelled"
    if entrant.has_withdrawn:
        return "left"
    return "there" if entrant.is_there else "–"


def _tables(state: State, names: Names) -> list[Line]:
    """Return ``  4  2 1 3 3   1 Anna, 2 Ben``, tables without a result marked in words."""
    round_ = state.round
    if round_ is None:
        return []
    told = {number: _told(result) for number, result in round_.results.items()}
    width = max(map(len, [*told.values(), "missing"]))
    found = []
    for number, table in enumerate(round_.tables, 1):
        players = ", ".join(called(who, names) for who in table)
        found.append(Line(number, f"{number:>4}  {told.get(number, 'missing'):<{width}}  {players}"))
    found += [Line(0, f" bye  {'':<{width}}  {called(who, names)}") for who in round_.byes]
    return found


def _told(result: Result) -> str:
    return " ".join(map(str, result.places)) or "void"


def brief_standings(state: State, names: Names) -> list[str]:
    """Return place, points and player of each, a line each; nothing before the draw."""
    rows = standings(state) if state.key else []
    return [f"{row.place:>4}  {shown(row.points):>6}  {called(row.number, names)}" for row in rows]


def heading(state: State) -> Sequence[str]:
    """Return the state of the event and the missing parts, in two lines."""
    there = sum(each.plays(state.next_round) for each in state.entrants.values())
    first = f"{state.terms.name}; {counted(len(state.entrants), 'entrant')}, {there} there"
    return first, _stands(state)


def _stands(state: State) -> str:
    round_ = state.round
    if state.phase.name == "OVER":
        return "The event was abandoned." if state.is_abandoned else "The event is over."
    if round_ is None:
        return "Round 1 is not paired: F5 pairs it."
    if round_.is_closed or not round_.undecided:
        last = round_.number >= state.terms.rounds and not state.terms.cut
        after = "close ends the event" if last else "F5 closes it and pairs the next"
        return f"Round {round_.number}: every table has a result; {after}."
    if not round_.is_published:
        return f"Round {round_.number} is paired and not published: F6 publishes it, F5 pairs it again."
    missing = ", ".join(map(str, round_.undecided))
    return (
        f"Round {round_.number}: {len(round_.undecided)} of {len(round_.tables)} results are missing, tables {missing}"
    )


# --- the preview of a pairing ----------------------------------------------------------------------------------------


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
            raise InputError("", "the event has new entries since you looked; look again")
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
        """``note``: the words above it."""
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
