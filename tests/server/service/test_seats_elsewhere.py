"""Several nodes in one stream: whatever they send of a game, and however late, a listener hears one log."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from referee.server.service.play_stream import HERE, Together
from referee.v1 import game_service_pb2 as pb

GAME = "ab" * 16
ONE, TWO = 1, 2
OVER, DRAINING = pb.CLOSING_REASON_GAME_OVER, pb.CLOSING_REASON_DRAINING


class Heard:
    """The other end of a stream, which checks what it hears of the game, and writes it down in short."""

    def __init__(self, after_seq: int | None = None) -> None:
        self.seq = -1 if after_seq is None else after_seq
        self.has_picture = after_seq is not None
        self.words: list[str] = []

    async def send(self, data: bytes) -> None:
        message = pb.WatchSeatResponse.FromString(data)
        update = message.update
        if update.HasField("snapshot"):
            assert not self.has_picture
            assert update.seq >= self.seq
            self.has_picture, self.seq = True, update.seq
            self.words.append(f"picture {update.seq}")
        elif update.HasField("commit"):
            assert self.has_picture
            assert update.seq - len(update.commit.entries) == self.seq
            self.seq = update.seq
            self.words.append(f"to {update.seq}")
        elif update.HasField("closing"):
            self.has_picture = False
            self.words.append("over" if update.closing.reason == OVER else "left")
        else:
            assert message.turn.size == self.seq + 1
            self.words.append("turn")


def picture(seq: int) -> dict[str, Any]:
    return {"update": pb.WatchGameResponse(seq=seq, snapshot=pb.Snapshot())}


def entries(first: int, last: int) -> dict[str, Any]:
    commit = pb.Commit(entries=[b"entry"] * (last - first + 1))
    return {"update": pb.WatchGameResponse(seq=last, commit=commit)}


def end(seq: int, reason: pb.ClosingReason.ValueType) -> dict[str, Any]:
    return {"update": pb.WatchGameResponse(seq=seq, closing=pb.Closing(reason=reason))}


def turn(size: int) -> dict[str, Any]:
    return {"turn": pb.Turn(size=size)}


def together(heard: Heard, after_seq: int | None = None) -> Together:
    return Together(heard, {bytes.fromhex(GAME): after_seq})  # type: ignore[arg-type]


async def say(stream: Together, node_id: int, *messages: dict[str, Any]) -> None:
    for fields in messages:
        await stream.source(node_id).send(pb.WatchSeatResponse(game_id=GAME, **fields).SerializeToString())


async def test_a_node_that_hung_and_wakes_says_nothing_new() -> None:
    stream = together(heard := Heard())
    await say(stream, HERE, picture(20), entries(21, 21))
    await say(stream, ONE, picture(15), entries(16, 16), turn(17), end(16, DRAINING))
    await say(stream, HERE, entries(22, 23), turn(24))
    assert heard.words == ["picture 20", "to 21", "to 23", "turn"]


async def test_a_picture_that_is_as_new_does_not_silence_who_has_the_game() -> None:
    stream = together(heard := Heard())
    await say(stream, HERE, picture(20))
    await say(stream, ONE, picture(20))
    await say(stream, HERE, entries(21, 21))
    assert heard.words == ["picture 20", "left", "picture 20", "to 21"]


async def test_a_game_that_another_node_takes_over_is_begun_anew() -> None:
    """The first node announced that it lets the game go, or died."""
    stream = together(heard := Heard())
    await say(stream, ONE, picture(5), entries(6, 6), end(6, DRAINING))
    await say(stream, TWO, picture(6), entries(7, 8))
    stream.left(TWO)
    await say(stream, HERE, picture(9), end(9, OVER))
    await say(stream, TWO, picture(9), end(9, OVER))
    assert heard.words == ["picture 5", "to 6", "left", "picture 6", "to 8", "left", "picture 9", "over"]


async def test_what_goes_on_after_a_break_needs_no_picture() -> None:
    stream = together(heard := Heard(4), 4)
    assert stream.untold == [bytes.fromhex(GAME)]
    await say(stream, ONE, turn(5), entries(5, 6))
    assert (stream.told, stream.untold) == ({GAME: 6}, [])
    stream.left(ONE)
    assert (stream.told, stream.untold) == ({GAME: 6}, [bytes.fromhex(GAME)])
    await say(stream, TWO, entries(7, 7), turn(8))
    assert heard.words == ["turn", "to 6", "to 7", "turn"]


async def test_who_was_asked_for_a_game_before_it_moved_goes_on_with_it() -> None:
    """The node knows where to begin, and nothing of an end."""
    stream = together(heard := Heard(4), 4)
    await say(stream, ONE, entries(5, 6), end(6, DRAINING))
    assert (stream.has_moved, stream.untold) == (True, [bytes.fromhex(GAME)])
    await say(stream, TWO, entries(5, 6), entries(7, 7), turn(8))
    assert heard.words == ["to 6", "to 7", "turn"]


SAID = st.one_of(
    st.integers(0, 12).map(picture),
    st.tuples(st.integers(0, 12), st.integers(0, 2)).map(lambda each: entries(each[0], each[0] + each[1])),
    st.integers(0, 12).map(turn),
    st.builds(end, st.integers(0, 12), st.sampled_from([DRAINING, OVER])),
)


@given(st.lists(st.tuples(st.integers(HERE, TWO), SAID)), st.one_of(st.none(), st.integers(-1, 5)))
async def test_whatever_nodes_say_what_is_heard_is_one_log(
    said: list[tuple[int, dict[str, Any]]], after_seq: int | None
) -> None:
    stream = together(Heard(after_seq), after_seq)
    for node_id, message in said:
        await say(stream, node_id, message)
