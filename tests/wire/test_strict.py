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


def varint(value: int, pad: int = 0) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    for _ in range(pad):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def field(number: int, wire_type: int, payload: bytes) -> bytes:
    body = varint(len(payload)) + payload if wire_type == 2 else payload
    return varint(number << 3 | wire_type) + body


def agree(message_class: type[Message], data: bytes) -> bool:
    """Whether both accept; fails if they differ."""
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
@pytest.mark.parametrize("examples", [40, campaign(400)])
def test_fast_path_and_walker_agree_on_near_misses(examples: int, message_class: type[Message]) -> None:
    @given(values(schema_of(message_class)))
    @settings(max_examples=examples)
    def near_misses(data: bytes) -> None:
        agree(message_class, data)

    near_misses()


@pytest.mark.parametrize("message_class", CLASSES, ids=lambda c: c.__name__)
@given(data=st.binary(max_size=60))
@settings(max_examples=200)
def test_fast_path_and_walker_agree_on_anything(message_class: type[Message], data: bytes) -> None:
    agree(message_class, data)


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


@given(at=st.integers(0, len(SEED) - 1), new=st.binary(max_size=3), cut=st.integers(0, 3), again=st.integers(0, 9))
@settings(max_examples=1500)
def test_fast_path_and_walker_agree_on_mutations(at: int, new: bytes, cut: int, again: int) -> None:
    agree(log_pb2.GameOpen, SEED[:at] + new + SEED[at + cut :] + SEED[at : at + again])


def test_real_messages_are_accepted() -> None:
    assert agree(log_pb2.GameOpen, SEED)
    assert agree(
        log_pb2.GameEnd, log_pb2.GameEnd(ending=log_pb2.ENDING_RULES, scores=[-3, 0, 7], places=[1]).SerializeToString()
    )
    cell = alhambra_pb2.Cell(x=0, y=-2)
    move = alhambra_pb2.Move(place_tile=alhambra_pb2.PlaceTile(tile="tower-12", cell=cell))
    assert agree(alhambra_pb2.Move, strict.encode(move))


C = log_pb2
REFUSED: list[tuple[str, type[Message], bytes, str, str, int]] = [
    ("unknown field", C.End, field(9, 0, b"\x01"), "unknown field 9", "", 0),
    ("unknown inside", C.Entry, field(13, 2, field(7, 0, b"\x01")), "unknown field 7", "timeout", 2),
    ("field 0", C.End, b"\x00\x01", "unknown field 0", "", 0),
    ("twice", C.End, b"\x08\x01\x08\x01", "field given twice", "count", 2),
    ("message twice", C.GameOpen, field(7, 2, b"") * 2, "field given twice", "terms", 2),
    ("order", C.End, field(2, 2, b"h") + b"\x08\x01", "field out of order", "count", 3),
    ("long varint", C.End, b"\x08\x81\x00", "over-long varint", "count", 1),
    ("long tag", C.End, b"\x88\x00\x01", "over-long varint", "", 0),
    ("long length", C.Declared, b"\x08\x80\x00", "over-long varint", "scribe", 1),
    ("endless varint", C.End, b"\x08" + b"\xff" * 10 + b"\x01", "varint of more than 10 bytes", "count", 1),
    ("65 bits", C.Entry, b"\x20" + b"\xff" * 9 + b"\x02", "value", "referee_ms", 1),
    ("33 bits", C.End, b"\x08\x80\x80\x80\x80\x10", "value 4294967296", "count", 1),
    ("explicit zero", C.End, b"\x08\x00", "explicit zero", "count", 1),
    ("explicit empty", C.End, b"\x12\x00", "explicit empty value", "frames_hash", 1),
    ("empty packed", C.GameEnd, b"\x12\x00", "explicit empty value", "scores", 1),
    ("unpacked", C.GameEnd, b"\x10\x02", "wire type 0", "scores", 0),
    ("packed twice", C.GameEnd, b"\x12\x01\x02\x12\x01\x02", "field given twice", "scores", 3),
    ("packed long", C.GameEnd, b"\x12\x02\x82\x00", "over-long varint", "scores[0]", 2),
    ("packed 33 bits", C.GameEnd, b"\x1a\x05\x80\x80\x80\x80\x10", "value 4294967296", "places[0]", 2),
    ("two members", C.Entry, field(10, 2, b"") + field(13, 2, b""), "also signed is set", "timeout", 2),
    ("bool 2", C.Seat, b"\x10\x02", "value 2", "scribed", 1),
    ("enum", C.GameEnd, b"\x08\x63", "unknown enum number 99", "ending", 1),
    ("enum below int32", C.GameEnd, b"\x08" + varint(-(2**31) - 1), "value -2147483649", "ending", 1),
    ("negative enum", C.GameEnd, b"\x08" + varint(-1), "unknown enum number -1", "ending", 1),
    ("group", C.Entry, b"\x6b\x6c", "wire type 3", "timeout", 0),
    ("end group", C.Entry, b"\x6c", "wire type 4", "timeout", 0),
    ("wire type 7", C.Entry, b"\x6f", "wire type 7", "timeout", 0),
    ("cut", C.End, b"\x12\x05ab", "5 bytes announced, 2 left", "frames_hash", 1),
    ("cut varint", C.End, b"\x08\x80", "varint cut off", "count", 1),
    ("UTF-8", C.GameOpen, field(2, 2, b"a\xff"), "not UTF-8", "rules_id", 3),
    ("surrogate", C.GameOpen, field(2, 2, b"\xed\xa0\x80"), "not UTF-8", "rules_id", 2),
    ("513 seats", C.GameOpen, field(6, 2, b"") * 513, "too many elements", "seats", 1024),
    ("513 scores", C.GameEnd, field(2, 2, b"\x02" * 513), "too many elements", "scores", 515),
    ("too long", C.GameOpen, field(5, 2, bytes(16 * 1024)), "16388 bytes", "", 0),
]


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
