"""``referee reprove``: the certificates of a game file, made anew."""

from __future__ import annotations

import os
import stat
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Exit, Failure
from referee.cli.shared.game_texts import write_new
from referee.cli.shared.solver import NoAnswer, Rlimit, Solver
from referee.console import printable
from referee.log import file as game_file
from referee.log.certificates import EntryVerdict, contradicts, decode_proof, encode_proof, verdict_of
from referee.log.engines import Engines, installed
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.file import MAGIC, Frame, FrameType, encode_frame
from referee.log.header import check_header, decode_header
from referee.log.merkle import leaf_hash
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Finding, Verdict
from referee.text.notation.outcomes import counted
from referee.text.notation.questions import QueryError
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.registry import BadCertificate, Checked, Provable

_KEPT: Final = "kept"
_MADE: Final = "made"
_GIVEN_UP: Final = "given up"


def reprove(
    file: Annotated[Path, Parameter(name="FILE", help="A game file.", show_default=False)],
    /,
    *,
    out: Annotated[
        Path | None, Parameter(metavar="FILE", help="Write to this new file; by default FILE is replaced.")
    ] = None,
    rlimit: Rlimit = None,
) -> None:
    """Renew the certificates of a game file: keep those that hold, replace the others, add missing ones.

    `referee reprove final.gamelog`

    Certificates are neither signed nor hashed, so anyone may replace them: entries, checkpoints and texts stay the same
    byte for byte. Use this if `referee audit` says PROOF, or comments that certificates are missing. A game whose terms
    ask for no certificates gets one for every verdict that can have one.

    A certificate that proves the opposite of the referee's verdict is evidence: it is kept and reported.

    Exit codes: 0 every verdict that can have a certificate has one; 1 some were not proved within --rlimit, or FILE
    cannot be written; 2 wrong usage; 8 a certificate proves the opposite of the referee's verdict.

    A file that is torn, or whose header, entries, authors' signatures or rules are wrong, is left unchanged and ends
    with one line and the exit code that `referee audit` gives. The referee's own signature and the deck are not
    checked.
    """
    try:
        with file.open("rb") as stream:
            frames = list(game_file.read(stream))
        made = Reproved(frames, installed())
        with Solver() as solver:
            data = made.data(solver, rlimit or 0)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{file}: {error}", int(Finding.of(error).verdict)) from None
    except NothingToProve as error:
        raise Failure(f"{file}: {error}", EXIT_USAGE) from None
    except NoAnswer as error:
        raise Failure(f"{file}: nothing was changed: {error}") from None
    if out is None:
        _replace(file, data)
    else:
        write_new("--out", out, data)
    print(f"{printable(str(out or file))}: {made.summary()}")
    for entry, what in made.contradictions:
        print(f"entry {entry}: {what}")
    if made.contradictions:
        raise Exit(int(Verdict.RULES))
    raise Exit(EXIT_FAILED if made.counts[_GIVEN_UP] else EXIT_OK)


class NothingToProve(ValueError):
    """A game of which nothing can be proved: which."""


