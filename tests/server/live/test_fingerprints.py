"""Fingerprints of rows: whatever part of a log is asked for, its rows fit, and no others do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.server.live.history import ROWS, Fingerprints, fingerprint
from referee.server.store.store import Row

SIZES = st.integers(1, 4 * ROWS)


def log_of(size: int) -> tuple[list[Row], Fingerprints]:
    """Rows of which every third ends a commit, and what is known of them."""
    rows = [Row(seq, b"entry %d" % seq, b"note %d" % seq if seq % 3 == 2 else b"") for seq in range(size)]
    known = Fingerprints()
    for row in rows:
        known.append(row)
    return rows, known


@given(SIZES, st.data())
def test_every_part_has_the_prints_of_its_rows(size: int, data: st.DataObject) -> None:
    rows, known = log_of(size)
    end = data.draw(st.integers(1, size))
    first = data.draw(st.integers(0, end - 1))
    start, prints = known.pages(first, end)
    stop = min(start + len(prints) * ROWS, size)
    assert start <= first < start + ROWS
    assert end <= stop < end + ROWS
    assert prints == [fingerprint(rows[at : min(at + ROWS, stop)]) for at in range(start, stop, ROWS)]


@given(SIZES, st.data())
def test_another_row_has_another_print(size: int, data: st.DataObject) -> None:
    """A byte more, less or changed in an entry or a checkpoint, or a byte that went from one to the other."""
    rows, known = log_of(size)
    seq = data.draw(st.integers(0, size - 1))
    row = rows[seq]
    others = [
        Row(seq, row.data[:-1], row.note),
        Row(seq, row.data + b"\0", row.note),
        Row(seq, bytes([row.data[0] ^ 1]) + row.data[1:], row.note),
        Row(seq, row.data[:-1], row.data[-1:] + row.note),
        Row(seq, row.data, row.note + b"\0"),
        Row(seq, row.note, row.data),
    ]
    start, (expected,) = known.pages(seq, seq + 1)
    page = rows[start : start + ROWS]
    for other in others:
        page[seq - start] = other
        assert fingerprint(page) != expected
