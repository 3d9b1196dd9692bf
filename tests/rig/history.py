"""What clients did and were told, with times: all that a check of the referee has to go by, beside the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from time import monotonic_ns

from referee_clients.bot_check.relay import Stream


class Outcome(Enum):
    """What a client knows of its act."""

    UNKNOWN = "no answer came"
    ACCEPTED = "it is an entry"
    REFUSED = "it is against the rules"
    VOID = "its place was taken, or it was no act"


@dataclass(slots=True)
class Act:
    """One act as its client saw it; the same bytes sent several times are one."""

    client: str
    intent: bytes
    invoked_ns: int
    outcome: Outcome = Outcome.UNKNOWN
    answered_ns: int | None = None
    seq: int | None = None
    """The entry that it was told to have become."""
    rules: tuple[str, ...] = ()
    """That it was told to break."""

    def answer(self, outcome: Outcome, seq: int | None = None, rules: tuple[str, ...] = ()) -> None:
        """What the client was told, now."""
        self.outcome, self.seq, self.rules, self.answered_ns = outcome, seq, rules, monotonic_ns()


@dataclass(slots=True)
class History:
    """Of one game."""

    acts: list[Act] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    receipts: list[bytes] = field(default_factory=list)

    def act(self, client: str, intent: bytes) -> Act:
        """The client is about to put the act before the referee.

        The same bytes another way are made when they are made first: the referee may have entered them since.
        """
        made = next((act.invoked_ns for act in self.acts if act.intent == intent), monotonic_ns())
        self.acts.append(Act(client, intent, made))
        return self.acts[-1]
