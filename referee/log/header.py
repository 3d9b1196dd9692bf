"""The header of a game file: the signed messages, the rules, the writer. Knows no game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from referee.games.game import Rule
from referee.log.errors import Code, LogError, malformed
from referee.log.intent import check_length, check_name
from referee.log.merkle import HASH_BYTES
from referee.log.v1 import log_pb2
from referee.wire import strict

MAX_HEADER_BYTES = 256 * 1024


def build_header(
    rules_id: str, rules_version: int, catalogue: Sequence[Rule], signed_file: Any, producer: str, *others: Any
) -> bytes:
    """Return the exact bytes of Header.

    ``signed_file``: the descriptor of the game's own proto file. ``others``: those of the other messages in the game's
    file.
    """
    header = log_pb2.Header(
        descriptors=descriptor_set(log_pb2.DESCRIPTOR, signed_file, *others),
        rules_id=rules_id,
        rules_version=rules_version,
        rules_hash=rules_hash(catalogue),
        producer=producer,
    )
    return strict.encode(header)


def header_hash(data: bytes) -> bytes:
    return sha256(data).digest()


def decode_header(data: bytes) -> log_pb2.Header:
    """Raise ``LogError``."""
    try:
        header = strict.decode(log_pb2.Header, data, max_bytes=MAX_HEADER_BYTES)
    except strict.MalformedError as error:
        raise malformed(error, "header") from error
    check_length("header", "rules_hash", header.rules_hash, HASH_BYTES)
    check_name("header", "rules_id", header.rules_id)
    return header


def check_header(data: bytes, header: log_pb2.Header, opened: log_pb2.GameOpen) -> None:
    """Raise ``LogError`` unless GameOpen names this header and it describes the messages of the log."""
    if header_hash(data) != opened.header_hash:
        raise LogError(Code.HEADER, f"header {header_hash(data).hex()}", opened.header_hash.hex(), entry=0)
    found = (header.rules_id, header.rules_version)
    expected = (opened.rules_id, opened.rules_version)
    if found != expected:
        raise LogError(Code.HEADER, f"header of rules {found}", f"{expected}, as in GameOpen", entry=0)
    _described(header.descriptors)


def check_descriptors(header: log_pb2.Header, signed_file: Any) -> bool:
    """Return whether the header describes the log's messages and the game's as this installation knows them.

    An earlier version, to which messages, fields or values were only added since, counts as known. Raise ``LogError``
    (``HEADER``) if it does not describe the proto file of the game's signed messages at all.
    """
    return _is_ours(header.descriptors, signed_file)


@lru_cache(maxsize=8)
def _is_ours(descriptors: bytes, signed_file: Any) -> bool:
    """Do what ``check_descriptors`` does. Kept: most files have the same descriptors."""
    described = _described(descriptors)
    if signed_file.name not in described:
        raise LogError(Code.HEADER, "the descriptors lack the game's messages", signed_file.name, entry=0)
    return all(file.name in described and _grew_from(described[file.name], file) for file in _ours(signed_file))


def _grew_from(earlier: FileDescriptorProto, ours: FileDescriptorProto) -> bool:
    """Return whether a file is an earlier one with more messages, fields and values, or the same."""
    if earlier == ours:
        return True
    pruned = FileDescriptorProto()
    pruned.CopyFrom(ours)
    _prune(pruned, earlier)
    return pruned == earlier


def _prune(ours: Any, earlier: Any) -> None:
    """Remove every named part that the earlier description does not have."""
    for field in ours.DESCRIPTOR.fields:
        if field.message_type is None or "name" not in field.message_type.fields_by_name:
            continue
        known = {part.name: part for part in getattr(earlier, field.name)}
        parts = getattr(ours, field.name)
        for place in reversed(range(len(parts))):
            if parts[place].name in known:
                _prune(parts[place], known[parts[place].name])
            else:
                del parts[place]


@cache
def _ours(signed_file: Any) -> tuple[FileDescriptorProto, ...]:
    """Return the files of the log's messages and of the game's, as this installation has them."""
    return tuple(FileDescriptorSet.FromString(descriptor_set(log_pb2.DESCRIPTOR, signed_file)).file)


@lru_cache(maxsize=8)
def _described(descriptors: bytes) -> Mapping[str, FileDescriptorProto]:
    """Return the described files by their names. Raise ``LogError`` (``HEADER``) if they describe no log."""
    try:
        described = FileDescriptorSet.FromString(descriptors).file
    except DecodeError:
        raise LogError(Code.HEADER, "descriptors that cannot be read", "a FileDescriptorSet", entry=0) from None
    found = {file.name: file for file in described}
    if len(found) != len(described):
        raise LogError(Code.HEADER, "two descriptors of one file", "each file once", entry=0)
    if log_pb2.DESCRIPTOR.name not in found:
        raise LogError(Code.HEADER, "the descriptors lack the log's messages", log_pb2.DESCRIPTOR.name, entry=0)
    return found


def rules_hash(catalogue: Sequence[Rule]) -> bytes:
    """Return SHA-256 of the catalogue's canonical text: a line for each rule, by id; fields separated by tabs."""
    rules = sorted(catalogue, key=lambda rule: rule.id)
    lines = [f"{rule.id}\t{rule.kind.value}\t{rule.text}\t{rule.citation}\n" for rule in rules]
    return sha256("".join(lines).encode()).digest()


def descriptor_set(*files: Any) -> bytes:
    """Return a FileDescriptorSet of these proto files and their imports."""
    found: dict[str, FileDescriptorProto] = {}

    def add(file: Any) -> None:
        if file.name not in found:
            for needed in file.dependencies:
                add(needed)
            proto = FileDescriptorProto()
            file.CopyToProto(proto)
            found[file.name] = proto

    for file in files:
        add(file)
    return FileDescriptorSet(file=found.values()).SerializeToString(deterministic=True)
