"""``referee log watch`` and ``check``: a public log is followed from outside, or recomputed as a whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Annotated, Final

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from referee.cli.shared.arguments import verifier_key
from referee.cli.shared.bulk import GRAVITY, files_of
from referee.cli.shared.failure import EXIT_USAGE, Exit, Failure
from referee.cli.shared.log_policy import log_policy
from referee.cli.shared.output import write
from referee.console import printable
from referee.log.errors import Code, LogError
from referee.log.file import regular
from referee.log.fork import Side, read_file
from referee.log.merkle import leaf_hash, root
from referee.log.note import MAX_COSIGNED_BYTES, VerifierKey
from referee.log.public.checkpoint import LogPolicy, demand_quorum, log_origin, open_log_checkpoint
from referee.log.public.monitor import Limits, Look, State, StateFailed, View, look, views
from referee.log.public.sources import CHECKPOINT, Web, open_source
from referee.log.public.tiles import Source, check_log
from referee.log.verdict import Finding, Verdict
from referee.text.notation.outcomes import counted
from referee.text.notation.times import duration_ms, in_words, moment_utc

Where = Annotated[
    str,
    Parameter(name="URL|DIR", help="The log: its address, or the folder that the referee writes.", show_default=False),
]
PolicyFile = Annotated[
    Path,
    Parameter(
        name="--policy",
        metavar="POLICY",
        help="Which log you trust, and which witnesses: a policy file.",
        show_default=False,
    ),
]

EMPTY: Final = "the log is empty, as no game was opened yet"


@contextmanager
def source(where: str) -> Iterator[Source]:
    """Give the reader of the log. Raise ``Failure``, also for an ``OSError`` inside."""
    try:
        reader = open_source(where)
    except ValueError as error:
        raise Failure(f"{where}: {error}", EXIT_USAGE) from None
    try:
        yield reader
    except OSError as error:
        raise Failure(f"{where}: {error.strerror or error}") from None
    finally:
        if isinstance(reader, Web):
            reader.close()


def verdict(problems: Sequence[LogError]) -> Verdict:
    """Return the gravest; COMPLETE without any."""
    found = {Finding.of(problem).verdict for problem in problems}
    return next((each for each in GRAVITY if each in found), Verdict.COMPLETE)


def headline(found: Verdict) -> str:
    """Return the first line of a command's output."""
    return "HOLDS" if found is Verdict.COMPLETE else found.name


def check(where: Where, /, *, policy: PolicyFile) -> None:
    """Recompute a whole log from its leaves, and name every file that was altered.

    Every bundle is hashed, every tile compared with what is below it, and the root with the one that the log signed.
    Use `referee log watch` to follow a log: it reads only what is new.

    Exit codes: 0 HOLDS; 4 CORRUPT: a file was altered, or is missing; 5 UNTRUSTED_KEY: not signed by a log of the
    policy, or without its quorum; 1 the log cannot be read; 2 wrong usage.

    Example: `referee log check https://club.example/log --policy club.policy`
    """
    trusted = log_policy("--policy", policy)
    problems, lines = list[LogError](), list[str]()
    try:
        with source(where) as reader:
            lines.append(_checked(reader, trusted, problems))
    except LogError as error:
        problems.append(error)
    code = verdict(problems)
    write("".join(f"{printable(line)}\n" for line in [headline(code), *(f"  {each}" for each in problems), *lines]))
    raise Exit(int(code))


def _checked(reader: Source, trusted: LogPolicy, problems: list[LogError]) -> str:
    """Return what was compared, in a line; note what is wrong. Raise ``LogError``, ``OSError``."""
    note = reader.read(CHECKPOINT, MAX_COSIGNED_BYTES)
    if note is None:
        raise LogError(Code.NOTE, "there is no checkpoint", "a log, whose newest checkpoint is at /checkpoint")
    witnessed = open_log_checkpoint(note, trusted)
    try:
        demand_quorum(witnessed, trusted)
    except LogError as error:
        problems.append(error)
    head = witnessed.head
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("check", total=head.size)
        found = check_log(reader, head, lambda done: progress.update(task, completed=done))
    problems += found.faults
    cosigned = f"cosigned by {', '.join(witnessed.cosigned) or 'no witness'}"
    if not head.size:
        return f"{head.origin}: {EMPTY}, {cosigned}"
    leaves, tiles = counted(head.size, "leaf", "leaves"), counted(found.tiles, "tile")
    return f"{head.origin}: {leaves} and {tiles} compared, {cosigned}"


