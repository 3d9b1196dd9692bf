"""``referee audit``: the proofs in a game file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared import bulk
from referee.cli.shared.arguments import OptionalKey, public_key, verifier_key
from referee.cli.shared.bulk import FILE, files_of, telling
from referee.cli.shared.failure import EXIT_USAGE, Exit, Failure
from referee.cli.shared.log_policy import log_policy as read_policy
from referee.log import audit as auditor
from referee.log.entry import decode_entry, decode_open
from referee.log.errors import LogError
from referee.log.file import entries
from referee.log.public.evidence import Demand, audit_with_log, proofs_beside
from referee.log.verdict import Policy


def audit(
    files: Annotated[
        list[Path],
        Parameter(
            name="FILE|DIR|LIST",
            help="A game file (.gamelog), a directory of game files, or a list (.txt) with a name on each line.",
            show_default=False,
        ),
    ],
    /,
    *,
    key: OptionalKey = None,
    seat_key: Annotated[
        list[str] | None,
        Parameter(
            metavar="SEAT=KEY",
            help="A seat's public key, if you know it: 64 hexadecimal digits or a key file. Repeatable.",
        ),
    ] = None,
    scribe_key: Annotated[
        list[str] | None, Parameter(metavar="SCRIBE=KEY", help="A scribe's public key, if you know it. Repeatable.")
    ] = None,
    event: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="The event that the game belongs to (.eventlog): each seat has to be played with the key that its "
            "entrant registered. Check that file with `referee event check`.",
        ),
    ] = None,
    receipt: Annotated[
        list[Path] | None,
        Parameter(metavar="FILE", help="A signed checkpoint that a player received in this game. Repeatable."),
    ] = None,
    log_policy: Annotated[
        Path | None,
        Parameter(
            metavar="POLICY",
            help="Which public log you trust, and which witnesses: say whether the file's head is logged there. The "
            "proof is looked for beside the file, as GAME.tlog-proof.",
        ),
    ] = None,
    proof: Annotated[
        list[Path] | None,
        Parameter(
            metavar="FILE",
            help="A proof from the public log that has to hold, instead of the one beside it. Repeatable.",
        ),
    ] = None,
    require_log: Annotated[
        bool,
        Parameter(help="Count a file as UNLOGGED whose last head no proof shows to be logged."),
    ] = False,
    json: Annotated[
        bool, Parameter(help="Print every layer as one JSON document; for a directory, one per line.")
    ] = False,
    shard: bulk.ShardWord = None,
    resume: bulk.Resume = None,
    jobs: bulk.Jobs = None,
    on: bulk.On = None,
    send: Annotated[
        bool, Parameter(help="With --on: send the files, for machines that cannot read them here.")
    ] = False,
    memory: Annotated[
        str, Parameter(metavar="SIZE", help="Address space for the audit of one file of many.")
    ] = "512MiB",
    per_file: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="Time for the audit of one file of many.",
            show_default="20s, and 10s for each MiB",
        ),
    ] = None,
    merge: Annotated[
        bool, Parameter(help="Put files that --resume has written together: the arguments are those.")
    ] = False,
    folder: Annotated[
        Path,
        Parameter(metavar="DIR", help="With --merge: where the game files are, if two are of one game."),
    ] = Path(),
) -> None:
    """Check a game file offline and report what it proves.

    The audit covers frames, encoding, hash chain, tree, the referee's signature, every author's signature, the
    committed deck and the rules, entry by entry. It fetches nothing, and trusts only the keys that you give.

    Exit codes:

    - 0 COMPLETE: the game is whole, and everything in it holds
    - 3 PREFIX: the game is not over, or the file was cut
    - 4 CORRUPT: altered, or never written by a referee
    - 5 UNTRUSTED_KEY: signed by another referee than yours
    - 6 STALE: a receipt is newer than the file
    - 7 FORK: a receipt contradicts the file
    - 8 RULES: an entry breaks the rules, or was not dealt from the deck
    - 9 UNSUPPORTED: another version of the rules, the format or the acts
    - 10 UNDISCLOSED: the referee did not disclose its deck
    - 14 LOSS: a receipt is of entries that the referee declared lost
    - 13 UNLOGGED: all is well, but nothing shows that the public log has it (with --require-log or --proof)
    - 1 a file cannot be read, or could not be audited; 2 a key or an option is invalid

    For a directory or a list, every file gets a line, and the exit code is that of the gravest verdict (FORK, RULES,
    CORRUPT, UNTRUSTED_KEY, STALE, LOSS, UNDISCLOSED, UNSUPPORTED, PREFIX, UNLOGGED). If an earlier file has the same
    game, the line says so; if the referee signed another history there, the verdict is FORK, or LOSS if the referee
    declared that. Each file is audited in a process of its own, with limits of memory and time: one that ends it is
    UNREADABLE, and costs no other file. Many files can be divided among machines, and a run that was stopped can be
    resumed: see docs/bulk.md.

    Examples: `referee audit demo/3f0c….gamelog --key demo/3f0c….vkey --seat-key 0=alice.pub`, `referee audit
    tournament/ --key referee.vkey`, `referee audit spring.games/3f0c….gamelog --key spring.vkey --event
    spring.eventlog`, `referee audit games/ --key referee.vkey --shard 0/4 --resume 0.jsonl`, `referee audit --merge
    0.jsonl 1.jsonl 2.jsonl 3.jsonl --folder games/`
    """
    if merge:
        from referee.cli.files import audit_many  # noqa: PLC0415 - one file needs no bulk run

        verifier = verifier_key("--key", key) if key else None
        raise Exit(audit_many.merge(files, folder, verifier, as_json=json))
    if key is None:
        raise Failure('Command "audit" parameter --key requires an argument. Try --help.', EXIT_USAGE)
    if len(files) > 1:
        raise Failure(f"{len(files)} files; expected one file, directory or list, or --merge", EXIT_USAGE)
    file = files[0]
    if (proof or require_log) and log_policy is None:
        raise Failure("--proof and --require-log need --log-policy: it says which log and witnesses count", EXIT_USAGE)
    demand = None
    if log_policy is not None:
        demand = Demand(read_policy("--log-policy", log_policy), required=require_log or bool(proof))
    registered = _registered(file, event) if event is not None and file.is_file() else {}
    policy = Policy(
        verifier=verifier_key("--key", key),
        seat_keys=registered | _numbered("--seat-key", seat_key or []),
        scribe_keys=_numbered("--scribe-key", scribe_key or []),
        receipts=tuple(_read(path) for path in receipt or []),
    )
    if (listing := files_of(file)) is not None:
        if seat_key or scribe_key or receipt or event or proof:
            what = "--seat-key, --scribe-key, --event, --proof and --receipt belong to one game"
            raise Failure(f"{what}; expected one file, not a directory", EXIT_USAGE)
        from referee.cli.files import audit_many  # noqa: PLC0415 - one file needs no bulk run

        with telling(FILE):
            wanted = audit_many.Options(
                shard=bulk.shard_of(shard),
                resume=resume,
                jobs=jobs,
                on=on,
                send=send,
                memory_mib=bulk.mebibytes("--memory", memory),
                seconds=bulk.seconds("--per-file", per_file) if per_file else None,
                as_json=json,
                demand=demand,
            )
            raise Exit(audit_many.audit_all(listing, policy, wanted))
    if shard or resume or on:
        raise Failure("--shard, --resume and --on are for many files; expected a directory or a list", EXIT_USAGE)
    try:
        with file.open("rb") as stream:
            if demand is None:
                report = auditor.audit(stream, policy)
            else:
                proofs = [_read(path) for path in proof] if proof else proofs_beside(file)
                report = audit_with_log(stream, policy, demand=demand, proofs=proofs)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except LogError as error:
        raise Failure(f"--receipt: {error}", EXIT_USAGE) from None
    print(report.as_json() if json else report.as_text().rstrip())
    raise Exit(report.exit_code)


def _registered(file: Path, event: Path) -> dict[int, bytes]:
    """Return the keys that the entrants at the game's table registered, by seat. Raise ``Failure``."""
    from referee.cli.shared.tournament import looking  # noqa: PLC0415 - few audits need it

    with looking(event) as found:
        state, number = found.log.state, found.log.event_id
    try:
        with file.open("rb") as stream:
            opened = decode_open(decode_entry(next(entries(stream), b"")).open)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except LogError:
        return {}  # the audit tells what is wrong with the file
    if opened.event_id != number:
        raise Failure(f"--event {event}: event {number}; the game was opened for event {opened.event_id}", EXIT_USAGE)
    tables = {(each.number, table): players for each in state.rounds for table, players in enumerate(each.tables, 1)}
    if (players := tables.get((opened.round, opened.table))) is None:
        raise Failure(f"--event {event}: it has no round {opened.round} with a table {opened.table}")
    return {seat: key for seat, who in enumerate(players) if (key := state.entrants[who].key)}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None


def _numbered(option: str, words: list[str]) -> dict[int, bytes]:
    """``2=KEY`` words by number. Raise ``Failure``."""
    keys: dict[int, bytes] = {}
    for word in words:
        number, equals, text = word.partition("=")
        if not (equals and number.isascii() and number.isdigit()):
            raise Failure(f"{option} {word!r}: expected NUMBER=KEY, such as 2=key.pem", EXIT_USAGE)
        if int(number) in keys:
            raise Failure(f"{option}: number {number} was given twice", EXIT_USAGE)
        keys[int(number)] = public_key(f"{option} {word}", text)
    return keys
