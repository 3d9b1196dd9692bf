"""A verifier can be written from docs/log-format.md alone: the page has every signed message, field and number.

The expectation is read from the .proto files as text, and not from what the generator of the page uses.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from tests.docs.shell import ROOT

PAGE = (ROOT / "docs" / "log-format.md").read_text(encoding="utf-8")
GAMES = ("alhambra", "kingdomino", "rollwrite")
SIGNED = {
    "referee.log.v1": ROOT / "proto/referee/log/v1/log.proto",
    **{f"referee.{game}.v1": ROOT / f"proto/referee/{game}/v1/{game}.proto" for game in GAMES},
}


class Member(NamedTuple):
    """A field, or a number of an enum (without type)."""

    number: int
    name: str
    type: str


def in_proto(text: str) -> dict[str, set[Member]]:
    """Return the messages and enums of a .proto file, by name; a line has one member."""
    found: dict[str, set[Member]] = {}
    kind, name, oneof = "", "", ""
    for line in re.sub(r"\s*//.*", "", text).splitlines():
        words = line.strip()
        if begun := re.fullmatch(r"(message|enum) (\w+) \{(\})?", words):
            kind, name = begun[1], begun[2]
            found[name] = set()
        elif begun := re.fullmatch(r"oneof (\w+) \{", words):
            oneof = f" (oneof {begun[1]})"
        elif words == "}":
            oneof = ""
        elif kind == "enum" and (value := re.fullmatch(r"(\w+) = (\d+);", words)):
            found[name].add(Member(int(value[2]), value[1], ""))
        elif field := re.fullmatch(r"((?:optional |repeated )?\w+) (\w+) = (\d+);", words):
            found[name].add(Member(int(field[3]), field[2], field[1] + oneof))
    return found


def on_page(package: str) -> dict[str, set[Member]]:
    """Return what the page says of the package's messages and enums."""
    section = PAGE.split(f"\n### {package}\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", section, re.MULTILINE)
    member = re.compile(r"(\d+) `(\w+)`(?: ([^,]+))?")
    return {
        name: {Member(int(number), field, kind) for number, field, kind in member.findall(members)}
        for name, members in rows
        if name not in {"message", "enum"}
    }


@pytest.mark.parametrize("package", SIGNED)
def test_every_field_is_on_the_page_with_its_number_and_type(package: str) -> None:
    expected = in_proto(SIGNED[package].read_text(encoding="utf-8"))
    assert len(expected) > 10
    assert on_page(package) == expected


def test_the_proto_files_are_read_as_a_person_reads_them() -> None:
    proto = in_proto(SIGNED["referee.log.v1"].read_text(encoding="utf-8"))
    assert Member(6, "seats", "repeated Seat") in proto["GameOpen"]
    assert Member(9, "declared", "Declared (oneof chance)") in proto["GameOpen"]
    assert Member(1, "seat", "optional uint32") in proto["Resign"]
    assert Member(2, "places", "repeated uint32") in proto["Adjudicate"]
    assert Member(11, "ENDING_CRASHED", "") in proto["Ending"]
    assert proto["Void"] == set()
