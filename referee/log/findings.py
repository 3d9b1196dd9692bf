"""Findings of an audit: of each layer the first failure; comments on oddities; and the keys and authors of a game.

Authorship: which keys the seats and officials of a game had, who signed its acts, and whose keys the caller gave."""

from __future__ import annotations

from typing import Final

from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.replay import Keyring
from referee.log.v1 import log_pb2
from referee.log.verdict import Finding, Layer, Policy, SeatStanding
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import Phrase, Said, phrase

_MAX_REMARKS: Final = 20
"""The most remarks of each kind that a file can cause any number of: they must not crowd out the others."""
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970."""


class Findings:
    """Keeps one finding of each layer: the first, but a failure rather than a shortfall."""

    def __init__(self) -> None:
        self.at: tuple[int | None, int | None] = (None, None)
        """Entry and offset of the part that is looked at."""
        self.checked: dict[Layer, int] = {}
        """Entries that the layer was checked for."""
        self._found: dict[Layer, Finding] = {}

    def note(self, error: LogError, layer: Layer | None = None) -> None:
        """Note the error at the place that is being looked at. ``layer``: if it is not that of the error's code."""
        entry, offset = self.at
        finding = Finding.of(error.at(entry=entry, offset=offset), layer)
        known = self._found.get(finding.layer)
        # A failure outweighs a shortfall that the same layer has shown before.
        if known is None or (known.is_shortfall and not finding.is_shortfall):
            self._found[finding.layer] = finding

    def has(self, layer: Layer) -> bool:
        """Return whether there is a finding of the layer."""
        return layer in self._found

    def ordered(self) -> tuple[Finding, ...]:
        """Return the findings, in the order of the layers."""
        return tuple(self._found[layer] for layer in Layer if layer in self._found)


class Comments:
    """Keeps what is odd in a file and no failure: a bounded number of each kind."""

    def __init__(self) -> None:
        self._comments: list[str | Phrase] = []
        self._recoveries: list[Phrase] = []
        self._useless_heads = 0
        self._latest_ms = 0
        self._dated_back = False
        self._dated_ahead = False

    def add(self, comment: str | Phrase) -> None:
        """Add a comment of which there are few."""
        self._comments.append(comment)

    def useless_head(self, comment: Phrase) -> None:
        """Comment on an older checkpoint that proves nothing."""
        self._useless_heads += 1
        if self._useless_heads <= _MAX_REMARKS:
            self._comments.append(comment)

    def dated(self, seq: int, referee_ms: int) -> None:
        """Compare the time of an entry with that of the entry before it."""
        if referee_ms < self._latest_ms and not self._dated_back:
            # A clock may have been set back: odd, not wrong.
            self._dated_back = True
            self._comments.append(phrase("entry {seq} is dated earlier than the entry before it", seq=seq))
        if referee_ms > _LAST_MS and not self._dated_ahead:
            self._dated_ahead = True
            self._comments.append(phrase("entry {seq} is dated later than any clock shows", seq=seq))
        self._latest_ms = referee_ms

    def lost(self, recovered: log_pb2.Recovered, seq: int) -> None:
        """Tell of entries that the referee lost."""
        if recovered.copied_ms:
            what = "entry {seq}: the referee continued from a copy of {when}; entries that it signed later may be lost"
            self._recoveries.append(Phrase(what, {"seq": seq, "when": moment_utc(recovered.copied_ms)}))
            return
        lost = recovered.lost_size - seq
        what = "entry {seq}: the referee lost {n} entries that it had signed, and continued"
        if lost == 1:
            what = "entry {seq}: the referee lost {n} entry that it had signed, and continued"
        self._recoveries.append(Phrase(what, {"seq": seq, "n": lost}))

    def all(self) -> list[str | Phrase]:
        """Return the comments, losses first."""
        # A referee that is not one can write any number of them.
        more = len(self._recoveries) - _MAX_REMARKS
        rest = [phrase("and {n} more losses", n=more)] if more > 0 else []
        return [*self._recoveries[:_MAX_REMARKS], *rest, *self._comments]


