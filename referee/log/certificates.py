"""Certificates in a game's file: the entry that each is for, and whether it proves the referee's verdict on that entry.

They are not signed and need no trust in anyone; anybody can add some to a copy of a file, or take them out. Knows no
game.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from referee.games.game import State
from referee.log.errors import Code, LogError, malformed
from referee.log.events import Accept, Event, Refused, Ruled, change_of
from referee.log.file import MAX_IGNORABLE_BYTES, Frame
from referee.log.intent import check_length
from referee.log.judge import Happened
from referee.log.merkle import HASH_BYTES
from referee.log.position import guarded
from referee.log.v1 import log_pb2
from referee.log.verdict import CertificateReport
from referee.wire import strict
from referee.wire.certificates.registry import BadCertificate, Checked, Provable


def encode_proof(seq: int, leaf: bytes, certificate: bytes) -> bytes:
    """Return the payload of a frame."""
    return strict.encode(log_pb2.Proof(seq=seq, leaf=leaf, certificate=certificate))


def decode_proof(data: bytes) -> log_pb2.Proof:
    """Raise ``LogError``."""
    try:
        proof = strict.decode(log_pb2.Proof, data, max_bytes=MAX_IGNORABLE_BYTES)
        check_length("proof", "leaf", proof.leaf, HASH_BYTES)
    except strict.MalformedError as error:
        raise malformed(error, "proof") from error
    return proof


class EntryVerdict(NamedTuple):
    """The verdict of the referee, or of an arbiter, on an event of the game."""

    event: Any
    """The engine's own: a move, an outcome, a pass."""
    before: State
    against: tuple[str, ...] | None
    """The rules that it breaks, ascending; None: it is legal."""
    is_refusal: bool
    """True if it is an attempt that the referee refused."""


def verdict(event: Event, before: State) -> EntryVerdict | None:
    """Return what the entry is a verdict about, in the position before it; None: about nothing."""
    match event:
        case Refused(_, move, rule_ids):
            return EntryVerdict(move, before, rule_ids, is_refusal=True)
        case Ruled(ruling=Accept(move=move, rule_ids=rule_ids)):
            return EntryVerdict(move, before, rule_ids, is_refusal=False)
        case _:
            change = change_of(event)
            return None if change is None else EntryVerdict(change, before, None, is_refusal=False)


def verdict_of(happened: Happened) -> EntryVerdict | None:
    """Return what the entry was a verdict about; None: about nothing."""
    return verdict(happened.event, happened.before)


def is_wanted(policy: log_pb2.ProofPolicy.ValueType, verdict: EntryVerdict) -> bool:
    """Return whether a verdict is to have certificates."""
    if policy == log_pb2.PROOF_POLICY_REFUSALS:
        return verdict.is_refusal
    return policy == log_pb2.PROOF_POLICY_ALL


class _Claimed:
    """An entry and its claims. Only fingerprints of the claims are kept, as there may be many."""

    __slots__ = ("claims", "is_wanted", "leaf", "opened", "rule_ids", "waiting")

    def __init__(self, rule_ids: tuple[str, ...] | None, waiting: list[bytes], *, is_wanted: bool) -> None:
        self.leaf = b""
        self.rule_ids = rule_ids
        """The rules that the move breaks according to the referee; None: no rule."""
        self.claims = len(waiting)
        self.waiting = waiting
        """Claims without a certificate so far."""
        self.opened = set[bytes]()
        """Hashes of the certificates that were looked at: none is twice.

        There is no limit to their number, as useless certificates could be put first to hide useful ones. The work
        grows with the bytes of the file, and those are limited.
        """
        self.is_wanted = is_wanted


