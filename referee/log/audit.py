"""The auditor: reads one game file and says what it proves. Offline; trusts the caller's policy and nothing else.

A visitor of the one reader. Every layer is followed as far as it goes, and the first failure of each is kept.
"""

from __future__ import annotations

from typing import BinaryIO, Final

from referee.games.results import Contest
from referee.log import file
from referee.log.certificates import Proofs
from referee.log.deck import SEED_BYTES
from referee.log.engines import Engines, installed
from referee.log.entry import NO_ENTRY, Clock, clock_of, decode_entry, decode_open, event_name
from referee.log.errors import Code, LogError
from referee.log.events import Author, Opened, Role
from referee.log.file import Frame, FrameType
from referee.log.game import LoggedGame, Phase
from referee.log.header import check_descriptors, check_header, decode_header, rules_hash
from referee.log.heads import Heads, Loss, check_head
from referee.log.identity import game_id
from referee.log.intent import Place, act_name, decode_intent
from referee.log.judge import judge, take
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, Note, open_checkpoint
from referee.log.reading import read_entry
from referee.log.remarks import WITH_WORDS, Remarks, committed
from referee.log.replay import Keyring, check_link, digest_differs, signed_part_of
from referee.log.v1 import log_pb2
from referee.log.verdict import (
    CertificateReport,
    Finding,
    Layer,
    Policy,
    Report,
    SeatStanding,
)
from referee.text.notation.options import chosen
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import Phrase, Said, phrase

_MAX_REMARKS = 20
"""On older checkpoints."""
_DISCLOSE = b"\x82\x01\x22\x0a\x20"
"""What stands before r at the end of a SeedDisclose entry: the tags and lengths of its last field."""
_TAG_AT = -len(_DISCLOSE) - SEED_BYTES
"""Where it stands."""
# Of an enumeration a member is found as slowly as a method is called, and these are asked for with every entry.
_ENTRY: Final = int(FrameType.ENTRY)
_CERTIFICATE: Final = int(FrameType.CERTIFICATE)
_DECODE: Final = Layer.DECODE
_CHAIN: Final = Layer.CHAIN
_AUTHORS: Final = Layer.AUTHORS
_RULES: Final = Layer.RULES

_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970."""
_TOGETHER: Final = 256
"""Signatures that are verified in a row. Between them the entries would take a fifth longer: verifying and following
a game drive each other out of the processor's caches."""


class _WrongSignature(Exception):
    """One of the signatures that were deferred. What comes of it is seen by verifying each before going on."""


def audit(stream: BinaryIO, policy: Policy, *, engines: Engines | None = None) -> Report:
    """Audit a file and return what it proves. ``stream`` is seekable, at the file's beginning.

    Raise ``LogError`` only if a receipt of the policy itself is not a checkpoint that the verifier key signed.
    """
    engines = engines or installed()
    readings = file.Readings(stream)
    secret, has_proofs, is_whole = _look_ahead(readings)
    if is_whole and not has_proofs:  # these cost too much to be checked again
        try:
            return _audited(readings, _Auditor(policy, engines, secret, has_proofs, defers=True))
        except _WrongSignature:
            pass
    return _audited(readings, _Auditor(policy, engines, secret, has_proofs))


def _audited(readings: file.Readings, auditor: _Auditor) -> Report:
    """Return the report. Raise ``_WrongSignature`` if the auditor defers signatures and one is wrong."""
    try:
        for frame in readings.frames():
            auditor.visit(frame)
    except LogError as error:
        auditor.note(error.at(entry=auditor.tree.size))
    return auditor.report()


def _look_ahead(readings: file.Readings) -> tuple[bytes | None, bool, bool]:
    """Return r, if the file discloses it, whether there are certificates, and whether that holds to the file's end."""
    # r comes last but is needed from the first draw on. Whether it is the right one is checked at its entry.
    # What the reader refuses ends this look as it ends the audit, so a file of garbage costs little.
    secret, has_proofs = None, False
    try:
        for kind, data, _ in readings.frames():
            if kind == _CERTIFICATE:
                has_proofs = True
            elif kind == _ENTRY and data[_TAG_AT:-SEED_BYTES] == _DISCLOSE and secret is None:
                entry = decode_entry(data)
                if entry.HasField("disclose"):
                    secret = entry.disclose.seed
    except LogError:
        return secret, has_proofs, False
    return secret, has_proofs, True