_TOGETHER: Final = 256
"""Signatures that are verified in a row. Between them the entries would take a fifth longer: verifying and following
a game drive each other out of the processor's caches."""


_BEFORE_PLAY_1 = frozenset({"join", "end", "disclose", "recovered"})
_BEFORE_PLAY = _BEFORE_PLAY_1 | {"absent", "resign", "protest", "appeal", "rule"}
"""The acts that may come before every seat has joined, by the version of the rules of the table."""


class WrongSignature(Exception):
    """One of the deferred signatures is wrong. Its effect is known only when each is verified before the next entry."""


class Authorship:
    """Follows the keys of a game from its opening on. It notes what is wrong with authors, and comments on the rest."""

    def __init__(
        self, policy: Policy, opened: log_pb2.GameOpen, findings: Findings, comments: Comments, *, defers: bool
    ) -> None:
        """``defers``: signatures are taken for right until some of them are verified together."""
        self._policy = policy
        self._opened = opened
        self._findings = findings
        self._comments = comments
        self.keyring = Keyring(opened, defers=defers)
        self.past_joining = False
        """Something was entered that may only follow when every seat has joined."""
        self._joined_at: dict[int, tuple[int | None, int | None]] = {}
        """Entry and offset of the Join of each seat."""
        self.put_out: set[int] = set()
        """Seats that were absent, or that an arbiter had forfeit."""
        self._check_scribes()
        for seat, expected in policy.seat_keys.items():
            if seat >= len(opened.seats):
                findings.note(
                    LogError(Code.UNTRUSTED_KEY, f"you gave a key for player {seat + 1}, there is none"),
                    Layer.AUTHORS,
                )
            elif opened.seats[seat].scribed:
                # A pinned player signs its own moves; here any scribe could.
                what = f"you gave a key for player {seat + 1}, whose moves a scribe enters"
                findings.note(LogError(Code.UNTRUSTED_KEY, what, expected.hex()), Layer.AUTHORS)

    def entered(self, kind: str) -> None:
        """Note whether seats may still join after an entry. ``kind``: the field that it, or its intent, has."""
        self.past_joining = kind not in (_BEFORE_PLAY if self._opened.terms.table_rules > 1 else _BEFORE_PLAY_1)

    def acted(self, signed: log_pb2.Signed | log_pb2.Refused, intent: log_pb2.Intent, act: str, seq: int) -> None:
        """Check whose act the entry is, and take over the keys that it brings. ``act``: its name."""
        keyring = self.keyring
        try:
            author = keyring.check(signed, intent)
            if act == "join":
                if not keyring.keys_of(author):
                    keyring.join(author.index, intent.join.key, seq)
                    self._joined_at[author.index] = self._findings.at
            else:
                keyring.signed(author, signed.key_id, seq)
                if act == "change_key":
                    self._change_key(author, intent.change_key, seq)
        except LogError as error:
            self._findings.note(error)
        if keyring.deferred >= _TOGETHER:
            self.verify()

    def verify(self) -> None:
        """Raise ``WrongSignature`` unless what was deferred is signed."""
        if not self.keyring.are_signed():
            raise WrongSignature

    def end(self) -> None:
        """Compare the keys with those that the caller gave, after the last entry."""
        self._pinned_seats()
        self._in_two_roles()
        self._never_joined()

    def standings(self) -> tuple[SeatStanding, ...]:
        """Return how the keys of the seats are known."""
        standings = []
        for number, seat in enumerate(self._opened.seats):
            used, pinned = self.keyring.used[number], self._policy.seat_keys.get(number)
            if seat.scribed:
                standings.append(SeatStanding(number, (Said("standing.scribed"),), None))
            elif not used:
                how = Said("standing.never_joined" if pinned else "standing.not_joined")
                standings.append(SeatStanding(number, (how,), None))
            else:
                raw = next((key.raw for _, key in used if key.raw == pinned), used[-1][1].raw)
                standings.append(SeatStanding(number, _standing(self.keyring, number, pinned), raw))
        return tuple(standings)

    def _change_key(self, author: Author, change: log_pb2.ChangeKey, seq: int) -> None:
        """Take over a new key. Whether it may be so is for the rules, which are followed less far than signatures."""
        seat = change.seat if author.role is Role.ARBITER else author.index
        offered = self._opened.terms.table_rules > 1
        if offered and author.role is not Role.SCRIBE and self.keyring.keys_of(Author(Role.SEAT, seat)):
            self.keyring.change(author, change.seat, change.key, seq)

    def _check_scribes(self) -> None:
        for index, expected in self._policy.scribe_keys.items():
            keys = self.keyring.keys_of(Author(Role.SCRIBE, index))
            if not keys or keys[0].raw != expected:
                found = f"key {keys[0].raw.hex()}" if keys else "no key"
                self._findings.note(
                    LogError(Code.UNTRUSTED_KEY, f"scribe {index} with {found}", expected.hex()), Layer.AUTHORS
                )

    def _pinned_seats(self) -> None:
        """Check that a pinned key is one that the seat had; ``standings`` says for which entries it holds."""
        for seat, expected in self._policy.seat_keys.items():
            used = self.keyring.used[seat] if seat < len(self.keyring.used) else []
            if used and all(key.raw != expected for _, key in used):
                self._findings.at = self._joined_at[seat]
                what = f"player {seat + 1} with key {used[0][1].raw.hex()}"
                self._findings.note(LogError(Code.UNTRUSTED_KEY, what, expected.hex()), Layer.AUTHORS)
        self._findings.at = (None, None)

    def _in_two_roles(self) -> None:
        """Comment on players who hold an office in their game, and on one player in several seats."""
        signing = self._policy.verifier.key if self._policy.verifier is not None else None
        for seat, used in enumerate(self.keyring.used):
            # One of each kind tells enough: an arbiter may give a seat any number of keys.
            found: dict[Role | None, Phrase] = {}
            for _, key in used:
                if (office := self.keyring.office_of(key.raw)) is not None:
                    what = phrase("{player} plays with the key of {author}", player=seat, author=office.phrase)
                    found.setdefault(office.role, what)
                if key.raw == signing:
                    found[None] = phrase("{player} plays with the referee's own key", player=seat)
            for comment in found.values():
                self._comments.add(comment)
        seats: dict[bytes, list[str]] = {}
        for number, each in enumerate(self._opened.seats):
            seats.setdefault(each.player, []).append(str(number + 1))
        for player, numbers in seats.items():
            if player and len(numbers) > 1:
                text = "the game was opened with one person as players {numbers}"
                self._comments.add(phrase(text, numbers=", ".join(numbers)))

    def _never_joined(self) -> None:
        """Note whose pinned key the seat never joined with."""
        for seat, expected in sorted(self._policy.seat_keys.items()):
            if (
                seat >= len(self._opened.seats)
                or self._opened.seats[seat].scribed
                or self.keyring.keys_of(Author(Role.SEAT, seat))
            ):
                continue
            what = phrase("{player}, whose key you gave, never joined", player=seat)
            if self.past_joining and seat not in self.put_out:
                self._findings.note(LogError(Code.UNTRUSTED_KEY, what, expected.hex()), Layer.AUTHORS)
            else:
                self._comments.add(what)


def _standing(keyring: Keyring, seat: int, pinned: bytes | None) -> tuple[Said, ...]:
    """Return how the keys of a seat that joined are known, and for which entries the one that was given holds."""
    used = keyring.used[seat]
    number = next((number for number, (_, key) in enumerate(used) if key.raw == pinned), None)
    if number is None:
        changed = ", ".join(str(entry) for entry, _ in used[1:])
        own = Said("standing.self_declared")
        return (own, Said("standing.changed", {"entries": changed})) if changed else (own,)
    entry, key = used[number]
    ended = keyring.ended[seat].get(key)
    first = [Said("standing.from", {"n": entry})] if number else []
    last = [Said("standing.to", {"n": ended - 1})] if ended is not None else []
    return (Said("standing.pinned"), *first, *last)