class Proofs:
    """Follows the entries of a file, and checks the certificates that come after them."""

    def __init__(self, provable: Provable, policy: log_pb2.ProofPolicy.ValueType) -> None:
        self._provable = provable
        self._policy = policy
        self._claimed: dict[int, _Claimed] = {}
        self._next: _Claimed | None = None
        self._end: int | None = None
        """The first entry of which it is not known what it claims."""
        self._checked = 0
        self._failed = 0
        self._not_compared = 0
        self.failure: LogError | None = None
        """The first that proves the opposite of the referee's verdict, else the first that proves nothing: anyone with
        the file can add any number of these, and they must not hide the other."""

    def look(self, event: Event, before: State) -> None:
        """Look at the next entry, in the position before it. Raise ``LogError`` (``ENGINE``)."""
        found = verdict(event, before)
        if found is None:
            self._next = _Claimed(None, [], is_wanted=False)
            return
        claims = guarded(lambda: self._provable.claims(before, found.event))
        waiting = [self._provable.fingerprint(claim) for claim in claims]
        self._next = _Claimed(found.against, waiting, is_wanted=is_wanted(self._policy, found))

    def entered(self, seq: int, leaf: bytes) -> None:
        """Take an entry; if ``look`` was not asked, as the game could not be followed, later ones are not either."""
        found, self._next = self._next, None
        if found is not None and found.waiting:
            found.leaf = leaf
            self._claimed[seq] = found
        elif found is None and seq > 0 and self._end is None:
            self._end = seq

    def seen(self, frame: Frame, size: int) -> None:
        """Take a certificate that lies after this many entries."""
        try:
            self._compare(frame, size)
        except LogError as error:
            self._failed += 1
            first, disproved = self.failure, error.code is Code.DISPROVED
            if first is None or (disproved and first.code is not Code.DISPROVED):
                self.failure = error.at(offset=frame.offset)

    def _compare(self, frame: Frame, size: int) -> None:
        """Raise ``LogError``: ``MALFORMED``, ``PROOF`` if it proves nothing of its entry, ``DISPROVED``."""
        proof = decode_proof(frame.payload)
        if proof.seq >= size:
            raise LogError(Code.PROOF, f"a certificate for entry {proof.seq}", "one after its entry")
        if self._end is not None and proof.seq >= self._end:
            self._not_compared += 1
            return
        try:
            self._check(self._claimed.get(proof.seq), proof)
        except LogError as error:
            raise error.at(entry=proof.seq)  # noqa: B904 - the same error, with its place

    def _check(self, claimed: _Claimed | None, proof: log_pb2.Proof) -> None:
        if claimed is None:
            raise LogError(Code.PROOF, "a certificate", "none, as the entry claims nothing that can be proved")
        if proof.leaf != claimed.leaf:
            raise LogError(Code.PROOF, f"a certificate for leaf {proof.leaf.hex()}", claimed.leaf.hex())
        digest = sha256(proof.certificate).digest()
        if digest in claimed.opened or not claimed.waiting:
            raise LogError(Code.PROOF, "one more certificate", "one for each of the entry's claims")
        claimed.opened.add(digest)
        try:
            checked = self._provable.check(proof.certificate)
        except BadCertificate as error:
            raise LogError(Code.PROOF, f"a certificate that does not hold: {error}") from error
        mark = self._provable.fingerprint(checked.claim)
        if mark not in claimed.waiting:
            raise LogError(Code.PROOF, "a certificate of another claim", "the entry's, in the position before it")
        claimed.waiting.remove(mark)
        if contradiction := contradicts(checked, claimed.rule_ids):
            raise LogError(Code.DISPROVED, contradiction)
        self._checked += 1

    def report(self) -> CertificateReport:
        """Return the report, after the last frame."""
        policy = {log_pb2.PROOF_POLICY_REFUSALS: "REFUSALS", log_pb2.PROOF_POLICY_ALL: "ALL"}.get(self._policy, "NONE")
        lacking = tuple(seq for seq, claimed in self._claimed.items() if claimed.is_wanted and claimed.waiting)
        wanted = sum(claimed.claims for claimed in self._claimed.values() if claimed.is_wanted)
        return CertificateReport(policy, self._checked, self._failed, self._not_compared, wanted, lacking)


def contradicts(checked: Checked, rule_ids: tuple[str, ...] | None) -> str:
    """Return the proven and the referee's verdict, if they differ; ``rule_ids``: a verdict's ``against``."""
    judged = "legal" if rule_ids is None else f"illegal ({', '.join(rule_ids)})"
    proved = tuple(sorted({violation.rule_id for violation in checked.violations}))
    if checked.holds == (rule_ids is None) and (checked.holds or proved == rule_ids):
        return ""
    return f"the referee judged it {judged}, but it is proved " + (
        "legal" if checked.holds else f"illegal ({', '.join(proved)})"
    )
