"""``referee adjudicate``: a game from an over-the-board record, judged after the fact."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import Parameter

from referee.cli.board import report as headings
from referee.cli.shared import game_texts, output
from referee.cli.shared.arguments import Language, words_in
from referee.cli.shared.commands import word_of
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.cli.shared.game_texts import checkpoint_signer, different_keys, not_recordable, write_new
from referee.log.entry import SALT_BYTES, player_hash
from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.verdict import Verdict
from referee.server.service.files import DEFAULT_ORIGIN
from referee.telling.recorder import adjudicated, has_rulings, listed, obstacle, recorded
from referee.telling.report import hashes as log_hashes
from referee.text.notation.headers import Setup
from referee.text.notation.table import ActKind
from referee.text.notation.violations import NotationError
from referee.text.report import rulings as line_rulings
from referee.text.report.model import Facts, Report, Seat, of_adjudication, wrong_line, wrong_result
from referee.text.report.rulings import Adjudication, Policy, RulingError
from referee.text.report.text import html, listing, summary, text
from referee.text.words.catalogue import ENGLISH, Words

_WRITERS = {".html": html, ".txt": text}


def adjudicate(
    record: Annotated[Path, Parameter(name="RECORD", help="The game, in the notation of docs/notation.md.")],
    /,
    *,
    on_illegal: Annotated[
        Policy, word_of(Policy), Parameter(help="The ruling on each move that the rules forbid.")
    ] = Policy.STOP,
    rulings: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="Rulings by lines of the record; --on-illegal holds for all other lines."),
    ] = None,
    list_illegal: Annotated[
        bool, Parameter(name="--list", help="List every illegal line, without any ruling, and write nothing.")
    ] = False,
    report: Annotated[
        list[Path] | None,
        Parameter(metavar="FILE", help="Write a report to this new .html or .txt file. Repeatable."),
    ] = None,
    out: Annotated[Path | None, Parameter(metavar="FILE", help="Write the signed log to this new game file.")] = None,
    key: Annotated[Path | None, Parameter(metavar="FILE", help="For --out: the scribe's private key.")] = None,
    referee_key: Annotated[Path | None, Parameter(metavar="FILE", help="For --out: the referee's private key.")] = None,
    arbiter_key: Annotated[
        list[Path] | None,
        Parameter(
            metavar="FILE",
            help="For --out: the private key of the arbiter, who signs every ruling. Repeat it for further arbiters.",
        ),
    ] = None,
    origin: Annotated[str, Parameter(metavar="NAME", help="The name under which the referee signs.")] = DEFAULT_ORIGIN,
    date: headings.Date = "",
    event: headings.Event = "",
    round_: headings.Round = None,
    table: headings.Table = None,
    arbiter: headings.Arbiter = "",
    names: headings.Names = None,
    language: Language = ENGLISH,
) -> None:
    """Judge the record of a game that was played over the board: every move, every draw, the score.

    The command lists what the rules forbid, with the line, the rule and its text. The arbiter chooses how the game then
    continues:

    - stop: the adjudication ends before the first illegal line
    - skip: the move does not count. If the seat moves again in the record, that move counts; if the record continues
      without one, the stand-in moves for the seat (TBL-2)
    - accept-as-played: the move stands if every rule that it breaks allows that (TBL-7); otherwise the adjudication
      ends before it. Draws and rolls can be neither skipped nor accepted

    --rulings rules on each illegal line on its own. The file has a line for each, with the number of the record's line
    and one of skip, stands, stop, or another legal move, which then counts instead. Points off a seat can follow. After
    stop, the arbiter can give the result instead, which counts as it is given. A semicolon begins a comment:

    - 17: skip
    - 19: stands, 2 points off seat 1
    - 31: 1: take denar-2
    - 44: stop, places 2 1

    --list names every illegal line, each judged on its own, and lines that do not fit their position. After such a line
    the game continues in the way that fits the next 200 lines best: as it was played if that can stand, with another
    legal move, without the line, or with a move that is missing before it. The list ends early where nothing fits.

    A record can also have lines about what happened beside the moves, such as a resignation. A line that cannot be,
    such as a second resignation, is listed like an illegal move and can be skipped. The record can leave out the moves
    of a seat that is out: the stand-in makes them.

    A record can contain the arbiter's rulings: a move that is marked with the rules that it breaks stands, whatever you
    choose here, and headers give forfeits, penalties and a ruled result.

    --out writes the game as a signed log, as `referee record` does, up to the point where the adjudication ends. It
    needs --arbiter-key with skip and accept-as-played, since each of these is a ruling, and for rulings in the record.
    Players' names (headers Player0 and so on) appear only in the report: the log has a hash of each, and the report has
    the salts that prove it.

    Exit codes: 0 adjudicated to the end of the record, or to a result that a ruling gives; 8 stopped at an illegal
    line, the record states a wrong result, or --list found something; 2 the record or the rulings are not in their
    notation, the record is ambiguous, a ruling cannot be applied, or wrong usage; 1 a file cannot be written.

    Example: `referee adjudicate final.txt --on-illegal skip --report final.html --out final.gamelog --key scribe.pem
    --referee-key referee.pem --arbiter-key arbiter.pem`
    """
    say = words_in(language)
    if list_illegal:
        others = {"--report": report, "--out": out, "--rulings": rulings}
        if given := [option for option, value in others.items() if value]:
            raise Failure(f"--list with {', '.join(given)}: expected --list alone, as it rules on nothing", EXIT_USAGE)
        _list(record, say)
    reports = report or []
    head, roster = headings.heading(date, event, arbiter), headings.roster_of(names)
    for path in reports:
        if path.suffix not in _WRITERS:
            raise Failure(f"--report {path}: expected a file name that ends in .html or .txt", EXIT_USAGE)
    rules = on_illegal is not Policy.STOP or bool(rulings)
    signers = _signers(out, key, referee_key, arbiter_key or [], rules=rules)
    signer = checkpoint_signer(origin, signers[1]) if signers else None
    try:
        ruled = () if rulings is None else game_texts.read(rulings, line_rulings.read)
        named = say.naming([roster.by_seat.get(seat, "") for seat in range(max(roster.by_seat, default=-1) + 1)])
        found = game_texts.read(record, lambda words: adjudicated(words, on_illegal, ruled, say=named))
    except RulingError as error:
        raise Failure(f"--rulings {rulings}: {error}", EXIT_USAGE) from None
    found.setup = headings.completed(found.setup, roster, round_, table)
    if signers:
        _check_recordable(record, found, signers)
    for path in (*reports, *([out] if out else [])):
        if path.exists():
            raise Failure(f"{path}: File exists", EXIT_FAILED)
    salts = [secrets.token_bytes(SALT_BYTES) if out else b"" for _ in range(found.setup.seats)]
    seats = _seats(found.setup, salts, say)
    hashes: Facts = ()
    data = b""
    if signers and signer and out:
        try:
            players = [_hash_of(found.setup, salt, n) for n, salt in enumerate(salts)]
            recorder = recorded(found, signers[0], signers[2:], players)
            data = recorder.file(signer)
        except (LogError, NotationError) as error:
            raise not_recordable(record, error) from None
        hashes = log_hashes(recorder.record, signer.verifier, say)
    made = of_adjudication(found, seats, hashes, head)
    written = [(path, _WRITERS[path.suffix](made).encode()) for path in reports]
    # The log last: what proves its players is in the reports alone.
    for path, document in written:
        write_new("--report", path, document)
    if out:
        write_new("--out", out, data)
    output.write(_told(made, [*reports, *([out] if out else [])]))
    if not found.ended or (on_illegal is Policy.STOP and not ruled and not found.is_clean):
        raise Exit(int(Verdict.RULES))


def _list(record: Path, say: Words) -> NoReturn:
    """Print every illegal line, and end."""
    found = game_texts.read(record, lambda words: listed(words, say))
    wrong = [wrong_line(found, each) for each in found.illegal if not each.ruled]
    result = wrong_result(found) if found.claimed is not None and not wrong else None
    output.write(listing(record.name, wrong, result, say))
    raise Exit(int(Verdict.RULES) if wrong or result else 0)


def _signers(
    out: Path | None, key: Path | None, referee_key: Path | None, arbiter_keys: Sequence[Path], *, rules: bool
) -> list[PrivateKey]:
    """Return the keys of the scribe, the referee and the arbiters; none without ``out``. Raise ``Failure``."""
    given = {"--key": key, "--referee-key": referee_key, "--arbiter-key": next(iter(arbiter_keys), None)}
    given |= {f"--arbiter-key ({number})": path for number, path in enumerate(arbiter_keys) if number}
    if out is None:
        if named := [option for option, path in given.items() if path is not None]:
            raise Failure(f"{', '.join(named)}: keys sign the game file; expected --out", EXIT_USAGE)
        return []
    needed = given if rules else {"--key": key, "--referee-key": referee_key}
    if missing := [option for option, path in needed.items() if path is None]:
        why = " (skipping and accepting are rulings)" if "--arbiter-key" in missing else ""
        raise Failure(f"--out needs {', '.join(missing)}{why}", EXIT_USAGE)
    return different_keys({option: path for option, path in given.items() if path is not None})


def _check_recordable(record: Path, found: Adjudication, signers: Sequence[PrivateKey]) -> None:
    """Raise ``Failure`` if no log can be written of the findings with these keys."""
    is_given_up = any(act.kind is ActKind.ABORT for act in found.acts)
    if not is_given_up and (why := obstacle(found.contest, found.setup.seats, found.state.pending())):
        raise Failure(f"{record}: {why}", EXIT_USAGE)
    needs_arbiter = any(act.needs_arbiter for act in found.acts) if found.acts else has_rulings(found.recorded)
    if len(signers) < 3 and (found.has_rulings or needs_arbiter):
        raise Failure(f"{record}: the record has an arbiter's rulings: --out needs --arbiter-key", EXIT_USAGE)


def _seats(setup: Setup, salts: Sequence[bytes], say: Words) -> list[Seat]:
    names = setup.players or ("",) * setup.seats
    seats = []
    for number, (name, salt) in enumerate(zip(names, salts, strict=True)):
        proved = {"player": player_hash(salt, name), "salt": salt} if name and salt else {}
        seats.append(Seat(number, name, tuple((say(f"seat.{what}"), data.hex()) for what, data in proved.items())))
    return seats


def _hash_of(setup: Setup, salt: bytes, seat: int) -> bytes:
    """Return the hash of the name; empty for a seat without one."""
    name = setup.players[seat] if setup.players else ""
    return player_hash(salt, name) if name else b""


def _told(made: Report, files: Sequence[Path]) -> str:
    written = "".join(f"\nwrote {path}" for path in files)
    return summary(made) + (f"{written}\n" if written else "")
