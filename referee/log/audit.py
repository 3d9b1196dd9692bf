"""The auditor: reads one game file and says what it proves. Offline; trusts the caller's policy and nothing else.

A visitor of the one reader. Every layer is followed as far as it goes, and the first failure of each is kept.
"""

from __future__ import annotations

from typing import BinaryIO, Final

from referee.games.results import Contest
from referee.log import file
from referee.log.certificates import Proofs
from referee.log.codec import read_entry
from referee.log.deck import SEED_BYTES
from referee.log.engines import Engines, installed
from referee.log.entry import NO_ENTRY, Clock, clock_of, decode_entry, decode_open, event_name
from referee.log.errors import Code, LogError
from referee.log.events import Opened
from referee.log.file import Frame, FrameType
from referee.log.findings import Authorship, Comments, Findings, WrongSignature
from referee.log.game import LoggedGame, Phase
from referee.log.header import check_descriptors, check_header, decode_header, rules_hash
from referee.log.heads import Heads, Loss, check_head
from referee.log.intent import Place, act_name, decode_intent, game_id
from referee.log.judge import judge, take
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, Note, open_checkpoint
from referee.log.remarks import WITH_WORDS, Remarks, committed
from referee.log.replay import check_link, digest_differs, signed_part_of
from referee.log.v1 import log_pb2
from referee.log.verdict import CertificateReport, Layer, Policy, Report
from referee.text.notation.options import chosen
from referee.text.words.catalogue import phrase

_DISCLOSE = b"\x82\x01\x22\x0a\x20"
"""The bytes before r at the end of a SeedDisclose entry: the tags and lengths of its last field."""
_TAG_AT = -len(_DISCLOSE) - SEED_BYTES
"""The index of those bytes."""
# A member of an enumeration is found as slowly as a method is called, and these are read for every entry.
_ENTRY: Final = int(FrameType.ENTRY)
_CERTIFICATE: Final = int(FrameType.CERTIFICATE)
_DECODE: Final = Layer.DECODE
_CHAIN: Final = Layer.CHAIN
_AUTHORS: Final = Layer.AUTHORS
_RULES: Final = Layer.RULES


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
        except WrongSignature:
            pass
    return _audited(readings, _Auditor(policy, engines, secret, has_proofs))


def _audited(readings: file.Readings, auditor: _Auditor) -> Report:
    """Return the report. Raise ``WrongSignature`` if the auditor defers signatures and one is wrong."""
    try:
        for frame in readings.frames():
            auditor.visit(frame)
    except LogError as error:
        auditor.findings.note(error.at(entry=auditor.tree.size))
    return auditor.report()


