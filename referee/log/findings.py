"""Findings of an audit: of each layer the first failure and how far it was checked; and comments on oddities."""

from __future__ import annotations

from typing import Final

from referee.log.errors import LogError
from referee.log.v1 import log_pb2
from referee.log.verdict import Finding, Layer
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import Phrase, phrase

_MAX_REMARKS: Final = 20
"""The most remarks of each kind that a file can cause any number of: they must not crowd out the others."""
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970."""


class Findings:
    """Keeps one finding of each layer: the first, but a failure rather than a shortfall."""

    def __init__(self) -> None:
        self.at: tuple[int | None, int | None] = (None, None)
        """Entry and offset of the part that is looked at."""
        self.checked: dict[Layer, int] = {}
        """Entries that the layer was checked for."""
        self._found: dict[Layer, Finding] = {}

    def note(self, error: LogError, layer: Layer | None = None) -> None:
        """Note the error at the place that is being looked at. ``layer``: if it is not that of the error's code."""
        entry, offset = self.at
        finding = Finding.of(error.at(entry=entry, offset=offset), layer)
        known = self._found.get(finding.layer)
        # A failure outweighs a shortfall that the same layer has shown before.
        if known is None or (known.is_shortfall and not finding.is_shortfall):
            self._found[finding.layer] = finding

    def has(self, layer: Layer) -> bool:
        """Return whether there is a finding of the layer."""
        return layer in self._found

    def ordered(self) -> tuple[Finding, ...]:
        """Return the findings, in the order of the layers."""
        return tuple(self._found[layer] for layer in Layer if layer in self._found)


class Comments:
    """Keeps what is odd in a file and no failure: a bounded number of each kind."""

    def __init__(self) -> None:
        self._comments: list[str | Phrase] = []
        self._recoveries: list[Phrase] = []
        self._useless_heads = 0
        self._latest_ms = 0
        self._dated_back = False
        self._dated_ahead = False

    def add(self, comment: str | Phrase) -> None:
        """Add a comment of which there are few."""
        self._comments.append(comment)

    def useless_head(self, comment: Phrase) -> None:
        """Comment on an older checkpoint that proves nothing."""
        self._useless_heads += 1
        if self._useless_heads <= _MAX_REMARKS:
            self._comments.append(comment)

    def dated(self, seq: int, referee_ms: int) -> None:
        """Compare the time of an entry with that of the entry before it."""
        if referee_ms < self._latest_ms and not self._dated_back:
            # A clock may have been set back: odd, not wrong.
            self._dated_back = True
            self._comments.append(phrase("entry {seq} is dated earlier than the entry before it", seq=seq))
        if referee_ms > _LAST_MS and not self._dated_ahead:
            self._dated_ahead = True
            self._comments.append(phrase("entry {seq} is dated later than any clock shows", seq=seq))
        self._latest_ms = referee_ms

    def lost(self, recovered: log_pb2.Recovered, seq: int) -> None:
        """Tell of entries that the referee lost."""
        if recovered.copied_ms:
            what = "entry {seq}: the referee continued from a copy of {when}; entries that it signed later may be lost"
            self._recoveries.append(Phrase(what, {"seq": seq, "when": moment_utc(recovered.copied_ms)}))
            return
        lost = recovered.lost_size - seq
        what = "entry {seq}: the referee lost {n} entries that it had signed, and continued"
        if lost == 1:
            what = "entry {seq}: the referee lost {n} entry that it had signed, and continued"
        self._recoveries.append(Phrase(what, {"seq": seq, "n": lost}))

    def all(self) -> list[str | Phrase]:
        """Return the comments, losses first."""
        # A referee that is not one can write any number of them.
        more = len(self._recoveries) - _MAX_REMARKS
        rest = [phrase("and {n} more losses", n=more)] if more > 0 else []
        return [*self._recoveries[:_MAX_REMARKS], *rest, *self._comments]
