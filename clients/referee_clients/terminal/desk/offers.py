"""What is possible now beside moves and draws: for a scribe, and for a seat. Each is a line that may be entered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.games.game import Decision
from referee.log.intent import Author, Role
from referee.log.replay import Record
from referee.text.notation import table
from referee.text.notation.table import arbiter_name
from referee_clients.terminal.desk.acts import Meant, check


@dataclass(frozen=True, slots=True)
class Offer:
    """An act that is possible now."""

    words: str
    line: str
    """An example, to be changed before it is entered."""
    is_ruling: bool = False


class _Offers:
    """What is found to be possible, one after another."""

    def __init__(self, record: Record, author: Author) -> None:
        self.found: list[Offer] = []
        self._record = record
        self._author = author

    def can(self, line: str) -> bool:
        return not check(self._record, _line(line), self._author)

    def add(self, words: str, line: str, *, is_ruling: bool = False) -> None:
        """Add it, if it is possible."""
        if self.can(line):
            self.found.append(Offer(words, line, is_ruling))

    def latest(self, line: str) -> int:
        """Return the last entry that the line can name, ``{}``; 0 if there is none."""
        return max((seq for seq in range(self._record.size) if self.can(line.format(seq))), default=0)

    def of_seat(self, who: str, seat: int, back: int) -> None:
        """Add what a seat can do. ``back``: the entry to go back to that is proposed."""
        last = max(self._record.size - 1, 0)
        self.add(f"{who} resigns", f"{seat}: resign")
        self.add(f"{who} asks to take moves back", f"{seat}: back to {back}")
        self.add(f"{who} agrees to go back", f"{seat}: agree")
        self.add(f"{who} protests (entry, rule, words)", f"{seat}: protest against {last} TBL-30")

    def appeals(self, seats: Sequence[int]) -> None:
        """Add appeals of these seats against each ruling."""
        for seq, ruling in self._record.game.arbitration.rulings.items():
            if ruling.ruled.rule_id:
                for seat in seats:
                    line = f"{seat}: appeal against {seq} {ruling.ruled.rule_id}"
                    self.add(f"Seat {seat} appeals against the ruling of entry {seq}", line)


def of_seat(record: Record, author: Author) -> list[Offer]:
    """Return what the seat can enter for itself."""
    offers = _Offers(record, author)
    seat = author.index
    offers.of_seat(f"Seat {seat}", seat, offers.latest(f"{seat}: back to {{}}"))
    offers.appeals([seat])
    return offers.found


def of_scribe(record: Record, author: Author, names: Sequence[str], arbiter: int = 0) -> list[Offer]:
    """Return what can be entered at a desk, with seats as they can act. ``arbiter``: who rules here, of several."""
    offers = _Offers(record, author)
    seats = range(len(record.opened.seats))
    back = offers.latest("scribe: back to {}")
    for seat in seats:
        who = f"Seat {seat}, {names[seat]}" if names[seat : seat + 1] and names[seat] else f"Seat {seat}"
        offers.of_seat(who, seat, back)
    offers.appeals(seats)
    offers.add("The scribe mistyped: back to an entry", f"scribe: back to {back}")
    offers.found += of_arbiter(record, arbiter)
    offers.add("The organiser breaks the game off", "organiser: abort")
    return offers.found


def of_arbiter(record: Record, arbiter: int = 0) -> list[Offer]:
    """Return the rulings that this arbiter can make."""
    offers = _Offers(record, Author(Role.ARBITER, arbiter))
    ruler = arbiter_name(arbiter)
    for seq, dispute in record.game.arbitration.disputes.items():
        if dispute.ruled is None:
            words = f"{ruler.capitalize()}: the protest of entry {seq} is turned down"
            offers.add(words, f"{ruler}: dismiss decides {seq}", is_ruling=True)
    for words, line in _rulings(record):
        offers.add(f"{ruler.capitalize()}: {words}", f"{ruler}: {line}", is_ruling=True)
    return offers.found


def _rulings(record: Record) -> Sequence[tuple[str, str]]:
    """Return rulings in words, each with the end of its line."""
    awaited = record.game.position.pending()[0]
    turn = awaited.seat if isinstance(awaited, Decision) else 0
    out = next(iter(record.game.arbitration.out), 0)
    places = " ".join(str(seat + 1) for seat in range(len(record.opened.seats)))
    return (
        ("a warning", f"warn seat {turn}"),
        ("points off", f"penalty seat {turn} points 1"),
        ("strikes, as for refused moves", f"penalty seat {turn} strikes 1"),
        ("time off a clock", f"penalty seat {turn} time 30s"),
        ("a clock is set", f"clock seat {turn} 5m"),
        ("a seat did not come, or left", f"forfeit seat {turn} disconnected"),
        ("a seat's time is up", f"forfeit seat {turn} flag"),
        ("a seat loses the game", f"forfeit seat {turn} adjudicated"),
        ("a seat that is out plays again", f"reinstate seat {out}"),
        ("the seat on turn loses this move", f"skip seat {turn}"),
        ("back to an earlier position", f"restore to {max(record.size - 2, 0)}"),
        ("the result", f"result places {places}"),
        ("the game does not count", "void"),
        ("pause", "pause"),
        ("adjourn, to go on another day", "adjourn"),
        ("the game goes on", "resume"),
    )


def _line(text: str) -> Meant:
    """Of a line that is the same in every game."""
    found = table.read_line("kingdomino", text)
    assert found is not None  # noqa: S101 - only lines about the table are made here
    return Meant(found)