_MOST_LISTED = 20
_CAN_SPLIT = "two lists can both have the quorum {}, as it can be met by witnesses that have none in common"


@dataclass
class _Compared:
    """The findings of the comparison with files."""

    files: int = 0
    problems: list[LogError] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


def watch(
    where: Where,
    /,
    *,
    policy: PolicyFile,
    state: Annotated[
        Path,
        Parameter(
            metavar="FILE",
            help="Your copy of this log, made at the first look. Keep it: a second history shows against it.",
            show_default=False,
        ),
    ],
    max_age: Annotated[
        str,
        Parameter(metavar="TIME", help="How old the witnesses' signatures may be, such as 30m; 0 for any age."),
    ] = "1h",
    max_open: Annotated[
        str,
        Parameter(metavar="TIME", help="How long a game may last, such as 7d; 0 for no limit."),
    ] = "0",
    files: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Compare the game files below this directory with the log. Needs --key."),
    ] = None,
    key: Annotated[
        str | None,
        Parameter(metavar="VKEY", help="With --files: the referee's verifier key, a .vkey file or its text."),
    ] = None,
    require_log: Annotated[
        bool,
        Parameter(help="With --files: count a file as UNLOGGED whose last head is not in the log."),
    ] = False,
    ask_witnesses: Annotated[
        bool,
        Parameter(
            help="Ask the policy's witnesses what they have signed last, and hold it against the log: a log that shows "
            "witnesses different lists is found.",
        ),
    ] = False,
    as_json: Annotated[bool, Parameter(name="--json", help="Print what was found as one JSON document.")] = False,
) -> None:
    """Look at a public log once, and hold it against what you have seen before.

    Every new leaf is read and hashed, so you keep a copy of the log that you have checked yourself. Run it from time
    to time, such as every ten minutes. It lists the games that were opened and have not ended, and since when you know
    of them: one that stays there has been abandoned, or is being kept from you. With --max-open the exit code says so.

    Exit codes:

    - 0 HOLDS: the log has grown out of what you have seen, and a quorum of witnesses has signed of late
    - 3 PREFIX: a game was opened longer ago than --max-open, and has not ended
    - 4 CORRUPT: a file of the log was altered
    - 5 UNTRUSTED_KEY: not signed by a log of the policy, or without its quorum
    - 6 STALE: the witnesses' signatures are too old, the log shows less than before, or a file is older than the log
    - 7 FORK: the log contradicts what you have seen, itself, or a file that the referee signed
    - 13 UNLOGGED: the last head of a file is not in the log (with --require-log)
    - 1 the log or a file cannot be read; 2 wrong usage

    Example: `referee log watch https://club.example/log --policy club.policy --state club.seen --files games --key
    club.vkey`
    """
    trusted = log_policy("--policy", policy)
    if (files is None) != (key is None):
        raise Failure("--files and --key belong together: a file counts as the referee signed it", EXIT_USAGE)
    if require_log and files is None:
        raise Failure("--require-log is about files; expected --files and --key", EXIT_USAGE)
    verifier = None if key is None else verifier_key("--key", key)
    limits = Limits(_limit_s("--max-age", max_age), _limit_s("--max-open", max_open))
    now_s = int(time())
    try:
        seen = State(state)
    except StateFailed as error:
        raise Failure(f"--state {error}") from None
    try:
        with source(where) as reader:
            found = look(reader, trusted, seen, now_s, limits)
            asked = _ask(reader, trusted, seen) if ask_witnesses and found.is_joined else []
        contradicting = [found.note] if not found.is_joined else []
        contradicting += [view.note for view in asked if view.problem is not None and view.problem.code is Code.FORK]
        for note in contradicting:
            _keep_evidence(state, note, Verdict.FORK if found.is_joined else verdict(found.problems))
        if verifier is not None and found.witnessed.head.origin != log_origin(verifier.name):
            what = f"--key {verifier.name}: files of this referee are in the log {log_origin(verifier.name)}"
            raise Failure(f"{what}; {where} is {found.witnessed.head.origin}", EXIT_USAGE)
        compared = (
            _Compared() if files is None or verifier is None else _compare(files, verifier, seen, required=require_log)
        )
    except StateFailed as error:
        raise Failure(f"--state {error}") from None
    except LogError as error:
        code = verdict([error])
        raise Failure(f"{where}: {error}", code) from None
    finally:
        seen.close()
    problems = [*found.problems, *(view.problem for view in asked if view.problem), *compared.problems]
    if trusted.can_split and trusted.witnesses and not ask_witnesses:
        compared.comments.append(
            f"{_CAN_SPLIT.format(trusted.quorum)}: --ask-witnesses shows whether they saw one list"
        )
    code = verdict(problems)
    if as_json:
        write(_as_json(found, compared, asked, problems))
    else:
        write("".join(f"{printable(line)}\n" for line in _lines(found, compared, asked, problems, now_s)))
    raise Exit(int(code))