def _look_ahead(readings: file.Readings) -> tuple[bytes | None, bool, bool]:
    """Return r, if the file discloses it, whether there are certificates, and whether that holds to the file's end."""
    # r comes last but is needed from the first draw on. Whether it is the right one is checked at its entry.
    # A refusal by the reader ends this look as it ends the audit, so a file of garbage costs little.
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
        self.authors: Authorship | None = None
        """None: the game has no opening that can be read."""
        self.game: LoggedGame | None = None
        self.is_later = False
        """True for a later version of the format, or of the rules of the table: unreadable parts of it are no
        failure."""
        self.following = False
        """True while the game is followed; otherwise it stands where it could not be followed further."""
        self.header: Frame | None = None
        self.final: Frame | None = None
        self.ended = False
        self.findings = Findings()
        self.comments = Comments()
        self.most: int | None = None
        """Entries that the game can have, once its end is there."""
        self.heads = Heads(policy.verifier, policy.receipts, policy.logged)

    # --- frames and entries ------------------------------------------------------------------------------

    def visit(self, frame: Frame) -> None:
        if frame.type == _ENTRY:
            self.findings.at = (self.tree.size, frame.offset)
            self._entry(frame.payload)
            self.head = leaf_hash(frame.payload)
            self.tree.append(self.head)
            self.heads.grown(self.tree)
            if self.proofs is not None:
                self.proofs.entered(self.tree.size - 1, self.head)
            self.findings.at = (None, None)
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
            self.comments.useless_head(comment)

    def _entry(self, data: bytes) -> None:
        try:
            entry = decode_entry(data)
        except LogError as error:
            self.following = False
            if not self.is_later:
                self.findings.note(error)
            return
        seq, event = self.tree.size, event_name(entry)
        self.findings.checked[_DECODE] = seq + 1
        if seq == 0:
            try:
                self._open(entry)
            except LogError as error:
                self.following = False
                self.findings.note(error)
        self.findings.checked[_CHAIN] = seq + 1
        self.place = Place(self.identity or b"", seq, self.head)
        try:
            check_link("entry", entry, self.place)
        except LogError as error:
            self.findings.note(error)
        if event == "recovered":
            recovered = entry.recovered
            self.heads.losses.add(Loss(seq, recovered.lost_size, recovered.lost_root))
            self.comments.lost(recovered, seq)
        if event == "end":
            self.most = seq + 1 + self._is_dealt()  # the disclosure may follow
        clock = clock_of(entry)
        self.comments.dated(seq, clock.referee_ms)
        if seq > 0:
            self._event(entry, event, clock)
        elif self.game is not None and self.following and entry.state_digest != self.game.position.digest():
            self.following = False
            self.findings.note(digest_differs(entry.state_digest, self.game.position.digest()))

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
        self.authors = Authorship(self.policy, opened, self.findings, self.comments, defers=self.defers)
        game = LoggedGame(opened, self.identity, self.engines, secret=self.secret)
        take(game, Opened(entry.open), 0, clock_of(entry))
        self.game = game
        provable = self.engines.provable(opened.rules_id, opened.rules_version)
        if provable is not None and (self.has_proofs or opened.terms.proofs):
            self.proofs = Proofs(provable, opened.terms.proofs)
        self.following = True
        self.findings.checked[Layer.RULES] = self.findings.checked[Layer.AUTHORS] = 1

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
            self.findings.note(error.at(offset=self.header.offset))
            return
        if not same:
            what = "the file describes the signed messages differently from this installation"
            self.comments.add(phrase(what))
        if header.rules_hash != rules_hash(game.catalogue):
            what = "the rule catalogue of this installation differs from the one that the game names"
            self.comments.add(phrase(what))

    def _event(self, entry: log_pb2.Entry, event: str, clock: Clock) -> None:
        """``event``: the field that holds it."""
        authors = self.authors
        if authors is not None:
            self.findings.checked[_AUTHORS] = self.tree.size + 1
        intent = None
        if (signed := signed_part_of(entry, event)) is None:
            if authors is not None:
                if not authors.past_joining:
                    authors.entered(event)
                if event == "absent":
                    authors.put_out.add(entry.absent.seat)
        else:
            try:
                intent = decode_intent(signed.intent)
            except LogError as error:
                self.following = False
                if not self.is_later:
                    self.findings.note(error)
                return
            act = act_name(intent)
            if authors is not None:
                if not authors.past_joining:
                    authors.entered(act)
                if act == "rule" and intent.rule.HasField("forfeit"):
                    authors.put_out.add(intent.rule.forfeit.seat)
            if act in WITH_WORDS and event == "signed":
                self.words.entered(self.tree.size, committed(intent))
            try:
                check_link("intent", intent, self.place)
            except LogError as error:
                self.findings.note(error)
            if authors is not None:
                authors.acted(signed, intent, act, self.tree.size)
        if self.following and self.game is not None:
            self._rules(self.game, entry, event, intent, clock)

    def _rules(
        self, game: LoggedGame, entry: log_pb2.Entry, kind: str, intent: log_pb2.Intent | None, clock: Clock
    ) -> None:
        # Decide by the place, not by the entry's word on it: that is the chain's to judge.
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
                self.findings.note(error)
                game.deal.doubt()
                judged = judge(game, event, seq, clock)
            game.apply(event, judged.seat, seq, clock)
            if entry.state_digest != game.position.digest():
                raise digest_differs(entry.state_digest, game.position.digest())
        except LogError as error:
            self.findings.note(error)
            self.following = False
        else:
            self.findings.checked[_RULES] = seq + 1

    # --- the end -----------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report, after the last frame. Raise ``WrongSignature``."""
        authors = self.authors
        if authors is not None:
            authors.verify()
        self._closing()
        if authors is not None:
            authors.end()
        self._checkpoints()
        game = self.game
        known = game is not None and (self.following or game.is_over)
        course = game.position.state.course() if game is not None else {}
        proofs = self.proofs.report() if self.proofs is not None else CertificateReport()
        if self.proofs is not None and self.proofs.failure is not None:
            self.findings.note(self.proofs.failure, Layer.PROOFS)
        if self.words.failure is not None:
            self.findings.note(self.words.failure, Layer.PROOFS)
        return Report(
            findings=self.findings.ordered(),
            entries=self.tree.size,
            signed_entries=self.heads.signed,
            head=self.heads.final,
            checked=self.findings.checked,
            game_id=self.identity,
            rules=(self.opened.rules_id, self.opened.rules_version) if self.opened is not None else None,
            options=chosen(game.position.options) if game is not None else {},
            chance=(self.opened.WhichOneof("chance") or "unknown") if self.opened is not None else "unknown",
            deck_checked=game is not None
            and game.phase is Phase.CLOSED
            and game.deal.dealer is not None
            and not self.findings.has(Layer.DECK),
            seats=authors.standings() if authors is not None else (),
            course=course,
            result=game.result() if game is not None and known and not course else None,
            contest=game.contest() if game is not None else Contest(),
            is_over=game is not None and game.is_over,
            waits=game.result_waits if game is not None else None,
            proofs=proofs,
            comments=(
                *(game.position.about_opening() if game is not None else ()),
                *(game.position.state.comments() if game is not None else ()),
                *self.comments.all(),
                *proofs.comments(),
            ),
        )

    def _closing(self) -> None:
        if not self.ended:
            self.findings.note(LogError(Code.INCOMPLETE, "the file has no END", "END"), Layer.FRAMES)
        if self.tree.size == 0:
            self.findings.note(LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0"))
        if self.game is None or not self.following:
            return
        phase = self.game.phase
        if phase is Phase.ENDED and self.ended:
            self.findings.note(LogError(Code.UNDISCLOSED, "the referee's seed is not disclosed", "SeedDisclose"))
        elif phase is Phase.ENDED:
            self.findings.note(LogError(Code.INCOMPLETE, "the referee's seed is not yet disclosed", "SeedDisclose"))
        elif phase is Phase.CLOSED:
            if self.game.deck_unknown and not self.findings.has(Layer.DECK):
                self.findings.note(LogError(Code.UNDISCLOSED, "chance was not compared with the deck", "the seed"))
        else:
            self.findings.note(LogError(Code.INCOMPLETE, f"the game has not ended: {phase.value}", "GameEnd"))

    def _checkpoints(self) -> None:
        if self.final is None:
            if self.heads.signed < self.tree.size:
                what = f"signed checkpoints cover only {self.heads.signed} of {self.tree.size} entries"
                self.findings.note(LogError(Code.INCOMPLETE, what, "a checkpoint of all"), Layer.TREE)
            if self.policy.verifier is None:
                self.findings.note(LogError(Code.UNTRUSTED_KEY, "no verifier key was given"))
        else:
            self.findings.at = (None, self.final.offset)
            self._final_checkpoint(self.final.payload)
            self.findings.at = (None, None)
        for error in self.heads.conflicts(self.identity, self.tree.size, most=self.most):
            self.findings.note(error)

    def _final_checkpoint(self, data: bytes) -> None:
        try:
            note = Note.parse(data)
            checkpoint = Checkpoint.parse(note.text)
            check_head(checkpoint, self.identity, self.tree)
        except LogError as error:
            self.findings.note(error)
            return
        try:
            if self.policy.verifier is None:
                self.findings.note(LogError(Code.UNTRUSTED_KEY, "no verifier key was given"))
                return
            self.heads.final = open_checkpoint(data, self.policy.verifier)
        except LogError as error:
            self.findings.note(error, Layer.CHECKPOINT)
        else:
            self.heads.signed = self.tree.size