class Reproved:
    """One file, on its way to having the certificates that it should."""

    def __init__(self, frames: list[Frame], engines: Engines) -> None:
        """``frames``: all of the file, in their order."""
        self._engines = engines
        self.counts: Counter[str] = Counter()
        self.contradictions: list[tuple[int, str]] = []
        """Entries whose certificate proves the opposite of the referee's statement, and the proven statement."""
        self._frames = [frame for frame in frames if frame.type != FrameType.CERTIFICATE]
        self._known: dict[tuple[int, bytes], list[bytes]] = defaultdict(list)
        """Certificates that are there, by entry and its leaf hash."""
        certificates = [frame for frame in frames if frame.type == FrameType.CERTIFICATE]
        self._before = len(certificates)
        for frame in certificates:
            try:
                proof = decode_proof(frame.payload)
            except LogError:
                continue  # it proves nothing, and goes
            self._known[proof.seq, proof.leaf].append(proof.certificate)

    def data(self, solver: Solver, rlimit: int) -> bytes:
        """Return the whole new file. Raise ``LogError``, ``NoAnswer``, ``NothingToProve``."""
        parts = [MAGIC]
        record: Record | None = None
        header = b""
        for frame in self._frames:
            if frame.type == FrameType.HEADER:
                header = frame.payload
            parts.append(encode_frame(frame.type, frame.payload))
            if frame.type != FrameType.ENTRY:
                continue
            try:
                if record is None:
                    record = Record(decode_entry(frame.payload).open, engines=self._engines)
                    check_header(header, decode_header(header), record.opened)
                verdict = verdict_of(record.read(frame.payload))
            except LogError as error:
                raise error.at(entry=0 if record is None else record.size)  # noqa: B904 - the same error
            proofs = self._proofs(record, frame.payload, verdict, solver, rlimit) if verdict is not None else ()
            parts += [encode_frame(FrameType.CERTIFICATE, proof) for proof in proofs]
        if record is None:
            raise LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0")
        return b"".join(parts)

    def _proofs(
        self, record: Record, entry: bytes, verdict: EntryVerdict, solver: Solver, rlimit: int
    ) -> Iterator[bytes]:
        opened = record.opened
        provable = self._engines.provable(opened.rules_id, opened.rules_version)
        if provable is None:
            raise NothingToProve(f"a game of {opened.rules_id} cannot have certificates")
        refusals_only = opened.terms.proofs == log_pb2.PROOF_POLICY_REFUSALS
        seq, leaf = record.size - 1, leaf_hash(entry)
        for claim in provable.claims(verdict.before, verdict.event):
            found = self._there(provable, claim, self._known[seq, leaf])
            if found is None and (not refusals_only or verdict.is_refusal):
                found = self._made(provable, claim, solver, rlimit)
            if found is None:
                continue
            certificate, checked = found
            if what := contradicts(checked, verdict.against):
                self.contradictions.append((seq, what))
            yield encode_proof(seq, leaf, certificate)

    def _there(self, provable: Provable, claim: Any, known: list[bytes]) -> tuple[bytes, Checked] | None:
        for certificate in known:
            try:
                checked = provable.check(certificate)
            except BadCertificate:
                continue
            if provable.fingerprint(checked.claim) == provable.fingerprint(claim):
                self.counts[_KEPT] += 1
                return certificate, checked
        return None

    def _made(self, provable: Provable, claim: Any, solver: Solver, rlimit: int) -> tuple[bytes, Checked] | None:
        question = provable.request(claim)
        question.budget.rlimit = rlimit
        try:
            certificate = solver.ask("ProveMove", question, pb.ProveMoveResponse).proof.certificate
            found = (certificate, provable.check(certificate)) if certificate else None
        except (QueryError, BadCertificate):
            found = None
        self.counts[_GIVEN_UP if found is None else _MADE] += 1
        return found

    def summary(self) -> str:
        kept, given_up = self.counts[_KEPT], self.counts[_GIVEN_UP]
        parts = [f"{counted(kept, 'certificate')} kept", f"{self.counts[_MADE]} made", f"{self._before - kept} removed"]
        return ", ".join([*parts, *([f"{given_up} not proved within the limit"] if given_up else [])])


def _replace(path: Path, data: bytes) -> None:
    """Put all of it in the place of a file that is there, or nothing. Raise ``Failure``."""
    name = ""
    try:
        path = path.resolve()
        before = path.stat()
        if not stat.S_ISREG(before.st_mode):
            raise Failure(f"{path}: not an ordinary file, so it was not replaced; expected --out FILE", EXIT_USAGE)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            name = stream.name
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), stat.S_IMODE(before.st_mode))
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), before.st_uid, before.st_gid)
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise Failure(f"{path}: {error.strerror}", EXIT_FAILED) from None