def _limit_s(option: str, text: str) -> int | None:
    """Return the seconds, None for any age. Raise ``Failure``."""
    if text == "0":
        return None
    found = duration_ms(text)
    if not found:
        raise Failure(f"{option} {text!r}: expected a time such as 1h or 7d, or 0 for any", EXIT_USAGE)
    return max(1, found // 1000)


def _ask(reader: Source, policy: LogPolicy, seen: State) -> list[View]:
    """Ask the witnesses. Raise ``Failure`` for an address that is none, or if none has one."""
    if not any(peer.url for peer in policy.witnesses.values()):
        raise Failure("--ask-witnesses: no witness of the policy has an address", EXIT_USAGE)
    with ExitStack() as stack:

        def ask(url: str) -> Source:
            try:
                return stack.enter_context(closing(Web(url)))
            except ValueError as error:
                raise Failure(f"--policy: {url}: {error}", EXIT_USAGE) from None

        return views(reader, policy, seen, ask)


def _keep_evidence(state: Path, note: bytes, code: Verdict) -> None:
    """Write the checkpoint that does not fit beside the state, whose own one is the other half. Nothing is replaced.

    Raise ``Failure`` with the exit code if it cannot be written.
    """
    number = 1
    while True:
        path = state.with_name(f"{state.name}.fork{'' if number == 1 else f'-{number}'}.checkpoint")
        try:
            if path.exists():
                if path.read_bytes() == note:
                    return
                number += 1
                continue
            with path.open("xb") as stream:
                stream.write(note)
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}", code) from None
        return


def _compare(folder: Path, verifier: VerifierKey, seen: State, *, required: bool) -> _Compared:
    """Hold every file against the heads of its game. Raise ``Failure`` if one cannot be read, or there is none.

    ``required``: whether the last head of each has to be in the log.
    """
    compared, known = _Compared(), set[str]()
    if (listing := files_of(folder)) is None:
        raise Failure(f"--files {folder}: expected a directory", EXIT_USAGE)
    for name in listing.names:
        path = listing.folder / name
        compared.files += 1
        try:
            with regular(path) as stream:
                side = read_file(stream.read(), verifier)
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}") from None
        except LogError as error:
            compared.comments.append(f"{name} was not compared: {error}")
            continue
        game = side.checkpoint.head.origin
        known.add(game)
        heads = seen.heads(game)
        if (missing := _not_logged(side, [head.size for _, head in heads], name)) is not None:
            if required:
                compared.problems.append(LogError(Code.UNLOGGED, missing))
            else:
                compared.comments.append(missing)
        for number, head in heads:
            if (problem := _against(side, number, head.size, head.root, name)) is not None:
                compared.problems.append(problem)
    prefix = f"{verifier.name}/g/"
    if absent := [game.removeprefix(prefix) for game in seen.games() if game.startswith(prefix) and game not in known]:
        listed = ", ".join(absent[:_MOST_LISTED]) + (" ..." if len(absent) > _MOST_LISTED else "")
        compared.comments.append(f"no file here of {counted(len(absent), 'game')} in the log: {listed}")
    return compared


