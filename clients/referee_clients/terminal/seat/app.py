"""A seat as an application in a terminal."""

from __future__ import annotations

from referee.log.note import VerifierKey
from referee_clients.join import Join
from referee_clients.sdk.channel import Security
from referee_clients.sdk.errors import ClientError
from referee_clients.terminal.desk.terminal import TerminalApp
from referee_clients.terminal.seat.keys import SeatKeys
from referee_clients.terminal.seat.screen import SeatScreen


class SeatApp(TerminalApp[ClientError]):
    """``run_async`` it; it returns why the seat cannot be played, or None after its player has left."""

    TITLE = "Tile Referee: a seat"

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
