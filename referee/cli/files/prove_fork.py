"""``referee prove-fork``: two things that the referee signed and that no one history can have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.shared.arguments import Key, verifier_key
from referee.cli.shared.failure import EXIT_FAILED, Failure
from referee.console import printable
from referee.log.errors import Code, LogError
from referee.log.fork import Fork, Side, find_fork, read_side
from referee.log.verdict import Verdict

_OUT = ("fork-a", "fork-b")


def prove_fork(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="A game file, a proof of one entry, or a receipt.", show_default=False)
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one of the same game.", show_default=False)],
    key: Key,
    out: Annotated[
        Path | None,
        typer.Option(
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
        raise typer.Exit(EXIT_FAILED)
    if fork.declared_by is not None:
        print(f"LOSS: {fork.what}; entry {fork.declared_by} declares this loss")
        raise typer.Exit(int(Verdict.LOSS))
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
