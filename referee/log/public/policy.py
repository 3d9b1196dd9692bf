"""Whom to trust with a log: its key, its witnesses, and how many of them have to have signed (C2SP tlog-policy).

Reads the text and answers questions about names. Checks no signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from referee.log.errors import Code, LogError
from referee.log.note import ED25519, VerifierKey
from referee.log.public.cosignature import check_cosigner

MAX_POLICY_BYTES = 256 * 1024
MAX_DEFINED = 64
"""Logs, witnesses and groups, of each."""
NONE: Final = "none"
_NUMBER = re.compile(r"[1-9][0-9]{0,3}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Peer:
    """A log or a witness: its key, and where it is."""

    key: VerifierKey
    url: str
    """Empty if the policy gives none."""


@dataclass(frozen=True, slots=True)
class _Group:
    needs: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class LogPolicy:
    """A policy file."""

    logs: tuple[Peer, ...]
    witnesses: Mapping[str, Peer]
    """By the names that the policy gives them."""
    quorum: str
    """The name of a witness or a group, or ``none``."""
    _groups: Mapping[str, _Group] = field(default_factory=dict)

    def is_met(self, cosigners: Collection[str]) -> bool:
        """Return whether these witnesses are a quorum."""
        return self.quorum == NONE or self._has(self.quorum, cosigners)

    def _has(self, name: str, cosigners: Collection[str]) -> bool:
        if (group := self._groups.get(name)) is None:
            return name in cosigners
        return sum(self._has(member, cosigners) for member in group.members) >= group.needs

    @property
    def can_split(self) -> bool:
        """Whether two quorums may have no witness in common: then a log can show each of them another list."""
        return self.quorum == NONE or self._is_met_twice(self.quorum)

    def _is_met_twice(self, name: str) -> bool:
        if (group := self._groups.get(name)) is None:
            return False
        # No name is in two groups. A member that can be met twice serves both quorums, any other one of them.
        serve = len(group.members) + sum(map(self._is_met_twice, group.members))
        return 2 * group.needs <= serve

    def log(self, origin: str) -> tuple[VerifierKey, ...]:
        """Return the keys of the log of this origin."""
        return tuple(peer.key for peer in self.logs if peer.key.name == origin)

    @classmethod
    def parse(cls, data: bytes) -> LogPolicy:
        """Read a policy file. Raise ``LogError`` (``NOTE``), which names the line."""
        return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self._logs: list[Peer] = []
        self._witnesses: dict[str, Peer] = {}
        self._groups: dict[str, _Group] = {}
        self._quorum: str | None = None
        self._members: set[str] = set()

    def read(self, data: bytes) -> LogPolicy:
        if len(data) > MAX_POLICY_BYTES:
            raise LogError(Code.NOTE, f"policy of {len(data)} bytes", f"at most {MAX_POLICY_BYTES}")
        # Names are opaque bytes; this is one to one.
        for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
            if any((c < " " and c != "\t") or c == "\x7f" for c in line):
                raise LogError(Code.NOTE, f"line {number}: control character", "tabs and newlines only")
            words = re.split("[ \t]+", line.strip(" \t"))
            if words[0] and not words[0].startswith("#"):
                try:
                    self._line(words)
                except LogError as error:
                    raise LogError(Code.NOTE, f"line {number}: {error.what}", error.expected) from None
        if self._quorum is None:
            raise LogError(Code.NOTE, "no quorum line", "one line: quorum and the name of a witness or group, or none")
        return LogPolicy(tuple(self._logs), self._witnesses, self._quorum, self._groups)

    def _line(self, words: list[str]) -> None:
        lines: dict[str, Callable[[list[str]], None]] = {
            "log": self._log,
            "witness": self._witness,
            "group": self._group,
            "quorum": self._set_quorum,
        }
        if (take := lines.get(words[0])) is None:
            raise _bad(f"{words[0]!r}", "log, witness, group or quorum")
        take(words[1:])

    def _log(self, words: list[str]) -> None:
        if len(words) not in (1, 2):
            raise _bad(f"a log with {len(words)} words", "log VKEY [URL]")
        key = VerifierKey.parse(words[0])
        if key.type != ED25519:
            check_cosigner(key)
        self._fresh(key, [peer.key for peer in self._logs])
        self._logs.append(Peer(key, "".join(words[1:])))

    def _witness(self, words: list[str]) -> None:
        if len(words) not in (2, 3):
            raise _bad(f"a witness with {len(words)} words", "witness NAME VKEY [URL]")
        name = self._new_name(words[0])
        key = VerifierKey.parse(words[1])
        check_cosigner(key)
        self._fresh(key, [peer.key for peer in self._witnesses.values()])
        self._witnesses[name] = Peer(key, "".join(words[2:]))

    def _group(self, words: list[str]) -> None:
        if len(words) < 3:
            raise _bad(f"a group with {len(words)} words", "group NAME all|any|NUMBER MEMBER...")
        name, needs, members = self._new_name(words[0]), words[1], tuple(words[2:])
        for member in members:
            self._known(member)
            if member in self._members:
                raise _bad(f"{member!r} is a member already", "each name in one group, once")
            self._members.add(member)
        number = {"any": 1, "all": len(members)}.get(needs) or (int(needs) if _NUMBER.match(needs) else 0)
        if not 1 <= number <= len(members):
            raise _bad(f"{needs!r} of {len(members)} members", f"all, any, or a number from 1 to {len(members)}")
        self._groups[name] = _Group(number, members)

    def _set_quorum(self, words: list[str]) -> None:
        if len(words) != 1:
            raise _bad(f"a quorum with {len(words)} words", "quorum NAME")
        if self._quorum is not None:
            raise _bad("a second quorum line", "one")
        if words[0] != NONE:
            self._known(words[0])
        self._quorum = words[0]

    def _known(self, name: str) -> None:
        if name not in self._witnesses and name not in self._groups:
            raise _bad(f"{name!r}", "the name of a witness or a group on a line before")

    def _new_name(self, name: str) -> str:
        if name == NONE or name in self._witnesses or name in self._groups:
            raise _bad(f"the name {name!r} is taken", "another name")
        return name

    @staticmethod
    def _fresh(key: VerifierKey, known: list[VerifierKey]) -> None:
        if any(key.key == other.key for other in known):
            raise _bad(f"the key of {key.name} a second time", "each key once")
        if len(known) == MAX_DEFINED:
            raise _bad(f"more than {MAX_DEFINED} of them", f"at most {MAX_DEFINED}")


def _bad(what: str, expected: str) -> LogError:
    return LogError(Code.NOTE, what, expected)
