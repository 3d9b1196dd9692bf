"""Clients' acts and messages, with times: all that a check of the referee has, beside the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from time import monotonic_ns

from referee_clients.bot_check.relay import Stream


class Outcome(Enum):
    """A client's knowledge of its act."""

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
    """The entry of the act, by the client's answer."""
    rules: tuple[str, ...] = ()
    """The rules that the act breaks, by the client's answer."""

    def answer(self, outcome: Outcome, seq: int | None = None, rules: tuple[str, ...] = ()) -> None:
        """Keep the client's answer, with the time."""
        self.outcome, self.seq, self.rules, self.answered_ns = outcome, seq, rules, monotonic_ns()


@dataclass(slots=True)
class History:
    """The history of one game."""

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
