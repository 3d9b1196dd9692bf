"""The screen of a ruling before it is entered: the keys that begin one, its line, and its effect."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar, Final, NamedTuple

import grpc
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from referee.games.game import Decision
from referee.log.errors import LogError
from referee.log.v1 import log_pb2
from referee.telling.words import quoted
from referee_clients.rulings import OF_POSITION, Bench, Look, kind_of
from referee_clients.sdk.errors import ClientError, answer_of
from referee_clients.terminal.desk import acts


class Kind(NamedTuple):
    """One key."""

    key: str
    words: str
    line: Callable[[Look], str]
    """The line of the ruling, to be changed before it is entered; empty: there is nothing to rule on."""
    label: str = ""
    """The short name in the footer; empty: only the help shows it."""


def _turn(look: Look) -> int:
    awaited = look.record.game.position.pending()[0]
    return awaited.seat if isinstance(awaited, Decision) else 0


def _dismiss(look: Look) -> str:
    disputes = look.record.game.arbitration.disputes
    return next((f"dismiss decides {seq}" for seq, dispute in disputes.items() if dispute.ruled is None), "")


def _restore(look: Look) -> str:
    """Return the position before the last entry that counts."""
    last = max((told.seq for told in look.transcript.entries if told.counts), default=1)
    return f"restore to {last - 1}"


def _result(look: Look) -> str:
    return f"result places {' '.join(str(seat + 1) for seat in range(len(look.record.opened.seats)))}"


KINDS: Final = (
    Kind("p", "pause", lambda _: "pause", "Pause"),
    Kind("g", "resume after a pause", lambda _: "resume", "Resume"),
    Kind("d", "turn a protest down", _dismiss, "Dismiss"),
    Kind("w", "warn a player", lambda look: f"warn seat {_turn(look)}"),
    Kind("t", "take points, strikes or time off", lambda look: f"penalty seat {_turn(look)} points 1"),
    Kind("c", "set a clock", lambda look: f"clock seat {_turn(look)} 5m"),
    Kind("f", "a player forfeits", lambda look: f"forfeit seat {_turn(look)} adjudicated"),
    Kind("k", "skip the player on turn", lambda look: f"skip seat {_turn(look)}"),
    Kind("b", "back to an earlier position", _restore),
    Kind("e", "end the game with a result", _result),
    Kind("v", "void: the game does not count", lambda _: "void"),
)


_HOW = 'Change the line as needed; words in "quotes" at its end are the reason.'

_STILL = "It stays paused until you resume it (g)."


class RulingScreen(ModalScreen[str | None]):
    """Dismissed with the entered ruling, in words, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "pause", "Pause first"),
        Binding("escape", "leave", "Cancel", key_display="Esc"),
    ]
    CSS = """
    RulingScreen { background: $background; }
    RulingScreen #question, RulingScreen #how, RulingScreen #said { height: auto; }
    RulingScreen #effect { height: 1fr; scrollbar-size-vertical: 1; border-top: solid; }
    RulingScreen #said { border-top: solid; }
    """

    def __init__(self, name: str, bench: Bench, look: Look, line: str) -> None:
        """``name``: the game's. ``line``: the beginning of the ruling."""
        super().__init__()
        self._game = name
        self._bench = bench
        self._look = look
        self._line = line
        self._busy = False
        self._left = ""
        """The message about an act that was entered before the ruling."""

    def compose(self) -> ComposeResult:
        yield Static(
            f"A ruling on game {self._game}, as {self._bench.author}. Enter enters it.", id="question", markup=False
        )
        yield Input(self._line, id="line", compact=True, select_on_focus=False)
        yield Static(_HOW, id="how", markup=False)
        with VerticalScroll(id="effect", can_focus=False):
            yield Static("", id="what", markup=False)
        yield Static("", id="said", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._show()

    # --- what it means -------------------------------------------------------------------------------------------

    def _ruling(self) -> tuple[log_pb2.Rule, str]:
        """Return what the line rules, and the reason. Raise ``ValueError``, in words."""
        record, text = self._look.record, self.query_one(Input).value.strip()
        rules_id = record.opened.rules_id
        meant = acts.read(rules_id, record.game.position.state, text)
        if meant is None:
            error = acts.fault(rules_id, text)
            raise ValueError(f"Not yet: expected {error.expected}" if error is not None else "This is no ruling.")
        if meant.move is None and not meant.act.is_ruling:
            raise ValueError("This is no ruling, but an act of the players or of the scribe.")
        if meant.move is None and meant.act.arbiter != self._bench.author.index:
            raise ValueError(f"You are {self._bench.author} of this game: begin the line with that.")
        try:
            return acts.message(record, meant, self._bench.author), meant.act.words
        except LogError as error:
            raise ValueError(f"Not possible: {error.what}; expected {error.expected}") from None

    def _show(self) -> None:
        """Say what the line will do, or why it cannot be entered."""
        try:
            ruling, text = self._ruling()
            told = self._bench.told(self._look, ruling)
        except (ValueError, ClientError) as error:
            told = [_sentence(str(error))]
        else:
            told[1:1] = [f"reason: {quoted(text)}"] if text else []
            told += self._warning(ruling)
        self.query_one("#what", Static).update("\n".join(told))

    def _warning(self, ruling: log_pb2.Rule) -> list[str]:
        if kind_of(ruling) in OF_POSITION and self._look.record.game.goes_on:
            return ["", "This ruling is for the position now, but play continues: F5 pauses the game first."]
        return []

    def on_input_changed(self) -> None:
        self._show()

    def on_input_submitted(self) -> None:
        self._run(self._enter())

    # --- keys ----------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        if not self._busy:
            self.dismiss(self._left or None)

    def action_pause(self) -> None:
        """Pause the game, and look at it again."""
        self._run(self._pause())

    def _run(self, work: object) -> None:
        if self._busy:
            work.close()  # type: ignore[attr-defined]
            return
        self._busy = True
        self.run_worker(work, name="ruling")  # type: ignore[arg-type]

    async def _enter(self) -> None:
        try:
            try:
                ruling, text = self._ruling()
                words = self._bench.told(self._look, ruling)[0]
            except ValueError as error:
                self._say(f"Not entered. {error}")
                return
            self._say("Sent. The referee has not answered yet.")
            seq = await self._bench.enter(self._look, ruling, text)
        except ClientError as error:
            self._say(_failed("Not entered", error))
            await self._again()
        else:
            with suppress(ClientError):  # it is entered, whatever follows
                if self._look.is_suspended and (await self._bench.look()).is_suspended:
                    words += f". {_STILL}"
            self.dismiss(f"Entered as entry {seq}: {words}")
        finally:
            self._busy = False

    async def _pause(self) -> None:
        try:
            seq = await self._bench.pause(self._look)
            self._left = f"The game is paused, as entry {seq}. {_STILL}"
            self._say(self._left)
        except ClientError as error:
            self._say(_failed("Not paused", error))
        finally:
            self._busy = False
        await self._again()

    async def _again(self) -> None:
        """Look at the game as it is by now, if it can be read."""
        with suppress(ClientError):  # why it cannot stands on the screen already
            self._look = await self._bench.look()
        self._show()

    def _say(self, words: str) -> None:
        self.query_one("#said", Static).update(words)


def _failed(what: str, error: ClientError) -> str:
    """Return why nothing was entered, as far as that is known: an answer can be lost on the way."""
    cause = error.__cause__
    if isinstance(cause, grpc.aio.AioRpcError) and answer_of(cause).passes:
        return "No answer came. The act may be entered all the same: look at the entries before you repeat it."
    return f"{what}: {error}."


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
