"""The application and the screen of a seat: its own board first, its moves, and its acts beside them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from referee.log.note import VerifierKey
from referee.text.notation import table
from referee.text.notation.table import ActKind
from referee.text.render.drawing import player_words
from referee_clients.join import Join
from referee_clients.sdk.channel import Security
from referee_clients.sdk.errors import ClientError
from referee_clients.terminal.desk import acts
from referee_clients.terminal.desk.acts import Field, Intended, Meant, Offer, fields_of
from referee_clients.terminal.desk.line import Desk, Reading
from referee_clients.terminal.desk.table import KEYS, NOTATION, TableScreen
from referee_clients.terminal.seat.seat import Seat, SeatKeys
from referee_clients.terminal.widgets import TerminalApp

_CALL, _KEY = ":call", ":key"
"""The words for two things that are no acts of the table: a call, and another key of one's own."""
_CALLING = Offer("Call an arbiter to this game", f"{_CALL} why")
_CHANGING = Offer("Continue with another key", _KEY)


class SeatScreen(TableScreen):
    """One game, played from one of its seats."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f9", "call", "Call arbiter")]
    ASKS_BESIDE = "What do you want to do beside the moves? Choose with Up and Down."
    HELP = f"""\
Enter says what the line will do; the second Enter signs and sends it. An illegal move is never sent.
{KEYS}
F7, or :table, lists what you can do beside the moves: resign, protest, take back, change your key.
F9, or :call and why, calls an arbiter.
Ctrl+Q leaves. The seat stays yours: start the same command again to continue. Your clock runs meanwhile.

{NOTATION}"""

    hand: Seat

    def __init__(
        self,
        join: Join,
        keys: SeatKeys,
        *,
        verifier: VerifierKey | None = None,
        security: Security | None = None,
        log_copy: bool = True,
        ascii_only: bool = False,
    ) -> None:
        self._join = join
        self._keys = keys
        self._verifier = verifier
        self._security = security
        self._log_copy = log_copy
        self._was_on_turn = False
        super().__init__(ascii_only=ascii_only)

    def make_hand(self) -> Seat:
        return Seat(
            self._join,
            self._keys,
            verifier=self._verifier,
            security=self._security,
            log_copy=self._log_copy,
            on_commit=self.moved_on,
            on_way=self.on_way,
        )

    async def follow(self) -> None:
        try:
            await self.hand.run()
        except ClientError as error:
            self.app.exit(error)
        else:
            await self.answered()
            self.add(self.over())

    def over(self) -> str:
        if self.hand.file is not None:
            return f"The game is over. Its file, which you can audit, is\n{self.hand.file}"
        return f"The game is over. Get its file with:\nreferee fetch {self.hand.game_id} --server {self.hand.address}"

    # --- moves -------------------------------------------------------------------------------------------------------

    def named(self, state: Any) -> Sequence[str]:
        mine = self._join.seat
        return [f"{player_words(seat)} (you)" if seat == mine else "" for seat in range(state.seats)]

    def first_seat(self, state: Any) -> int:  # noqa: ARG002 - it is always our own
        return self._join.seat

    def can_enter(self) -> bool:
        return self.hand.is_current and self._join.seat in self.hand.ledger.record.game.awaited()

    def shown(self) -> None:
        """Ring when it is our turn: a waiting player may look elsewhere."""
        if self.can_enter() and not self._was_on_turn:
            self.app.bell()
        self._was_on_turn = self.can_enter()

    def question(self, desk: Desk, reading: Reading) -> str:
        ends = " It ends the game." if desk.is_last(reading.event) else ""
        return f"{reading.line}: {desk.does(reading.event)}.{ends}"

    def enter(self, event: Any) -> Awaitable[int]:
        return self.hand.move(self.hand.ledger.record.game.position.encoded_move(event))

    # --- beside the moves --------------------------------------------------------------------------------------------

    def intended(self, desk: Desk, text: str) -> Intended | None:
        whole = desk.whole(text).strip()
        word, _, argument = whole.removeprefix(desk.beginning.strip()).strip().partition(" ")
        if word == _CALL:
            does = "calls an arbiter, who sees these words; they are not in the log"
            call = partial(self.hand.call, argument.strip())
            return Intended(f"{_CALL} {argument.strip()}", does, self._why_no_call(argument), call)
        if word == _KEY:
            does = "your next act is signed with a new key, which is saved before, and the old one ends with it"
            return Intended(_KEY, does, self.hand.why_no_change(), self.hand.change_key)
        meant = self._meant_by(desk, whole)
        if meant is None:
            return None
        why_not = acts.check(self.hand.ledger.record, meant, self.hand.author)
        gone = (
            len(self.history.taken_back(meant.act.line)) if meant.act.kind is ActKind.TAKE_BACK and not why_not else 0
        )
        does = acts.consequence(self.hand.ledger.record, meant, gone) if not why_not else ""
        return Intended(str(meant), does, why_not, partial(self.hand.act, meant))

    def _why_no_call(self, text: str) -> str:
        if not self.hand.ledger.record.opened.arbiter_keys:
            return "this game has no arbiter, who could answer"
        return "" if text.strip() else f"expected why you call, such as {_CALL} the line is wrong"

    def _meant_by(self, desk: Desk, text: str) -> Meant | None:
        """Return what a line says of the table; which seat acts may be left out."""
        for line in (text, f"{self._join.seat}: {text}"):
            if (meant := acts.read(desk.rules_id, desk.state, line)) is not None:
                return meant
        return None

    def offers(self) -> Sequence[Offer]:
        own = [_CALLING] if not self._why_no_call("why") else []
        own += [_CHANGING] if not self.hand.why_no_change() else []
        return [*acts.of_seat(self.hand.ledger.record, self.hand.author), *own]

    def fields(self, offer: Offer) -> Sequence[Field]:
        if offer.line.startswith(_CALL):
            return [Field("why", f"{_CALL} {{}}")]
        if offer.line == _KEY:
            return [Field("", _KEY)]
        act = table.read_line(self.hand.ledger.record.opened.rules_id, offer.line)
        assert act is not None  # noqa: S101 - only such lines are offered
        return [_fixed(field) if field.name == "seat" else field for field in fields_of(act)]

    def action_call(self) -> None:
        """Ask why an arbiter is called."""
        if self.hand.ledger.size:
            self.fill(_CALLING)


def _fixed(field: Field) -> Field:
    """Return a field whose value stays as it is."""
    return replace(field, name="", form=field.form.format(field.value))


class SeatApp(TerminalApp[ClientError]):
    """The application. ``run_async`` returns why the seat cannot be played, or None after its player has left."""

    TITLE = "Tile Referee: a player"

    def __init__(
        self,
        join: Join,
        keys: SeatKeys,
        *,
        verifier: VerifierKey | None = None,
        security: Security | None = None,
        log_copy: bool = True,
        ascii_only: bool = False,
    ) -> None:
        super().__init__()
        self._screen = SeatScreen(
            join, keys, verifier=verifier, security=security, log_copy=log_copy, ascii_only=ascii_only
        )

    def on_mount(self) -> None:
        self.push_screen(self._screen)