_BEFORE_PLAY_1 = frozenset({"join", "end", "disclose", "recovered"})
_BEFORE_PLAY = _BEFORE_PLAY_1 | {"absent", "resign", "protest", "appeal", "rule"}
"""What may come before every seat has joined, by the version of the rules of the table."""


class _Auditor:
    def __init__(
        self, policy: Policy, engines: Engines, secret: bytes | None, has_proofs: bool, *, defers: bool = False
    ) -> None:
        """``defers``: signatures are taken for right until some of them are verified together."""
        self.policy = policy
        self.defers = defers
        self.engines = engines
        self.secret = secret
        """r, if the file discloses it."""
        self.has_proofs = has_proofs
        self.proofs: Proofs | None = None
        """None: none are asked for, or nothing is known that could be proved."""
        self.words = Remarks()
        self.tree = Tree()
        self.head = NO_ENTRY
        self.place = Place(b"", 0, NO_ENTRY)
        """The place of the entry at hand, by the entries before it."""
        self.identity: bytes | None = None
        self.opened: log_pb2.GameOpen | None = None
        self.keyring: Keyring | None = None
        self.game: LoggedGame | None = None
        self.is_later = False
        """Of a later version of the format, or of the rules of the table: what cannot be read of it is no failure."""
        self.following = False
        """The game is still being followed; otherwise it stands where it could not go on."""
        self.latest_ms = 0
        self.dated_back = False
        self.dated_ahead = False
        self.past_joining = False
        """Something was entered that may only follow when every seat has joined."""
        self.joined_at: dict[int, tuple[int | None, int | None]] = {}
        """Entry and offset of the Join of each seat."""
        self.put_out: set[int] = set()
        """Seats that were absent, or that an arbiter had forfeit."""
        self.header: Frame | None = None
        self.final: Frame | None = None
        self.ended = False
        self.at: tuple[int | None, int | None] = (None, None)
        """Entry and offset of what is being looked at."""
        self.findings: dict[Layer, Finding] = {}
        self.checked: dict[Layer, int] = {}
        self.comments: list[str | Phrase] = []
        self.recoveries: list[Phrase] = []
        self.most: int | None = None
        """Entries that the game can have, once its end is there."""
        self.useless_heads = 0
        self.heads = Heads(policy.verifier, policy.receipts, policy.logged)

    def note(self, error: LogError, layer: Layer | None = None) -> None:
        entry, offset = self.at
        finding = Finding.of(error.at(entry=entry, offset=offset), layer)
        known = self.findings.get(finding.layer)
        # A failure outweighs a shortfall that the same layer has shown before.
        if known is None or (known.is_shortfall and not finding.is_shortfall):
            self.findings[finding.layer] = finding

    # --- frames and entries ------------------------------------------------------------------------------

    def visit(self, frame: Frame) -> None:
        if frame.type == _ENTRY:
            self.at = (self.tree.size, frame.offset)
            self._entry(frame.payload)
            self.head = leaf_hash(frame.payload)
            self.tree.append(self.head)
            self.heads.grown(self.tree)
            if self.proofs is not None:
                self.proofs.entered(self.tree.size - 1, self.head)
            self.at = (None, None)
        elif frame.type == FrameType.HEADER:
            self.header = frame
        elif frame.type == FrameType.CHECKPOINT:
            self.final = frame
        elif frame.type == FrameType.END:
            self.ended = True
        elif frame.type == FrameType.CERTIFICATE and self.proofs is not None:
            self.proofs.seen(frame, self.tree.size)
        elif frame.type == FrameType.REMARK:
            self.words.seen(frame)
        elif frame.type == FrameType.OLD_CHECKPOINT and (comment := self.heads.seen(frame, self.tree)):
            # A file can cause any number of these; they must not crowd out the others.
            self.useless_heads += 1
            if self.useless_heads <= _MAX_REMARKS:
                self.comments.append(comment)

    def _entry(self, data: bytes) -> None:
        try:
            entry = decode_entry(data)
        except LogError as error:
            self.following = False
            if not self.is_later:
                self.note(error)
            return
        seq, event = self.tree.size, event_name(entry)
        self.checked[_DECODE] = seq + 1
        if seq == 0:
            try:
                self._open(entry)
            except LogError as error:
                self.following = False
                self.note(error)
        self.checked[_CHAIN] = seq + 1
        self.place = Place(self.identity or b"", seq, self.head)
        self._link("entry", entry)
        if event == "recovered":
            self._loss(entry.recovered, seq)
        if event == "end":
            self.most = seq + 1 + self._is_dealt()  # the disclosure may follow
        clock = clock_of(entry)
        if clock.referee_ms < self.latest_ms and not self.dated_back:
            # A clock may have been set back: odd, not wrong.
            self.dated_back = True
            self.comments.append(phrase("entry {seq} is dated earlier than the entry before it", seq=seq))
        if clock.referee_ms > _LAST_MS and not self.dated_ahead:
            self.dated_ahead = True
            self.comments.append(phrase("entry {seq} is dated later than any clock shows", seq=seq))
        self.latest_ms = clock.referee_ms
        if seq > 0:
            self._event(entry, event, clock)
        elif self.game is not None and self.following and entry.state_digest != self.game.position.digest():
            self.following = False
            self.note(digest_differs(entry.state_digest, self.game.position.digest()))

    def _loss(self, recovered: log_pb2.Recovered, seq: int) -> None:
        self.heads.losses.add(Loss(seq, recovered.lost_size, recovered.lost_root))
        if recovered.copied_ms:
            what = "entry {seq}: the referee went on from a copy of {when}; entries that it signed later may be lost"
            self.recoveries.append(Phrase(what, {"seq": seq, "when": moment_utc(recovered.copied_ms)}))
            return
        lost = recovered.lost_size - seq
        what = "entry {seq}: the referee lost {n} entries that it had signed, and went on"
        if lost == 1:
            what = "entry {seq}: the referee lost {n} entry that it had signed, and went on"
        self.recoveries.append(Phrase(what, {"seq": seq, "n": lost}))

    def _is_dealt(self) -> bool:
        return self.opened is not None and self.opened.WhichOneof("chance") == "dealt"

    def _open(self, entry: log_pb2.Entry) -> None:
        """Raise ``LogError``."""
        self.identity = game_id(entry.open)
        if not entry.HasField("open"):
            raise LogError(Code.NOT_AWAITED, "entry 0 does not open the game", "GameOpen")
        try:
            opened = decode_open(entry.open)
        except LogError as error:
            self.is_later = error.code is Code.UNSUPPORTED
            raise
        self.opened = opened
        self._check_header(opened)
        self.keyring = Keyring(opened, defers=self.defers)
        self._check_scribes(self.keyring)
        for seat, expected in self.policy.seat_keys.items():
            if seat >= len(opened.seats):
                self.note(
                    LogError(Code.UNTRUSTED_KEY, f"the game has no seat {seat}, whose key you gave"), Layer.AUTHORS
                )
            elif opened.seats[seat].scribed:
                # A pinned player signs its own moves; here any scribe could.
                what = f"seat {seat}, whose key you gave, is scribed"
                self.note(LogError(Code.UNTRUSTED_KEY, what, expected.hex()), Layer.AUTHORS)
        game = LoggedGame(opened, self.identity, self.engines, secret=self.secret)
        take(game, Opened(entry.open), 0, clock_of(entry))
        self.game = game
        provable = self.engines.provable(opened.rules_id, opened.rules_version)
        if provable is not None and (self.has_proofs or opened.terms.proofs):
            self.proofs = Proofs(provable, opened.terms.proofs)
        self.following = True
        self.checked[Layer.RULES] = self.checked[Layer.AUTHORS] = 1

    def _check_header(self, opened: log_pb2.GameOpen) -> None:
        if self.header is None:
            return
        try:
            header = decode_header(self.header.payload)
            check_header(self.header.payload, header, opened)
            try:
                game, codec = self.engines.get(opened.rules_id, opened.rules_version)
            except LogError:
                return
            same = check_descriptors(header, codec.signed_file())
        except LogError as error:
            self.note(error.at(offset=self.header.offset))
            return
        if not same:
            what = "the file describes the signed messages differently from this installation"
            self.comments.append(phrase(what))
        if header.rules_hash != rules_hash(game.catalogue):
            what = "the rule catalogue of this installation differs from the one that the game names"
            self.comments.append(phrase(what))

    def _link(self, thing: str, found: log_pb2.Entry | log_pb2.Intent) -> None:
        try:
            check_link(thing, found, self.place)
        except LogError as error:
            self.note(error)

    def _event(self, entry: log_pb2.Entry, event: str, clock: Clock) -> None:
        """``event``: the field that holds it."""
        if self.keyring is not None:
            self.checked[_AUTHORS] = self.tree.size + 1
        intent = None
        if (signed := signed_part_of(entry, event)) is None:
            if not self.past_joining:
                self._past_joining(event)
            if event == "absent":
                self.put_out.add(entry.absent.seat)
        else:
            try:
                intent = decode_intent(signed.intent)
            except LogError as error:
                self.following = False
                if not self.is_later:
                    self.note(error)
                return
            act = act_name(intent)
            if not self.past_joining:
                self._past_joining(act)
            if act == "rule" and intent.rule.HasField("forfeit"):
                self.put_out.add(intent.rule.forfeit.seat)
            if act in WITH_WORDS and event == "signed":
                self.words.entered(self.tree.size, committed(intent))
            self._link("intent", intent)
            if self.keyring is not None:
                self._author(self.keyring, signed, intent, act)
        if self.following and self.game is not None:
            self._rules(self.game, entry, event, intent, clock)

    def _past_joining(self, kind: str) -> None:
        """Note what the field says that an entry or an intent has."""
        version = self.opened.terms.table_rules if self.opened is not None else 0
        self.past_joining = kind not in (_BEFORE_PLAY if version > 1 else _BEFORE_PLAY_1)

    def _author(
        self, keyring: Keyring, signed: log_pb2.Signed | log_pb2.Refused, intent: log_pb2.Intent, act: str
    ) -> None:
        try:
            author, seq = keyring.check(signed, intent), self.tree.size
            if act == "join":
                if not keyring.keys_of(author):
                    keyring.join(author.index, intent.join.key, seq)
                    self.joined_at[author.index] = self.at
            else:
                keyring.signed(author, signed.key_id, seq)
                if act == "change_key":
                    self._change_key(keyring, author, intent.change_key, seq)
        except LogError as error:
            self.note(error)
        if keyring.deferred >= _TOGETHER:
            self._verify()

    def _verify(self) -> None:
        """Raise ``_WrongSignature`` unless what was deferred is signed."""
        if self.keyring is not None and not self.keyring.are_signed():
            raise _WrongSignature

    def _change_key(self, keyring: Keyring, author: Author, change: log_pb2.ChangeKey, seq: int) -> None:
        """Whether it may be so is for the rules to judge, which are followed less far than signatures."""
        seat = change.seat if author.role is Role.ARBITER else author.index
        offered = self.opened is not None and self.opened.terms.table_rules > 1
        if offered and author.role is not Role.SCRIBE and keyring.keys_of(Author(Role.SEAT, seat)):
            keyring.change(author, change.seat, change.key, seq)

    def _check_scribes(self, keyring: Keyring) -> None:
        for index, expected in self.policy.scribe_keys.items():
            keys = keyring.keys_of(Author(Role.SCRIBE, index))
            if not keys or keys[0].raw != expected:
                found = f"key {keys[0].raw.hex()}" if keys else "no key"
                self.note(LogError(Code.UNTRUSTED_KEY, f"scribe {index} with {found}", expected.hex()), Layer.AUTHORS)

    def _pinned_seats(self) -> None:
        """A pinned key has to be one that the seat had; where it was changed, what it holds for is said."""
        if self.keyring is None:
            return
        for seat, expected in self.policy.seat_keys.items():
            used = self.keyring.used[seat] if seat < len(self.keyring.used) else []
            if used and all(key.raw != expected for _, key in used):
                self.at = self.joined_at[seat]
                what = f"seat {seat} with key {used[0][1].raw.hex()}"
                self.note(LogError(Code.UNTRUSTED_KEY, what, expected.hex()), Layer.AUTHORS)
        self.at = (None, None)

    def _in_two_roles(self) -> None:
        """Comment on players who hold an office in their game, and on one player in several seats."""
        if self.keyring is None or self.opened is None:
            return
        signing = self.policy.verifier.key if self.policy.verifier is not None else None
        for seat, used in enumerate(self.keyring.used):
            # One of each kind tells enough: an arbiter may give a seat any number of keys.
            found: dict[Role | None, Phrase] = {}
            for _, key in used:
                if (office := self.keyring.office_of(key.raw)) is not None:
                    what = phrase("seat {seat} plays with the key of {author}", seat=seat, author=office.phrase)
                    found.setdefault(office.role, what)
                if key.raw == signing:
                    found[None] = phrase("seat {seat} plays with the referee's own key", seat=seat)
            self.comments += found.values()
        seats: dict[bytes, list[str]] = {}
        for number, each in enumerate(self.opened.seats):
            seats.setdefault(each.player, []).append(str(number))
        for player, numbers in seats.items():
            if player and len(numbers) > 1:
                text = "the game was opened with one player for seats {seats}"
                self.comments.append(phrase(text, seats=", ".join(numbers)))

    def _rules(
        self, game: LoggedGame, entry: log_pb2.Entry, kind: str, intent: log_pb2.Intent | None, clock: Clock
    ) -> None:
        # By the place, not by what the entry says of it: that is the chain's to judge.
        seq = self.tree.size
        try:
            event = read_entry(entry, kind, intent, game.position)
            if self.proofs is not None:
                self.proofs.look(event, game.position.state)
            try:
                judged = judge(game, event, seq, clock)
            except LogError as error:
                if error.code is not Code.DECK:
                    raise
                self.note(error)
                game.deal.doubt()
                judged = judge(game, event, seq, clock)
            game.apply(event, judged.seat, seq, clock)
            if entry.state_digest != game.position.digest():
                raise digest_differs(entry.state_digest, game.position.digest())
        except LogError as error:
            self.note(error)
            self.following = False
        else:
            self.checked[_RULES] = seq + 1

    # --- the end -----------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report, after the last frame. Raise ``_WrongSignature``."""
        self._verify()
        self._closing()
        self._pinned_seats()
        self._in_two_roles()
        self._never_joined()
        self._checkpoints()
        game = self.game
        known = game is not None and (self.following or game.is_over)
        course = game.position.state.course() if game is not None else {}
        proofs = self.proofs.report() if self.proofs is not None else CertificateReport()
        if self.proofs is not None and self.proofs.failure is not None:
            self.note(self.proofs.failure, Layer.PROOFS)
        if self.words.failure is not None:
            self.note(self.words.failure, Layer.PROOFS)
        return Report(
            findings=tuple(self.findings[layer] for layer in Layer if layer in self.findings),
            entries=self.tree.size,
            signed_entries=self.heads.signed,
            head=self.heads.final,
            checked=self.checked,
            game_id=self.identity,
            rules=(self.opened.rules_id, self.opened.rules_version) if self.opened is not None else None,
            options=chosen(game.position.options) if game is not None else {},
            chance=(self.opened.WhichOneof("chance") or "unknown") if self.opened is not None else "unknown",
            deck_checked=game is not None
            and game.phase is Phase.CLOSED
            and game.deal.dealer is not None
            and Layer.DECK not in self.findings,
            seats=self._standings(),
            course=course,
            result=game.result() if game is not None and known and not course else None,
            contest=game.contest() if game is not None else Contest(),
            is_over=game is not None and game.is_over,
            waits=game.result_waits if game is not None else None,
            proofs=proofs,
            comments=(
                *(game.position.about_opening() if game is not None else ()),
                *(game.position.state.comments() if game is not None else ()),
                *self._recoveries(),
                *self.comments,
                *proofs.comments(),
            ),
        )

    def _recoveries(self) -> list[Phrase]:
        # A referee that is not one can write any number of them.
        more = len(self.recoveries) - _MAX_REMARKS
        return [*self.recoveries[:_MAX_REMARKS], *([phrase("and {n} more losses", n=more)] if more > 0 else [])]

    def _closing(self) -> None:
        if not self.ended:
            self.note(LogError(Code.INCOMPLETE, "the file has no END", "END"), Layer.FRAMES)
        if self.tree.size == 0:
            self.note(LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0"))
        if self.game is None or not self.following:
            return
        phase = self.game.phase
        if phase is Phase.ENDED and self.ended:
            self.note(LogError(Code.UNDISCLOSED, "the referee's seed is not disclosed", "SeedDisclose"))
        elif phase is Phase.ENDED:
            self.note(LogError(Code.INCOMPLETE, "the referee's seed is not yet disclosed", "SeedDisclose"))
        elif phase is Phase.CLOSED:
            if self.game.deck_unknown and Layer.DECK not in self.findings:
                self.note(LogError(Code.UNDISCLOSED, "chance was not compared with the deck", "the seed"))
        else:
            self.note(LogError(Code.INCOMPLETE, f"the game has not ended: {phase.value}", "GameEnd"))

    def _never_joined(self) -> None:
        if self.keyring is None or self.opened is None:
            return
        for seat, expected in sorted(self.policy.seat_keys.items()):
            if (
                seat >= len(self.opened.seats)
                or self.opened.seats[seat].scribed
                or self.keyring.keys_of(Author(Role.SEAT, seat))
            ):
                continue
            what = phrase("seat {seat}, whose key you gave, never joined", seat=seat)
            if self.past_joining and seat not in self.put_out:
                self.note(LogError(Code.UNTRUSTED_KEY, what, expected.hex()), Layer.AUTHORS)
            else:
                self.comments.append(what)

    def _checkpoints(self) -> None:
        if self.final is None:
            if self.heads.signed < self.tree.size:
                what = f"signed checkpoints cover only {self.heads.signed} of {self.tree.size} entries"
                self.note(LogError(Code.INCOMPLETE, what, "a checkpoint of all"), Layer.TREE)
            if self.policy.verifier is None:
                self.note(LogError(Code.UNTRUSTED_KEY, "no verifier key was given"))
        else:
            self.at = (None, self.final.offset)
            self._final_checkpoint(self.final.payload)
            self.at = (None, None)
        for error in self.heads.conflicts(self.identity, self.tree.size, most=self.most):
            self.note(error)

    def _final_checkpoint(self, data: bytes) -> None:
        try:
            note = Note.parse(data)
            checkpoint = Checkpoint.parse(note.text)
            check_head(checkpoint, self.identity, self.tree)
        except LogError as error:
            self.note(error)
            return
        try:
            if self.policy.verifier is None:
                self.note(LogError(Code.UNTRUSTED_KEY, "no verifier key was given"))
                return
            self.heads.final = open_checkpoint(data, self.policy.verifier)
        except LogError as error:
            self.note(error, Layer.CHECKPOINT)
        else:
            self.heads.signed = self.tree.size

    def _standings(self) -> tuple[SeatStanding, ...]:
        if self.opened is None or self.keyring is None:
            return ()
        standings = []
        for number, seat in enumerate(self.opened.seats):
            used, pinned = self.keyring.used[number], self.policy.seat_keys.get(number)
            if seat.scribed:
                standings.append(SeatStanding(number, (Said("standing.scribed"),), None))
            elif not used:
                how = Said("standing.never_joined" if pinned else "standing.not_joined")
                standings.append(SeatStanding(number, (how,), None))
            else:
                raw = next((key.raw for _, key in used if key.raw == pinned), used[-1][1].raw)
                standings.append(SeatStanding(number, _standing(self.keyring, number, pinned), raw))
        return tuple(standings)


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
