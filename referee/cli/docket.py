"""``referee docket``: how the table of a game stands."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import output
from referee.cli.acting import called
from referee.cli.arguments import game_id, verifier_key
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.remote import DEFAULT_SERVER, SendInClear, Server, TlsCa, TlsCert, TlsKey, security
from referee.games.game import Ending
from referee.log.audit import Policy, audit
from referee.log.errors import LogError
from referee.log.events import read_end, read_rule
from referee.log.intent import Author, Role
from referee.log.verdict import Finding, Verdict
from referee.notation.outcomes import counted
from referee.notation.times import moment_utc
from referee.service.docket import docket_message
from referee.transcript.game_file import GameFile
from referee.transcript.words import quoted, result_words, ruling_words
from referee.v1 import arbiter_service_pb2 as pb
from referee.wire.enums import word
from referee_clients.sdk.arbiter import arbiter

_FINE = (Verdict.COMPLETE, Verdict.PREFIX)


def docket(  # noqa: PLR0917 - typer reads options from the signature
    game: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="The game's id, or a game file.", show_default=False)
    ],
    server: Server = DEFAULT_SERVER,
    key: Annotated[
        str | None, typer.Option(metavar="VKEY", help="With a FILE: audit it with the referee's verifier key.")
    ] = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Show the state of a game's table: who has forfeited, strikes, protests, rulings, and what the game waits for.

    For a running game the command asks the referee, which needs no token. A game file is read and replayed offline,
    with the signatures of seats and arbiters; with --key it is also audited, as by `referee audit`.

    Exit codes: 0 shown; 1 the referee cannot be reached or does not have the game; 2 wrong usage; for a file those of
    `referee audit`, but 0 also if the game is not over.

    Examples: `referee docket 0197a1cb1db4c9da428632ae52ec26d7`, `referee docket final.gamelog --key referee.vkey`
    """
    path = Path(game)
    if path.is_file() or path.suffix:
        found, checked = _of_file(path, key)
        output.write("".join(f"{line}\n" for line in (*checked, *told(found))))
        return
    if key is not None:
        raise Failure(
            "--key is only for files: a running game cannot be audited; expected a game file, or no --key", EXIT_USAGE
        )
    game_id(game)
    secured = security(server, tls_ca, tls_cert, tls_key, insecure)

    async def ask() -> pb.Docket:
        async with arbiter(server, game, security=secured) as calls:
            return await calls.docket()

    output.write("".join(f"{line}\n" for line in told(called(server, ask))))


def _of_file(path: Path, key: str | None) -> tuple[pb.Docket, list[str]]:
    """And what an audit says, with a key. Raise ``Failure``."""
    verifier = None if key is None else verifier_key("--key", key)
    try:
        data = path.read_bytes()
        game_file = GameFile.read(BytesIO(data))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{path}: {error}", int(Finding.of(error).verdict)) from None
    checked = []
    if verifier is not None:
        report = audit(BytesIO(data), Policy(verifier))
        if report.verdict not in _FINE:
            raise Failure(f"{path}: {report.verdict.name}: {report.decisive}", report.exit_code)
        checked.append(f"audit: {report.verdict.name}")
    return docket_message(game_file.record, game_file.texts), checked


def told(found: pb.Docket) -> list[str]:
    """Return a line for everything."""
    lines = [f"game {found.game_id}, {found.size} entries"]
    if found.HasField("result"):
        lines.append(f"the game is over: {found.outcome}")
        lines.append(f"  {result_words(read_end(found.result))}")
    if not found.table_rules:
        return [*lines, "this game has no rules of the table, and so no protests and no rulings"]
    if found.suspension:
        lines.append(f"the game is {word(pb.Docket.Suspension, found.suspension)}")
    lines += [f"seat {seat}: {words}" for seat, of in enumerate(found.seats) if (words := _seat(of))]
    entered = {**{of.seq: _dispute(of) for of in found.disputes}, **{of.seq: _ruling(of) for of in found.rulings}}
    lines += [entered[seq] for seq in sorted(entered)]
    if found.HasField("proposal"):
        missing = ", ".join(f"seat {seat}" for seat in found.proposal.missing)
        what = f"entry {found.proposal.seq} proposes to take back everything after entry {found.proposal.to_seq}"
        lines.append(f"{what}; {missing} yet to agree")
    if found.HasField("waiting"):
        when = f"entered at {moment_utc(found.until_ms)}, if nobody acts before" if found.until_ms else _held(found)
        lines.append(f"the game has come to its end: {found.outcome}")
        lines.append(f"  {when}")
        lines.append(f"  {result_words(read_end(found.waiting))}")
    return lines if len(lines) > 1 else [*lines, "no forfeits, no disputes, no rulings"]


def _seat(of: pb.Docket.Seat) -> str:
    parts = [
        *([f"out ({Ending(of.out).words})"] if of.out else []),
        *([counted(of.strikes, "strike")] if of.strikes else []),
        *([f"{counted(of.points_off, 'point')} off"] if of.points_off else []),
    ]
    return ", ".join(parts)


def _dispute(dispute: pb.Docket.Dispute) -> str:
    kind, against = ("appeal", "the ruling of entry") if dispute.is_appeal else ("protest", "entry")
    ruler = "another arbiter" if dispute.is_appeal else "an arbiter"
    state = f"ruled on in entry {dispute.ruled}" if dispute.HasField("ruled") else f"open: {ruler} has to rule on it"
    what = f"entry {dispute.seq}: {kind} of seat {dispute.seat} against {against} {dispute.against} ({dispute.rule_id})"
    return f"{what}{_words(dispute.text)}; {state}"


def _ruling(ruling: pb.Docket.Ruling) -> str:
    # Which move an arbiter lets stand is not put in words here: that takes the position.
    ruled = read_rule(ruling.rule, Author(Role.ARBITER, ruling.arbiter), lambda data: data)
    return f"entry {ruling.seq}: {ruled.author} rules: {ruling_words(ruled)}{_words(ruling.text)}"


def _words(text: str) -> str:
    return f": {quoted(text)}" if text else ""


def _held(found: pb.Docket) -> str:
    waiting = [str(dispute.seq) for dispute in found.disputes if not dispute.HasField("ruled")]
    return f"waits for a ruling on entry {' and '.join(waiting)}" if waiting else "entered at once"
