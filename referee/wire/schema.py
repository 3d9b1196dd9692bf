"""The data on a message type that strict decode needs, made once for each: its fields, and checks for values.

Knows protobuf's descriptors, and no message in particular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from referee.wire.checks import Check, all_in, at_most, every, is_in, on_elements, on_member, on_submessage

MAX_NESTING = 8
"""Messages inside each other; the outermost is the first."""
MAX_REPEATED = 512
"""Elements of one repeated field of one message."""

VARINT, I64, LEN, I32 = 0, 1, 2, 5
_F = FieldDescriptor
WIRE_TYPES = {
    _F.TYPE_INT32: VARINT,
    _F.TYPE_INT64: VARINT,
    _F.TYPE_UINT32: VARINT,
    _F.TYPE_UINT64: VARINT,
    _F.TYPE_SINT32: VARINT,
    _F.TYPE_SINT64: VARINT,
    _F.TYPE_BOOL: VARINT,
    _F.TYPE_ENUM: VARINT,
    _F.TYPE_FIXED32: I32,
    _F.TYPE_SFIXED32: I32,
    _F.TYPE_FIXED64: I64,
    _F.TYPE_SFIXED64: I64,
    _F.TYPE_STRING: LEN,
    _F.TYPE_BYTES: LEN,
    _F.TYPE_MESSAGE: LEN,
}


@dataclass(slots=True)
class Field:
    name: str
    type: int
    record_type: int
    unpacked: bool
    """Repeated, one record for each element."""
    packed: bool
    """Repeated, one record for all elements."""
    implicit: bool
    """No presence of its own: absent is the default."""
    oneof: str | None
    schema: Schema | None
    numbers: frozenset[int] | None


@dataclass(slots=True)
class Schema:
    message_class: type[Message]
    fields: dict[int, Field]
    bounded: bool = False
    """No data can nest deeper than allowed."""
    enums: Check | None = None
    counts: Check | None = None


_schemas: dict[Descriptor, Schema] = {}


def schema_of(message_class: type[Message]) -> Schema:
    """Return the schema. Raise ``TypeError`` if the type holds what signed messages must not hold."""
    # The stubs know two descriptor classes and disagree about which one is meant.
    descriptor: Any = message_class.DESCRIPTOR
    if descriptor not in _schemas:
        added: dict[Descriptor, Schema] = {}
        _add_fields(descriptor, added)
        for schema in added.values():
            schema.bounded = _height(schema, ()) <= MAX_NESTING
        for schema in added.values():
            if schema.bounded:
                schema.enums = _enum_check(schema)
                schema.counts = _count_check(schema)
        _schemas.update(added)  # last: a schema that is found is complete
    return _schemas[descriptor]


def _add_fields(descriptor: Descriptor, added: dict[Descriptor, Schema]) -> Schema:
    if (known := added.get(descriptor) or _schemas.get(descriptor)) is not None:
        return known
    file = FileDescriptorProto()
    descriptor.file.CopyToProto(file)
    if file.syntax != "proto3":
        raise TypeError(f"{descriptor.full_name}: strict decode is for proto3")
    schema = added[descriptor] = Schema(GetMessageClass(descriptor), {})
    for field in descriptor.fields:
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map or field.type not in WIRE_TYPES:
            raise TypeError(f"{field.full_name}: maps, floats and groups are not for signed messages")
        scalar = WIRE_TYPES[field.type] != LEN
        if field.is_repeated and scalar and not field.is_packed:
            raise TypeError(f"{field.full_name}: repeated scalars are packed in signed messages")
        oneof = field.containing_oneof
        schema.fields[field.number] = Field(
            name=field.name,
            type=field.type,
            record_type=LEN if field.is_repeated else WIRE_TYPES[field.type],
            unpacked=field.is_repeated and not scalar,
            packed=field.is_repeated and scalar,
            implicit=(field.is_repeated and scalar) or not (field.is_repeated or field.has_presence),
            oneof=None if oneof is None else oneof.name,
            schema=_add_fields(field.message_type, added) if field.message_type else None,
            numbers=frozenset(v.number for v in field.enum_type.values) if field.enum_type else None,
        )
    return schema


def _height(schema: Schema, above: tuple[Schema, ...]) -> int:
    if any(schema is one for one in above):
        return MAX_NESTING + 1
    inner = [_height(f.schema, (*above, schema)) for f in schema.fields.values() if f.schema is not None]
    return 1 + max(inner, default=0)


def _enum_check(schema: Schema) -> Check | None:
    """Return a check that every enum has a number that the schema names: the library keeps unknown ones."""
    return _all_of(schema, _enum_check, _field_enum_check)


def _count_check(schema: Schema) -> Check | None:
    """Return a check that no repeated field has too many elements."""
    return _all_of(schema, _count_check, _field_count_check)


def _all_of(
    schema: Schema, inner_check: Callable[[Schema], Check | None], own: Callable[[Field], Check | None]
) -> Check | None:
    checks: list[Check] = []
    members: dict[str, dict[str, Check]] = {}
    for field in schema.fields.values():
        if (check := own(field)) is not None:
            checks.append(check)
        if field.schema is None or (inner := inner_check(field.schema)) is None:
            continue
        if field.unpacked:
            checks.append(on_elements(field.name, inner))
        elif field.oneof is not None:
            members.setdefault(field.oneof, {})[field.name] = inner
        else:
            checks.append(on_submessage(field.name, inner))
    checks += [on_member(schema.message_class.WhichOneof, oneof, inners) for oneof, inners in members.items()]
    return every(checks)


def _field_enum_check(field: Field) -> Check | None:
    name, numbers = field.name, field.numbers
    if numbers is None:
        return None
    return all_in(name, numbers) if field.packed else is_in(name, numbers)


def _field_count_check(field: Field) -> Check | None:
    name = field.name
    if not (field.packed or field.unpacked):
        return None
    return at_most(name, MAX_REPEATED)
