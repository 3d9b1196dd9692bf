"""The generation of the API, which client and referee compare before either believes that the other is wrong.

Clients name theirs at the beginning of the user agent, as one option of a channel sends it with every call; the referee
names its own in the initial metadata of streams. A side that names none is served and believed as far as that goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

GENERATION = 1
"""The generation, raised when clients and referees of two would misunderstand each other, not for mere additions."""
KEY = "referee-api"
"""The key in the referee's metadata."""
OWNER = "referee-owner"
"""The key in the metadata before an answer: the address of the referee that has the game, if it is another one."""
_AGENT = re.compile(r"tile-referee-api/([0-9]{1,9})(?![0-9])")


class OtherGeneration(Exception):
    """A client speaks another generation of the API than the referee."""

    def __init__(self, *, referee: int, client: int) -> None:
        """The generations that they speak."""
        mend = "update the client" if client < referee else "the organiser has to update the referee"
        super().__init__(f"this referee speaks version {referee} of its API, the client version {client}: {mend}")
        self.referee, self.client = referee, client


def agent() -> str:
    """Return what a client's user agent begins with."""
    return f"tile-referee-api/{GENERATION}"


def check_agent(agent: str) -> None:
    """Raise ``OtherGeneration`` for the user agent of a client that speaks another one than this referee."""
    found = _AGENT.match(agent)
    if found is not None and int(found[1]) != GENERATION:
        raise OtherGeneration(referee=GENERATION, client=int(found[1]))


def named() -> tuple[tuple[str, str], ...]:
    """Return the metadata in which a referee names its generation."""
    return ((KEY, str(GENERATION)),)


def check_named(metadata: Iterable[tuple[str, str | bytes]]) -> bool:
    """Return whether a referee names this client's generation; False if it names none. Raise ``OtherGeneration``."""
    found = next((value for key, value in metadata if key == KEY), None)
    if found is None:
        return False
    if found != str(GENERATION):
        spoken = int(found) if re.fullmatch(r"[0-9]{1,9}", str(found)) else 0
        raise OtherGeneration(referee=spoken, client=GENERATION)
    return True
