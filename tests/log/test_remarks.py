"""The words of protests and rulings in a game's file: compared with what was signed, and never missed."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Any

import pytest

from referee.log import file
from referee.log.errors import Code, LogError
from referee.log.remarks import MAX_CHARACTERS, check, commitment, decode_remark, encode_remark
from referee.log.v1 import log_pb2
from referee.log.verdict import Layer, Verdict
from tests.log.arbitration import Table

SALT = b"s" * 16


def remark(seq: int, text: str = "the reason", salt: bytes = SALT) -> bytes:
    return encode_remark(log_pb2.Remark(seq=seq, salt=salt, text=text))


class Ruled:
    """A game that an arbiter has ended, with words."""

    def __init__(self) -> None:
        table = Table()
        self.warned = table.rule(
            penalty=log_pb2.Penalty(seat=0), rule_id="TBL-2", remark=commitment(SALT, "the reason")
        )
        self.ended = table.rule(void=log_pb2.Void(), rule_id="TBL-2", remark=commitment(SALT, "no game"))
        self.played = table.played

    def audit(self, remarks: Iterable[bytes], after: int) -> Any:
        stream = BytesIO()
        writer = file.Writer(stream)
        writer.header(self.played.header)
        for seq, entry in enumerate(self.played.entries):
            writer.entry(entry)
            for each in remarks if seq == after else ():
                writer.remark(each)
        writer.end(self.played.notes[-1])
        return self.played.audit(stream.getvalue())


@pytest.fixture(scope="module")
def ruled() -> Ruled:
    return Ruled()


def test_words_may_be_there_or_not(ruled: Ruled) -> None:
    last = len(ruled.played.entries) - 1
    for remarks in ([], [remark(ruled.warned)], [remark(ruled.ended, "no game"), remark(ruled.warned)]):
        assert ruled.audit(remarks, last).verdict is Verdict.COMPLETE


def test_words_that_nobody_committed_to_are_damage(ruled: Ruled) -> None:
    last = len(ruled.played.entries) - 1
    for data, code in (
        (remark(ruled.warned, "another reason"), Code.REMARK),
        (remark(ruled.warned, salt=b"t" * 16), Code.REMARK),
        (remark(ruled.ended), Code.REMARK),
        (remark(1), Code.REMARK),
        (remark(9999), Code.REMARK),
        (remark(ruled.warned, salt=b"short"), Code.MALFORMED),
        (remark(ruled.warned, "\x1b[31m"), Code.MALFORMED),
        (b"words", Code.MALFORMED),
    ):
        for remarks in ([data], [data, remark(ruled.warned)]):
            report = ruled.audit(remarks, last)
            (finding,) = report.findings
            assert (report.verdict, finding.layer, finding.code) == (Verdict.CORRUPT, Layer.PROOFS, code), data
    assert ruled.audit([remark(ruled.warned)] * 2, last).verdict is Verdict.CORRUPT, "once is enough"
    assert ruled.audit([remark(ruled.ended, "no game")], ruled.warned).verdict is Verdict.CORRUPT, "after its entry"


def test_the_texts_that_there_may_be() -> None:
    for text in ("", "w" * (MAX_CHARACTERS + 1), "a\tb", "a\0b", "a\u202eb", "\ufeff"):
        found = log_pb2.Remark(seq=3, salt=SALT, text=text)
        with pytest.raises(LogError, match="MALFORMED"):
            check(found, commitment(SALT, text))
    for text in ("w" * MAX_CHARACTERS, "two\nlines", "\u00e9\u4e16", "\u3000", "\U0001fae9"):
        found = log_pb2.Remark(seq=3, salt=SALT, text=text)
        check(found, commitment(SALT, text))
        assert decode_remark(encode_remark(found)) == found


def test_the_commitment_is_fixed() -> None:
    """SHA-256 of the label, a zero byte, the salt and the text, computed by other means."""
    assert commitment(bytes(16), "words").hex() == "903230873f936b0c9b52926113c5c139c1025b714a8fe65a38b2974be3439438"
