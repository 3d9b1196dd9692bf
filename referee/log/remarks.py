"""The words that protests, appeals and rulings commit to. They are kept beside the log, not in it: so they can be left
out of a file, and erased, and the signed data stays as it is.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from referee.log.entry import MAX_ENTRIES
from referee.log.errors import Code, LogError, malformed, misfit
from referee.log.file import MAX_IGNORABLE_BYTES, Frame
from referee.log.intent import check_length
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import phrase
from referee.wire import strict

WITH_WORDS: Final = frozenset({"protest", "appeal", "rule"})
"""Fields of ``Intent`` that are acts which commit to words."""
SALT_BYTES = 16
MAX_CHARACTERS = 4000
_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
"""Listed, and not asked of Unicode's tables: those of two readers may differ, and with them their verdicts."""
_DOMAIN = b"tile-referee/v1/remark\0"


def is_plain(text: str) -> bool:
    """Return whether no character but line ends is hidden: controls, marks of direction, tags."""
    return _HIDDEN.search(text) is None


def commitment(salt: bytes, text: str) -> bytes:
    """Return what stands in the act. The salt is needed, or a short text could be guessed."""
    return sha256(_DOMAIN + salt + text.encode()).digest()


def committed(intent: log_pb2.Intent) -> bytes:
    """Return what the act commits to; empty if it has no words."""
    act = intent.WhichOneof("act")
    return getattr(intent, act).remark if act in WITH_WORDS else b""


def check(remark: log_pb2.Remark, expected: bytes) -> None:
    """Check that these are words, and those that an act commits to. Raise ``LogError``: ``MALFORMED``, ``REMARK``."""
    check_length("remark", "salt", remark.salt, SALT_BYTES)
    text = remark.text
    if not 1 <= len(text) <= MAX_CHARACTERS:
        found = phrase("of {n} characters", n=len(text))
        raise misfit("remark", "text", found, phrase("1 to {most}", most=MAX_CHARACTERS))
    if not is_plain(text):
        found = phrase("with characters that cannot be seen")
        raise misfit("remark", "text", found, phrase("none but line ends"))
    if not expected:
        raise LogError(Code.REMARK, "a text", "one at most, for an entry that commits to it")
    if commitment(remark.salt, text) != expected:
        raise LogError(Code.REMARK, "a text that the entry does not commit to", "the one that it commits to, or none")


def encode_remark(remark: log_pb2.Remark) -> bytes:
    """Return the payload of a frame."""
    return strict.encode(remark)


def decode_remark(data: bytes) -> log_pb2.Remark:
    """Raise ``LogError``."""
    try:
        return strict.decode(log_pb2.Remark, data, max_bytes=MAX_IGNORABLE_BYTES)
    except strict.MalformedError as error:
        raise malformed(error, "remark") from error


class Remarks:
    """Follows the entries of a file, and compares the texts that come after them."""

    def __init__(self) -> None:
        self._committed: dict[int, bytes] = {}
        """Entries whose text was not there yet. Texts are not kept: they may take more memory than the whole file."""
        self.failure: LogError | None = None
        """The first that is wrong: any number of these can be added to a copy of the file."""

    def entered(self, seq: int, commitment: bytes) -> None:
        """Note what the act of an entry commits to; empty: nothing."""
        if commitment:
            self._committed[seq] = commitment

    def seen(self, frame: Frame) -> log_pb2.Remark | None:
        """Return a text that follows the entries before it; None if it belongs to none of them."""
        try:
            return self._taken(decode_remark(frame.payload))
        except LogError as error:
            self.failure = self.failure or error.at(offset=frame.offset)
            return None

    def _taken(self, remark: log_pb2.Remark) -> log_pb2.Remark:
        try:
            check(remark, self._committed.get(remark.seq, b""))
        except LogError as error:
            if remark.seq >= MAX_ENTRIES:  # no file has that entry
                raise
            raise error.at(entry=remark.seq)  # noqa: B904 - the same error, with its place
        del self._committed[remark.seq]
        return remark
