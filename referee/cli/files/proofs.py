"""``referee prove-inclusion`` and ``prove-fork``: evidence for one entry of a game file, and for two histories."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared.arguments import Key, public_key, verifier_key
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.cli.shared.output import write
from referee.console import printable
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.fork import Fork, Side, find_fork, read_file, read_side
from referee.log.intent import Place, act_name, author_of, decode_intent, intent_encoding
from referee.log.keys import PublicKey
from referee.log.note import Checkpoint, TlogProof
from referee.log.replay import check_link, signed_part
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from referee.text.notation.times import moment_utc


def prove_inclusion(
    file: Annotated[Path, Parameter(help="A game file (.gamelog); with --check, a proof.", show_default=False)],
    /,
    *,
    key: Key,
    entry: Annotated[int | None, Parameter(metavar="N", help="The entry to prove.", validator=Number(gte=0))] = None,
    check: Annotated[bool, Parameter(help="Check a proof and show the entry.")] = False,
    author_key: Annotated[
        str | None,
        Parameter(
            metavar="KEY",
            help="With --check: the public key of the author of the entry, 64 hexadecimal digits or a key file.",
        ),
    ] = None,
) -> None:
    """Write a proof of one entry to standard output: a C2SP tlog-proof, a text that can be checked on its own.

    The proof holds the entry, its path up the tree and the head that the referee signed, so you can show one move
    without the rest of the game. It fixes what came before, but does not contain it: only the game file shows whether
    the move was legal.

    Exit codes: 0 written, or with --check: it holds; 4 the file or the proof is corrupt; 5 signed by another referee
    than yours, or by another author than --author-key; 1 the file cannot be read; 2 wrong usage.

    Examples: `referee prove-inclusion GAME.gamelog --key referee.vkey --entry 12 > move.tlog-proof`, `referee
    prove-inclusion --check move.tlog-proof --key referee.vkey --author-key alice.pub`
    """
    verifier = verifier_key("--key", key)
    if check == (entry is not None):
        raise Failure("expected either --entry N for a game file, or --check for a proof", EXIT_USAGE)
    if author_key is not None and not check:
        raise Failure("--author-key: expected only with --check", EXIT_USAGE)
    author = None if author_key is None else public_key(f"--author-key {author_key}", author_key)
    try:
        data = file.read_bytes()
        if check:
            proved = TlogProof.parse(data)
            lines = ["HOLDS", *_told(proved, proved.check(verifier), author)]
            write("".join(f"{line}\n" for line in lines))
        elif entry is not None:
            sys.stdout.buffer.write(_of_entry(read_file(data, verifier), entry))
            sys.stdout.buffer.flush()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except LogError as error:
        code = Verdict.UNTRUSTED_KEY if error.code in (Code.UNTRUSTED_KEY, Code.AUTHOR_SIGNATURE) else Verdict.CORRUPT
        raise Failure(f"{file}: {error}", code) from None


def _of_entry(side: Side, entry: int) -> bytes:
    size = side.checkpoint.size
    if entry >= size:
        raise Failure(f"--entry {entry}: the referee signed only entries 0 to {size - 1} of this file", EXIT_USAGE)
    return side.evidence(entry)


def _told(proved: TlogProof, head: Checkpoint, author_key: bytes | None) -> Iterator[str]:
    """Yield what the entry is, a line each. Raise ``LogError``."""
    entry = decode_entry(proved.own_entry())
    if entry.game_id != head.game_id:
        raise LogError(Code.WRONG_GAME, f"entry of game {entry.game_id.hex()}", head.game_id.hex())
    if entry.seq != proved.index:
        raise LogError(Code.STALE_HEAD, f"an entry with seq {entry.seq}", str(proved.index), entry=proved.index)
    yield f"entry {proved.index} of {head.size} signed entries, game {entry.game_id.hex()}"
    yield f"at {moment_utc(entry.referee_ms)} by the referee's clock"
    signed = signed_part(entry)
    if signed is None:
        yield f"{str(entry.WhichOneof('event')).replace('_', ' ')}, entered by the referee"
        if author_key is not None:
            raise LogError(Code.AUTHOR_SIGNATURE, "an entry that only the referee signed", "one signed by --author-key")
        return
    intent = decode_intent(signed.intent)
    check_link("intent", intent, Place(entry.game_id, entry.seq, entry.prev))
    act = act_name(intent)
    refused = f", refused ({', '.join(signed.rule_ids)})" if isinstance(signed, log_pb2.Refused) else ""
    content = getattr(intent, act)
    yield f"{act} by {author_of(intent)}{refused}" + (f": {content.hex()}" if isinstance(content, bytes) else "")
    if author_key is None:
        yield f"signed with key {signed.key_id.hex()}, not checked: no --author-key was given"
        return
    public = PublicKey(author_key)
    if not public.is_signed(intent_encoding(signed.intent), signed.signature):
        raise LogError(Code.AUTHOR_SIGNATURE, f"not signed with key {public.id.hex()}", signed.key_id.hex())
    yield f"signed with the key that you gave, {public.id.hex()}"


_OUT = ("fork-a", "fork-b")


def prove_fork(
    first: Annotated[
        Path, Parameter(name="A", help="A game file, a proof of one entry, or a receipt.", show_default=False)
    ],
    second: Annotated[Path, Parameter(name="B", help="Another one of the same game.", show_default=False)],
    /,
    *,
    key: Key,
    out: Annotated[
        Path | None,
        Parameter(
            metavar="DIR",
            help="Write the shortest evidence into this directory: two files that prove-fork accepts.",
        ),
    ] = None,
) -> None:
    """Prove that a referee signed two histories of one game. Only the holder of its key can make such a pair.

    A and B are what two people received: game files, receipts, or proofs that `referee prove-inclusion` wrote. Anyone
    who has both and the referee's verifier key can repeat the check; the proof does not depend on who presents it.

    Exit codes: 0 FORK, proven; 1 NO FORK: nothing contradicts, or a file cannot be read; 4 a file is corrupt; 5 signed
    by another referee than yours; 14 LOSS: the two contradict each other, and one of them declares the other lost; 2
    wrong usage.

    Example: `referee prove-fork mine.gamelog yours.gamelog --key referee.vkey --out evidence`
    """
    verifier = verifier_key("--key", key)
    sides = []
    for path in (first, second):
        try:
            sides.append(read_side(path.read_bytes(), verifier))
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}") from None
        except LogError as error:
            code = Verdict.UNTRUSTED_KEY if error.code is Code.UNTRUSTED_KEY else Verdict.CORRUPT
            raise Failure(f"{path}: {error}", code) from None
    a, b = sides
    try:
        fork = find_fork(a, b)
    except LogError as error:
        raise Failure(f"{second}: {error}; {first} is of that game") from None
    for path, side in ((first, a), (second, b)):
        known = "all of them known" if side.is_whole else f"{len(side.entries) or 'none'} of them known"
        head = side.checkpoint
        print(f"{printable(str(path))}: signed for {head.size} entries, {known}, root {head.root.hex()}")
        if side.remark:
            print(f"  checked only as far as it is signed: {side.remark}")
    if fork is None:
        print("NO FORK: the two do not contradict each other")
        raise Exit(EXIT_FAILED)
    if fork.declared_by is not None:
        print(f"LOSS: {fork.what}; entry {fork.declared_by} declares this loss")
        raise Exit(int(Verdict.LOSS))
    print(f"FORK: {fork.what}")
    print(f"game {a.checkpoint.game_id.hex()}, both signed by {verifier}")
    if out is not None:
        _write(out, a, b, fork)


def _write(out: Path, a: Side, b: Side, fork: Fork) -> None:
    if fork.index is not None:
        suffix, parts = "tlog-proof", (a.evidence(fork.index), b.evidence(fork.index))
    elif fork.notes is not None:
        suffix, parts = "checkpoint", fork.notes
    else:
        raise Failure(
            "--out: the proof needs both an older head and the entries, and cannot be "
            "shortened; keep both files as they are"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, part in zip(_OUT, parts, strict=True):
            path = out / f"{name}.{suffix}"
            path.write_bytes(part)
            print(f"wrote {printable(str(path))}")
    except OSError as error:
        raise Failure(f"--out {out}: {error.strerror}") from None
