"""The signed messages as docs/log-format.md has them: every field with its number and type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor

from referee.alhambra.v1 import alhambra_pb2
from referee.event.v1 import event_pb2
from referee.kingdomino.v1 import kingdomino_pb2
from referee.log.v1 import log_pb2
from referee.rollwrite.v1 import rollwrite_pb2

HEADING = "## 12. Messages\n"
FILES: Sequence[FileDescriptor] = tuple(
    module.DESCRIPTOR for module in (log_pb2, alhambra_pb2, event_pb2, kingdomino_pb2, rollwrite_pb2)
)

INTRODUCTION = """\
This section is made from the .proto files by `make docs`. The comments in these files, in
[proto/referee](../proto/referee), explain each field. A field is given as number, name and type. Its tag on the wire is
`number << 3 | wire type`, as a varint:

| type | wire type | value |
|---|---|---|
| `uint32`, `uint64`, `bool`, an enum | 0 | varint |
| `sint32` | 0 | varint of the zigzag form: 0, -1, 1, -2, ... are 0, 1, 2, 3, ... |
| `string`, `bytes`, a message | 2 | length as a varint, then the bytes; *repeated*: one record for each element |
| *repeated* `uint32`, `sint32` or an enum | 2 | packed: length as a varint, then the elements' varints |

*Optional* fields and the members of a oneof have presence (section 3). Enum numbers that are not listed are refused. A
message without fields is zero bytes long. Certificates (frame 0x81) are in `proof.proto` beside each game's messages.
"""


def _type(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        return str(field.message_type.name)
    if field.enum_type is not None:
        return str(field.enum_type.name)
    names = {
        FieldDescriptor.TYPE_UINT32: "uint32",
        FieldDescriptor.TYPE_UINT64: "uint64",
        FieldDescriptor.TYPE_SINT32: "sint32",
        FieldDescriptor.TYPE_BOOL: "bool",
        FieldDescriptor.TYPE_STRING: "string",
        FieldDescriptor.TYPE_BYTES: "bytes",
    }
    return names[field.type]


def _field(field: FieldDescriptor) -> str:
    oneof = field.containing_oneof
    is_alone = oneof is not None and oneof.name.startswith("_")  # how protobuf keeps `optional`
    how = "repeated " if field.is_repeated else "optional " if is_alone else ""
    member = f" (oneof {oneof.name})" if oneof is not None and not is_alone else ""
    return f"{field.number} `{field.name}` {how}{_type(field)}{member}"


def _message(message: Descriptor) -> str:
    fields = sorted(message.fields, key=lambda field: field.number)
    return f"| {message.name} | {', '.join(map(_field, fields)) or 'none'} |"


def _enum(enum: EnumDescriptor) -> str:
    return f"| {enum.name} | {', '.join(f'{value.number} `{value.name}`' for value in enum.values)} |"


def _file(file: FileDescriptor) -> Iterator[str]:
    yield from (f"### {file.package}", "", "| message | fields |", "|---|---|")
    yield from (_message(message) for message in file.message_types_by_name.values())
    yield from ("", "| enum | numbers |", "|---|---|")
    yield from (_enum(enum) for enum in file.enum_types_by_name.values())
    yield ""


def log_format_page(page: str) -> str:
    """Return the page with its last section made anew."""
    above, heading, _ = page.partition(HEADING)
    assert heading, "docs/log-format.md has lost its last heading"
    return above + "\n".join((HEADING, INTRODUCTION, *(line for file in FILES for line in _file(file))))
