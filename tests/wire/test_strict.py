"""Strict decode: the walker is the norm, and the fast path gives its answers on everything we can think of."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.alhambra.v1 import alhambra_pb2
from referee.log.v1 import log_pb2
from referee.wire import strict
from referee.wire.schema import schema_of
from referee.wire.strict import MalformedError
from tests.sizes import campaign
from tests.wire.hostile_bytes import REFUSED, field, varint

CLASSES: list[type[Message]] = [
    log_pb2.Entry,
    log_pb2.Intent,
    log_pb2.GameOpen,
    log_pb2.GameEnd,
    log_pb2.Header,
    log_pb2.End,
    alhambra_pb2.Move,
    alhambra_pb2.Outcome,
    alhambra_pb2.Options,
    alhambra_pb2.Tables,
]


def agree(message_class: type[Message], data: bytes) -> bool:
    """Return True if both accept; fails if they differ."""
    try:
        strict.walk(message_class, data)
        walker = True
    except MalformedError:
        walker = False
    try:
        message = strict.decode(message_class, data)
        fast = True
        assert strict.encode(message) == data
    except MalformedError:
        fast = False
    assert walker == fast, (message_class, data.hex())  # also where decode itself found them to differ
    return fast


ints = st.one_of(
    st.sampled_from([0, 1, 2, 3, 5, 127, 128, 511, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, -1]),
    st.integers(0, 2**64 - 1),
)


@st.composite
def values(draw: st.DrawFn, schema: Any, depth: int = 0) -> bytes:
    """Encodings that are nearly right: each rule is broken now and then."""
    numbers = sorted(schema.fields)
    chosen = draw(st.lists(st.sampled_from(numbers), max_size=5)) if numbers else []
    if draw(st.integers(0, 4)):
        chosen = sorted(chosen) if draw(st.booleans()) else sorted(set(chosen))
    out = b""
    for number in chosen:
        item = schema.fields[number]
        pad = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 0, 1, 3]))
        if item.schema is not None:
            out += field(number, 2, draw(values(item.schema, depth + 1)) if depth < 9 else b"")
        elif item.packed:
            out += field(number, 2, b"".join(varint(v, pad) for v in draw(st.lists(ints, max_size=4))))
        elif item.record_type == 2:
            text = st.sampled_from([b"", b"garden-10-N", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
            out += field(number, 2, draw(st.one_of(text, st.binary(max_size=40))))
        else:
            out += field(number, 0, varint(draw(ints), pad))
        if draw(st.integers(0, 30)) == 0:
            out += field(draw(st.integers(1, 40)), draw(st.sampled_from([0, 2])), b"\x01")
    return out


@pytest.mark.parametrize("message_class", CLASSES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("examples", [20, campaign(400)])
def test_fast_path_and_walker_agree_on_near_misses(examples: int, message_class: type[Message]) -> None:
    @given(values(schema_of(message_class)))
    @settings(max_examples=examples)
    def near_misses(data: bytes) -> None:
        agree(message_class, data)

    near_misses()


@pytest.mark.parametrize("message_class", CLASSES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("examples", [60, campaign(400)])
def test_fast_path_and_walker_agree_on_anything(examples: int, message_class: type[Message]) -> None:
    @given(st.binary(max_size=60))
    @settings(max_examples=examples)
    def anything(data: bytes) -> None:
        agree(message_class, data)

    anything()


SEED = strict.encode(
    log_pb2.GameOpen(
        format_version=1,
        rules_id="toy",
        rules_version=1,
        tables=b"t",
        seats=[log_pb2.Seat(player=bytes(32)), log_pb2.Seat(scribed=True)],
        terms=log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED),
        declared=log_pb2.Declared(scribe=0),
        scribe_keys=[bytes(32)],
        table=0,
        series=log_pb2.Series(id=bytes(16), index=0),
    )
)


@pytest.mark.parametrize("examples", [500, campaign(3_000)])
def test_fast_path_and_walker_agree_on_mutations(examples: int) -> None:
    @given(at=st.integers(0, len(SEED) - 1), new=st.binary(max_size=3), cut=st.integers(0, 3), again=st.integers(0, 9))
    @settings(max_examples=examples)
    def mutations(at: int, new: bytes, cut: int, again: int) -> None:
        agree(log_pb2.GameOpen, SEED[:at] + new + SEED[at + cut :] + SEED[at : at + again])

    mutations()


def test_real_messages_are_accepted() -> None:
    assert agree(log_pb2.GameOpen, SEED)
    assert agree(
        log_pb2.GameEnd, log_pb2.GameEnd(ending=log_pb2.ENDING_RULES, scores=[-3, 0, 7], places=[1]).SerializeToString()
    )
    cell = alhambra_pb2.Cell(x=0, y=-2)
    move = alhambra_pb2.Move(place_tile=alhambra_pb2.PlaceTile(tile="tower-12", cell=cell))
    assert agree(alhambra_pb2.Move, strict.encode(move))


@pytest.mark.parametrize(
    ("name", "message_class", "data", "what", "path", "offset"), REFUSED, ids=[r[0] for r in REFUSED]
)
def test_refusals_name_the_place(
    name: str, message_class: type[Message], data: bytes, what: str, path: str, offset: int
) -> None:
    with pytest.raises(MalformedError) as caught:
        strict.decode(message_class, data)
    error = caught.value
    assert error.what.startswith(what)
    assert (error.path, error.offset) == (path, offset)
    assert error.expected
    assert str(error).startswith(error.where)


def test_limits_hold_exactly() -> None:
    assert agree(log_pb2.GameOpen, field(6, 2, b"") * 512)
    assert agree(log_pb2.GameEnd, field(2, 2, b"\x02" * 512))
    body = field(5, 2, bytes(16 * 1024 - 3))
    assert len(body) == 16 * 1024
    assert agree(log_pb2.GameOpen, body)


def test_too_deep_is_refused() -> None:
    """No signed message nests that deep, so a recursive one of protobuf's own stands in."""
    from google.protobuf.struct_pb2 import Value

    with pytest.raises(TypeError, match="maps, floats"):
        schema_of(Value)
    schema = schema_of(log_pb2.Entry)
    assert schema.bounded


def test_nesting_limit_of_the_walker() -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="tests/deep.proto", package="tests.deep", syntax="proto3")
    file.message_type.add(name="Deep").field.add(name="inner", number=1, type=11, label=1, type_name=".tests.deep.Deep")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    deep = message_factory.GetMessageClass(pool.FindMessageTypeByName("tests.deep.Deep"))
    data = b""
    for _ in range(7):
        data = field(1, 2, data)
    assert agree(deep, data)
    data = field(1, 2, data)
    assert not agree(deep, data)
    with pytest.raises(MalformedError, match="nested too deep"):
        strict.decode(deep, data)
