"""Proofs from the public log as part of an audit: the place of the file's head in the log, or a contradiction.

A proof that does not hold says nothing of the file: anyone can lay one beside it. So it is a comment, and only a demand
for a proof makes it a verdict. A contradiction by a proof that holds weighs as one by a receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from referee.log.audit import audit
from referee.log.errors import Code, LogError
from referee.log.file import regular
from referee.log.note import MAX_PROOF_BYTES, Checkpoint, TlogProof
from referee.log.public.checkpoint import SUFFIX, LogPolicy, check_head_logged, demand_quorum, read_leaf
from referee.log.verdict import Finding, Layer, LoggedHead, Policy, Report
from referee.text.words.catalogue import phrase

_ORDER = {layer: at for at, layer in enumerate(Layer)}


@dataclass(frozen=True, slots=True)
class Demand:
    """The trusted log, and whether a file has to be in it."""

    policy: LogPolicy
    required: bool = False


def proofs_beside(file: Path) -> list[bytes]:
    """Return the proof that lies beside a game's file, if there is one and it can be read."""
    try:
        with regular(file.with_suffix(SUFFIX)) as stream:
            return [stream.read(MAX_PROOF_BYTES + 1)]
    except OSError:
        return []


def audit_file(file: Path, policy: Policy, *, demand: Demand) -> Report:
    """Audit a file with the proof that lies beside it. Raise ``OSError``, and as ``audit`` does."""
    with file.open("rb") as stream:
        return audit_with_log(stream, policy, demand=demand, proofs=proofs_beside(file))


def audit_with_log(stream: BinaryIO, policy: Policy, *, demand: Demand, proofs: Sequence[bytes]) -> Report:
    """Audit a file and say what the proofs show of it. Raise as ``audit`` does."""
    ours = policy.verifier.name if policy.verifier is not None else ""
    found, bare, problems = list[tuple[Checkpoint, LoggedHead]](), list[TlogProof](), list[str]()
    for data in proofs:
        try:
            proof = TlogProof.parse(data)
            if proof.entry is None:
                bare.append(proof)
            else:
                head = read_leaf(proof.entry)
                logged = _logged(proof, head, demand.policy)
                if head.origin == ours:
                    found.append((head, logged))
                else:
                    problems.append(f"a proof of a game of {head.origin}")
        except LogError as error:
            problems.append(str(error))
    report = audit(stream, replace(policy, logged=tuple(head for head, _ in found)))
    for proof in bare:
        if report.head is None:
            problems.append("the file has no signed head to look for")
            continue
        try:
            found.append((report.head, _logged(proof, report.head, demand.policy)))
        except LogError as error:
            problems.append(str(error))
    problems += [f"a proof of game {head.game_id.hex()}" for head, _ in found if head.game_id != report.game_id]
    shown = tuple(sorted(_of_file(report, found), key=lambda each: -each.size))
    report = replace(report, logged=shown)
    if report.is_logged:
        return report
    why: object = "; ".join(problems) or phrase("only older heads are" if shown else "no proof was given")
    what = phrase("nothing shows that the file's last head is in the public log: {why}", why=why)
    if not demand.required:
        return replace(report, comments=(*report.comments, what))
    finding = Finding.of(LogError(Code.UNLOGGED, what, "a proof that holds, with a quorum of witnesses"))
    findings = sorted((*report.findings, finding), key=lambda each: _ORDER[each.layer])
    return replace(report, findings=tuple(findings))


def _logged(proof: TlogProof, head: Checkpoint, policy: LogPolicy) -> LoggedHead:
    """Raise ``LogError`` unless the proof holds, and a quorum has signed."""
    logged = check_head_logged(proof, head, policy)
    demand_quorum(logged.witnessed, policy)
    seen = logged.witnessed
    return LoggedHead(head.size, seen.head.origin, logged.index, seen.cosigned, seen.quorum_s)


def _of_file(report: Report, found: Sequence[tuple[Checkpoint, LoggedHead]]) -> Iterator[LoggedHead]:
    """Yield those that the file's entries have; contradictions are findings already."""
    contradicted = any(finding.layer is Layer.RECEIPTS for finding in report.findings)
    for head, logged in found:
        if head == report.head or (head.game_id == report.game_id and not contradicted and head.size <= report.entries):
            yield logged
