"""Opens a tournament's file for a command, to look at it or to enter acts, and reports errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared.arguments import private_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.games.game import InputError
from referee.log.errors import LogError, RulesError
from referee.log.keys import PrivateKey
from referee.log.verdict import Finding
from referee.tournament.file import EventFile
from referee.tournament.log import AwayLog, Home, Keeper
from referee.tournament.rules import Terms
from referee.tournament.words import told_broken
from referee_clients.sdk.errors import ClientError, Unreachable

EventPath = Annotated[
    Path, Parameter(name="FILE", help="The event's file, such as spring.eventlog.", show_default=False)
]
Reason = Annotated[str, Parameter(name="--reason", metavar="TEXT", help="Why. It is kept in the log, for everybody.")]
Encoding = Annotated[str, Parameter(metavar="NAME", help="The encoding of a .trf that is not UTF-8.")]
SignedBy = Annotated[
    Path | None, Parameter(name="--key", metavar="FILE", help="An arbiter's private key, which signs this.")
]
TokenFile = Annotated[
    Path | None, Parameter(name="--token-file", metavar="FILE", help="The organiser's token, if it is not in DIR.")
]


@dataclass(frozen=True, slots=True)
class _Network:
    """A keeper that imports what it takes to call a referee only when a referee keeps the event."""

    patience_s: float | None = None

    def _keeper(self) -> Keeper:
        from referee_clients.sdk.tournament import PATIENCE_S, EventKeeper  # noqa: PLC0415 - see above

        return EventKeeper(patience_s=PATIENCE_S if self.patience_s is None else self.patience_s)

    def begin(self, terms: Terms, key: PrivateKey, arbiters: Sequence[bytes]) -> tuple[Home, AwayLog]:
        return self._keeper().begin(terms, key, arbiters)

    def follow(self, home: Home, log: AwayLog, *, waits: bool = True) -> None:
        self._keeper().follow(home, log, waits=waits)

    def send(self, home: Home, log: AwayLog) -> None:
        self._keeper().send(home, log)


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """Tell what goes wrong with an event in one line. Raise ``Failure``."""
    try:
        yield
    except RulesError as error:
        raise Failure(f"{path}: nothing entered: {told_broken(error.violations)}", 8) from None
    except LogError as error:
        raise Failure(f"{path}: {error}", int(Finding.of(error).verdict)) from None
    except InputError as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except ClientError as error:
        raise Failure(f"{path}: {error}") from None
    except BlockingIOError:
        raise Failure(f"{path}: another command, or a desk, is entering something in this event; try again") from None
    except FileNotFoundError as error:
        missing = Path(error.filename or path)
        is_event = missing.stem == path.stem
        hint = "; `referee event new` begins an event" if is_event else ""
        raise Failure(f"{missing}: {error.strerror}{hint}") from None
    except OSError as error:
        raise Failure(f"{error.filename or path}: {error.strerror}") from None


@contextmanager
def editing(path: Path, key: Path | None = None) -> Iterator[EventFile]:
    """Open an event, and keep the entered acts if nothing went wrong: all of them or none. Raise ``Failure``.

    ``key``: the signer's, if it is not the organiser's.
    """
    with opened(path, key) as event, event.entering():
        yield event


@contextmanager
def opened(path: Path, key: Path | None = None) -> Iterator[EventFile]:
    """Open an event to enter acts, wherever it is kept; ``save`` keeps the entered acts. Raise ``Failure``.

    ``key``: the signer's, if it is not the organiser's.
    """
    with failures(path), EventFile.opened(path, _Network()) as event:
        if key is not None:
            event.log.key = private_key("--key", key)
        yield event


@contextmanager
def looking(path: Path) -> Iterator[EventFile]:
    """Open an event to look at it; of one that a referee keeps, as it is there, if it can be reached.

    Raise ``Failure``.
    """
    with failures(path):
        event = EventFile.read_only(path, _Network(patience_s=0))
        try:
            event.follow()
        except Unreachable as error:
            print(f"note: the event as it was up to entry {event.log.record.size - 1}: {error}", file=sys.stderr)
        yield event
