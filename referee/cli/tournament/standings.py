"""``referee event status``, ``standings``, ``show`` and ``check``: a tournament is looked at and checked."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared import output
from referee.cli.shared.arguments import verifier_key
from referee.cli.shared.failure import EXIT_USAGE, Exit, Failure
from referee.cli.shared.log_policy import log_policy as read_policy
from referee.cli.shared.tournament import Encoding, EventPath, failures, looking
from referee.console import printable
from referee.log.events import Moved
from referee.log.public.evidence import Demand, audit_file
from referee.log.verdict import Policy
from referee.text.notation.outcomes import counted
from referee.tournament.check import TRF, DocumentReport, EventReport, check_document, check_event
from referee.tournament.game_logs import Auditor
from referee.tournament.rebuild import read_again
from referee.tournament.trf import ENCODING
from referee.tournament.words import lines, signer, standing_lines, status_lines, told


def status(file: EventPath, /) -> None:
    """Show how the event stands, and which results are missing."""
    with looking(file) as event:
        found = list(status_lines(event.log.state, event.names))
    output.write(lines([f"event {event.log.event_id}", *found]))


def standings(file: EventPath, /) -> None:
    """Show the standings with points and tie-breaks, as they are now."""
    with looking(file) as event:
        found = list(standing_lines(event.log.state, event.names))
    output.write(lines(found))


def arbiters(file: EventPath, /) -> None:
    """Show who may sign acts of the event, with their keys and how many acts each has signed."""
    with looking(file) as event:
        keys = event.log.record.opened.scribe_keys
        signed = Counter(each.event.author.index for each in read_again(event.log) if isinstance(each.event, Moved))
    output.write(lines(f"{signer(n)}  {key.hex()}  {counted(signed[n], 'act')}" for n, key in enumerate(keys)))


def show(file: EventPath, /) -> None:
    """Show everything that was entered, a line each, with the number of the entry."""
    with looking(file) as event:
        shown = [line for happened in read_again(event.log) for line in told(happened, event.names)]
    output.write(lines(map(printable, shown)))


def check(
    file: EventPath,
    /,
    *,
    key: Annotated[
        str | None,
        Parameter(metavar="VKEY", help="The event's verifier key, as you have it from the organiser."),
    ] = None,
    games: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="A folder with the logs of the games, which are audited and compared."),
    ] = None,
    games_key: Annotated[str | None, Parameter(metavar="VKEY", help="The verifier key of the games' referee.")] = None,
    log_policy: Annotated[
        Path | None,
        Parameter(
            metavar="POLICY",
            help="Which public log you trust, and which witnesses: say what of the event and of --games it has. Proofs "
            "are looked for beside the files, as NAME.tlog-proof.",
        ),
    ] = None,
    require_log: Annotated[
        bool,
        Parameter(help="Count event and games as UNLOGGED that no proof shows to be logged."),
    ] = False,
    encoding: Encoding = ENCODING,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON document.")] = False,
) -> None:
    """Check an event: signatures, every pairing, every result, every standing, to the last fraction.

    FILE can also be an event.json, or a .trf of FIDE's form, of any program: pairings, points and standings are checked
    then, as far as it states them.

    Nothing of the program that pairs is used. With --games every result is compared with the audited log of its game;
    results by sheet are counted, as nothing vouches for them but the organiser.

    Exit codes: those of `referee audit` (0 COMPLETE, 3 PREFIX, 4 CORRUPT, 5 UNTRUSTED_KEY, 7 FORK, 8 RULES,
    9 UNSUPPORTED, 13 UNLOGGED), and 11 PAIRING: a pairing is not as it should be; 12 STANDINGS: points or standings are
    not those of the results.
    """
    if require_log and log_policy is None:
        raise Failure("--require-log needs --log-policy: it says which log and witnesses count", EXIT_USAGE)
    auditor: Auditor | None = None
    if log_policy is not None:
        demand = Demand(read_policy("--log-policy", log_policy), required=require_log)
        auditor = partial(audit_file, demand=demand)
    policy = Policy(verifier=None if key is None else verifier_key("--key", key))
    games_policy = Policy(verifier=None if games_key is None else verifier_key("--games-key", games_key))
    report: EventReport | DocumentReport
    with failures(file):
        if file.suffix.lower() in (".json", TRF):
            if log_policy is not None:
                raise Failure(f"{file}: a document is not signed, so no log has it; expected an .eventlog", EXIT_USAGE)
            report = check_document(file, encoding)
        else:
            report = check_event(file, policy, games, games_policy, auditor)
    output.write(report.as_json() if as_json else lines(report.lines()))
    raise Exit(report.exit_code)