def _not_logged(side: Side, sizes: Sequence[int], name: str) -> str | None:
    """Return that the log lacks the last head of a file; None if it has it, or a later one."""
    if not sizes:
        return f"{name} is not in the log: game {side.checkpoint.game_id.hex()}"
    if (most := max(sizes)) < (ours := side.checkpoint.size):
        last = counted(ours, "signed entry", "signed entries")
        return f"{name} has {last}, and the log knows of {most} alone: game {side.checkpoint.game_id.hex()}"
    return None


def _against(side: Side, number: int, size: int, expected: bytes, name: str) -> LogError | None:
    """Return what contradicts between a file and a head in the log."""
    if size > side.checkpoint.size:
        what = f"{name} has {counted(side.checkpoint.size, 'signed entry', 'signed entries')}"
        return LogError(Code.STALE, what, f"{size}, as entry {number} of the log shows")
    if root([leaf_hash(side.entries[index]) for index in range(size)]) != expected:
        return LogError(Code.FORK, f"{name}: entry {number} of the log has another root over {size} entries")
    return None


def _lines(found: Look, compared: _Compared, asked: list[View], problems: list[LogError], now_s: int) -> Iterator[str]:
    yield headline(verdict(problems))
    yield from (f"  {each}" for each in problems)
    head, cosigned = found.witnessed.head, found.witnessed.cosigned
    by = ", ".join(f"{name} at {moment_utc(1000 * time_s)}" for name, time_s in cosigned.items()) or "no witness"
    new = max(0, head.size - found.before)
    what = f"{counted(head.size, 'leaf', 'leaves')}, {new} new" if head.size else EMPTY
    yield f"{head.origin}: {what}, cosigned by {by}"
    if found.witnessed.uncounted:
        yield f"not counted, as this installation has no ML-DSA: {', '.join(found.witnessed.uncounted)}"
    for view in asked:
        if view.size is None:
            yield f"witness {view.name} was not compared: {view.comment}"
        else:
            yield f"witness {view.name} has signed {counted(view.size, 'leaf', 'leaves')}"
    if compared.files:
        yield f"{counted(compared.files, 'file')} compared with the log"
    overdue = f", {found.overdue} of them too long ago" if found.overdue else ""
    yield f"{counted(len(found.unended), 'game')} opened and not ended{overdue}"
    for game, entries, since in found.unended[:_MOST_LISTED]:
        yield f"  {game}: {counted(entries, 'entry', 'entries')}{_since(since, now_s)}"
    if len(found.unended) > _MOST_LISTED:
        yield f"  and {len(found.unended) - _MOST_LISTED} more"
    yield from (f"comment: {comment}" for comment in (*found.comments, *compared.comments))


def _since(seen_s: int | None, now_s: int) -> str:
    if seen_s is None:
        return ""
    ago = max(0, now_s - seen_s) // 60 * 60_000
    return f", first seen at {moment_utc(1000 * seen_s)}" + (f", {in_words(ago)} ago" if ago else "")


def _as_json(found: Look, compared: _Compared, asked: list[View], problems: list[LogError]) -> str:
    code = verdict(problems)
    head = found.witnessed.head
    value = {
        "verdict": headline(code),
        "exit_code": int(code),
        "problems": [{"code": each.code.value, "what": each.what, "expected": each.expected} for each in problems],
        "origin": head.origin,
        "size": head.size,
        "before": found.before,
        "root": head.root.hex(),
        "cosigned": dict(found.witnessed.cosigned),
        "uncounted": list(found.witnessed.uncounted),
        "asked": {view.name: view.size for view in asked},
        "files": compared.files,
        "unended": [each._asdict() for each in found.unended],
        "overdue": found.overdue,
        "comments": [*found.comments, *compared.comments],
    }
    return json.dumps(value, indent=2) + "\n"
