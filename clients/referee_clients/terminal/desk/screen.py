"""The scribe's screen of a game: draws, moves of all seats, corrections and rulings."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from referee.log.events import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.text.notation import table
from referee.text.notation.table import ActKind, arbiter_name
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk import acts
from referee_clients.terminal.desk.acts import NO_KEY, Field, Intended, Meant, Offer, fields_of
from referee_clients.terminal.desk.dialogs import Correction
from referee_clients.terminal.desk.folder import Folder, FolderError, Known, Place
from referee_clients.terminal.desk.hand import Scribe
from referee_clients.terminal.desk.line import Desk, Reading
from referee_clients.terminal.desk.table import KEYS, NOTATION, Command, TableScreen

_SCRIBE = Author(Role.SCRIBE, 0)
"""The scribe of an entry makes no difference to whether it is possible."""


class DeskScreen(TableScreen):
    """One game, entered by its scribe."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f8", "correct", "Correct"),
        Binding("escape", "leave", "Games", key_display="Esc"),
    ]
    HELP = f"""\
Enter enters the line, once it means one thing that the rules allow: its meaning is shown below the line.
{KEYS}
F7, or :table, lists what can happen beside the moves: resign, protest, take back, rulings.
F8, or :correct and an entry's number, goes back to an earlier entry, to correct a mistake.
Esc goes back to the list of games, Ctrl+Q leaves the desk. All accepted entries are kept: a game continues there.

{NOTATION}"""

    hand: Scribe

    def __init__(self, folder: Folder, place: Place, known: Known, *, ascii_only: bool = False) -> None:
        self._folder = folder
        self._place = place
        self._known = known
        self._file_is_kept = False
        """The file of the game, which is over, is in the folder."""
        super().__init__(ascii_only=ascii_only)

    def make_hand(self) -> Scribe:
        return Scribe(
            self._place.address,
            self._known.game_id,
            self._known.token,
            self._folder.key,
            verifier=VerifierKey.parse(self._known.verifier),
            security=self._place.security,
            copy=self._folder.copy(self._known.game_id),
            on_commit=self.moved_on,
            on_way=self.on_way,
        )

    def commands(self) -> dict[str, Command]:
        return {
            "correct": (self._correct_to, "correct 12: back to the position after entry 12"),
            "games": (lambda _: self.action_leave(), "games: back to the first screen"),
        }

    def named(self, state: Any) -> Sequence[str]:
        return self._folder.names(self._known.game_id, state.seats)

    def can_enter(self) -> bool:
        return True

    def question(self, desk: Desk, reading: Reading) -> str:
        # With time to protest the last move can be corrected until the result is entered.
        is_final = not self.hand.ledger.record.opened.terms.protest_ms
        if not is_final or not desk.is_last(reading.event):
            return ""
        return f"{reading.line} ends the game, and nothing can be corrected after that."

    def enter(self, event: Any) -> Awaitable[int]:
        return self.hand.enter(event)

    # --- the end -----------------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        try:
            await self.hand.run()
            await self.answered()
            await self._keep_file()
        except ClientError as error:
            self.say(f"The desk cannot continue this game: {error}")

    async def _keep_file(self) -> None:
        """Keep the file at the end of the game."""
        log = self._folder.log_file(self._known.game_id)
        try:
            async with organiser(self._place.address, "", self._place.security) as there:
                await there.save_log(self._known.game_id, log)
        except (ClientError, OSError) as error:
            self.add(f"The game is over. Its file could not be written: {error}")
            return
        self._file_is_kept = True
        self.add(self.over())

    def over(self) -> str:
        """Return that the game is over, and where its file is and how it is checked, as soon as it is there."""
        if not self._file_is_kept:
            return super().over()
        log, key = self._folder.log_file(self._known.game_id), self._folder.key_file(self._known.game_id)
        check = f"referee audit {log.name} --key {key.name}"
        return f"The game is over. Its file is in {log.parent}; check it there with:\n{check}"

    # --- beside the moves --------------------------------------------------------------------------------------------

    def intended(self, desk: Desk, text: str) -> Intended | None:
        meant = acts.read(desk.rules_id, desk.state, desk.whole(text), self._number())
        if meant is None:
            return None
        why_not = self._why_not(meant)
        to = meant.act.line if meant.act.kind in (ActKind.CORRECT, ActKind.RESTORE, ActKind.TAKE_BACK) else -1
        gone = len(self.history.taken_back(to)) if to >= 0 and not why_not else 0
        does = acts.consequence(self.hand.ledger.record, meant, gone) if not why_not else ""
        return Intended(str(meant), does, why_not, partial(self._act, meant))

    def _act(self, meant: Meant) -> Awaitable[int]:
        return self.hand.act(meant, self._arbiter(), self._known.arbiter_token, self._place.token)

    def _arbiter(self) -> PrivateKey | None:
        """Return the arbiter's key, if it can be read and is one of this game."""
        try:
            key = self._folder.arbiter()
        except FolderError:
            return None
        keys = self.hand.ledger.record.opened.arbiter_keys
        return key if key is not None and key.public.raw in keys else None

    def _number(self) -> int:
        """Return which of the game's arbiters can rule at this desk; 0 if none can."""
        key = self._arbiter()
        return 0 if key is None else list(self.hand.ledger.record.opened.arbiter_keys).index(key.public.raw)

    def _why_not(self, meant: Meant) -> str:
        if meant.act.is_ruling and self._arbiter() is not None and meant.act.arbiter != self._number():
            has = f"this desk has the key of arbiter {self._number()}, not of arbiter {meant.act.arbiter}"
            return f"{has}; expected {arbiter_name(self._number())}:"
        if why := acts.check(self.hand.ledger.record, meant, _SCRIBE):
            return why
        if meant.act.is_ruling and self._arbiter() is None:
            return NO_KEY
        if meant.act.kind is ActKind.ABORT and not self._place.token:
            return "only the organiser can break the game off; start the desk with the organiser's --token-file"
        return ""

    def offers(self) -> Sequence[Offer]:
        found = acts.of_scribe(self.hand.ledger.record, _SCRIBE, self.names, self._number())
        return [each for each in found if self._arbiter() is not None or not each.is_ruling]

    def lacks(self) -> str:
        return NO_KEY if self._arbiter() is None else ""

    def fields(self, offer: Offer) -> Sequence[Field]:
        act = table.read_line(self._known.rules_id, offer.line)
        assert act is not None  # noqa: S101 - only such lines are offered
        return fields_of(act, has_clock=self.hand.ledger.record.opened.terms.HasField("clock"))

    # --- going back --------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        self.dismiss()

    def action_correct(self) -> None:
        self._correct_to("")

    def _correct_to(self, to_seq: str) -> None:
        """Ask to which entry the game is to go back; with a number it is proposed."""
        known = [entry.seq for entry in self.history.places()]
        if not known:
            if self.hand.ledger.size and self.hand.ledger.record.game.is_over:
                self.say(f"Nothing can be corrected now. {self.over()}")
            elif not any(entry.counts for entry in self.history.entries):
                self.say("There is no entry yet to take back.")
            else:
                self.say("A scribe cannot go back now: a player or an arbiter made the last act (TBL-25).")
            return
        if to_seq and (not to_seq.isdecimal() or int(to_seq) not in known):
            self.say(f"correct {to_seq}: there is no such entry to go back to; expected one of {_ranges(known)}")
            return
        chosen = Correction(self.history, int(to_seq) if to_seq else None)
        self.app.push_screen(chosen, self._corrected)

    def _corrected(self, to_seq: int | None) -> None:
        if to_seq is None:
            self.say("Nothing was taken back.")
            return
        self.run_entering(f"back to the position after entry {to_seq}", self.hand.correct(to_seq))


def _ranges(numbers: Sequence[int]) -> str:
    """Return ``1 to 4, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
