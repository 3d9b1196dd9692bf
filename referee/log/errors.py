"""The one family of failures that the log raises: what is wrong, at which entry and byte, what was expected.

Knows neither bytes nor games; every other module of ``referee.log`` raises these and nothing else on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from referee.console import printable
from referee.games.game import Violation
from referee.text.words.catalogue import Phrase, phrase
from referee.wire.strict import MalformedError


class Code(StrEnum):
    """The kind of a failure; stable, for programs."""

    LIMIT = "LIMIT"
    """Larger or longer than the format allows."""
    FRAME = "FRAME"
    """The file's frames are damaged."""
    TORN = "TORN"
    """The file ends inside a frame, as a write that was interrupted leaves it."""
    HEADER = "HEADER"
    """The header is not the one that entry 0 names."""
    MALFORMED = "MALFORMED"
    """Bytes that are not the one encoding of what they should be."""
    WRONG_GAME = "WRONG_GAME"
    """Made for another game."""
    STALE_HEAD = "STALE_HEAD"
    """Made for another place in the log: ``seq`` or ``prev`` is not that of the head."""
    CHECKPOINT = "CHECKPOINT"
    """A checkpoint that does not agree with the entries."""
    NOTE = "NOTE"
    """Text that is not a signed note, a checkpoint or a verifier key."""
    NOTE_SIGNATURE = "NOTE_SIGNATURE"
    """The referee's signature under a checkpoint is wrong."""
    UNTRUSTED_KEY = "UNTRUSTED_KEY"
    """Signed with a key that the policy does not name."""
    FORK = "FORK"
    """Two heads, both signed, that cannot be of one history."""
    LOSS = "LOSS"
    """A signed head of entries that the referee has declared lost."""
    STALE = "STALE"
    """A head that was signed before is ahead of the file."""
    KEY = "KEY"
    """A public key that must not be used, or a private key that is not safe where it is."""
    AUTHOR = "AUTHOR"
    """There is no such author, or it has no key."""
    AUTHOR_SIGNATURE = "AUTHOR_SIGNATURE"
    """The author's signature or key id is wrong."""
    NOT_AWAITED = "NOT_AWAITED"
    """An act or event that cannot follow here, or not by this author."""
    RULES = "RULES"
    """The rules of the game forbid it."""
    DIGEST = "DIGEST"
    """The position after the entry is not the one that was recorded."""
    DECK = "DECK"
    """A seed that does not open its commitment, or chance that is not the committed deck's."""
    PROOF = "PROOF"
    """A certificate that does not hold, or is not for the entry that it names."""
    REMARK = "REMARK"
    """A text that is not the one that its entry commits to."""
    DISPROVED = "DISPROVED"
    """A certificate that holds proves the opposite of what the referee said of the entry."""
    RESULT = "RESULT"
    """The recorded result is not the one that the rules give."""
    UNSUPPORTED = "UNSUPPORTED"
    """In the format, or made by a later version; not offered by this one."""
    ENGINE = "ENGINE"
    """The rules engine itself failed."""
    UNLOGGED = "UNLOGGED"
    """Nothing shows that the public log has the head of the file."""
    UNDISCLOSED = "UNDISCLOSED"
    """The game is over and the referee's seed is not in the log."""
    INCOMPLETE = "INCOMPLETE"
    """Nothing is wrong with what is there, but more belongs to it."""


class LogError(Exception):
    """A failure, in words that are safe on a terminal.

    ``entry`` is an index, ``offset`` a byte in the file; either may be unknown. ``field`` is the path of the field of
    a message that is wrong; ``found`` is what was found in the field, or in the file that ``what`` names before it.
    Either may be empty. ``said`` is what is wrong and what was expected, as they were given.
    """

    def __init__(
        self,
        code: Code,
        what: str | Phrase,
        expected: str | Phrase = "",
        *,
        field: str = "",
        found: str = "",
        entry: int | None = None,
        offset: int | None = None,
    ) -> None:
        self.said = what, expected
        self.code = code
        self.what = printable(str(what))
        self.expected = printable(str(expected))
        super().__init__(code, self.what, self.expected)
        self.field = field
        self.found = printable(found)
        self.entry = entry
        self.offset = offset

    @property
    def phrase(self) -> Phrase | None:
        """The fault and the expectation, where they can be said in other languages."""
        what, expected = self.said
        if not isinstance(what, Phrase):
            return None
        return phrase("{what}; expected {expected}", what=what, expected=expected) if self.expected else what

    def at(self, *, entry: int | None = None, offset: int | None = None) -> LogError:
        """Return the same failure, with its place where that was still unknown."""
        self.entry = entry if self.entry is None else self.entry
        self.offset = offset if self.offset is None else self.offset
        return self

    def __str__(self) -> str:
        places = [
            f"{name} {value}" for name, value in (("entry", self.entry), ("byte", self.offset)) if value is not None
        ]
        where = f" at {', '.join(places)}" if places else ""
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"{self.code}{where}: {self.what}{expected}"


class RulesError(LogError):
    """A move or an outcome that the rules forbid, with every rule that it breaks."""

    def __init__(self, violations: Sequence[Violation], *, entry: int | None = None) -> None:
        self.violations = tuple(violations)
        super().__init__(
            Code.RULES, f"the rules forbid this ({', '.join(self.rule_ids)})", "a legal event", entry=entry
        )

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """Ascending, without repeats: as a ``Refused`` entry lists them."""
        return tuple(sorted({violation.rule_id for violation in self.violations}))


def demand(rule_id: str, condition: bool, what: str, expected: str, **places: object) -> None:
    """Check a rule of the table, whose id the failure names. Raise ``LogError`` (``NOT_AWAITED``).

    ``what``, ``expected``: phrases with these places. They are put together only for a failure.
    """
    if not condition:
        found = phrase("{what} ({rule})", what=Phrase(what, places), rule=rule_id)
        raise LogError(Code.NOT_AWAITED, found, Phrase(expected, places))


def not_awaited(what: str, expected: str, **places: object) -> LogError:
    """Return the failure (``NOT_AWAITED``) of what no rule forbids; ``what`` and ``expected`` have these places."""
    return LogError(Code.NOT_AWAITED, Phrase(what, places), Phrase(expected, places))


def malformed(error: MalformedError, thing: str) -> LogError:
    """Return the strict decoder's failure as one of this family."""
    return LogError(Code.MALFORMED, f"{thing}: {error.where}: {error.what}", error.expected, field=error.path)


def misfit(thing: str, field: str, found: str | Phrase, expected: str | Phrase, *, sep: str = " ") -> LogError:
    """Return the error of a field that is well encoded and cannot be what it is. ``thing``: the message it is in."""
    what: str | Phrase = f"{thing}.{field}{sep}{found}" if found else f"{thing}.{field}"
    if isinstance(found, Phrase):
        what = phrase("{field} {found}", field=f"{thing}.{field}", found=found)
    return LogError(Code.MALFORMED, what, expected, field=field, found=str(found))
