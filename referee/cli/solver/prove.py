"""``referee prove``: claims about the rules of games proved or refuted, and certificates checked, a line each.

Knows no game: how its claims are written is in its package of ``referee.text.notation``, what they look like in that of
``referee.text.render``, and how certificates are checked in that of ``solver``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, BinaryIO, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from referee import console
from referee.cli.shared import output
from referee.cli.shared.failure import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Exit, Failure
from referee.cli.shared.json_lines import Questions, Strict, batches, opened, read_all, write
from referee.cli.shared.solver import NoAnswer, OutOfTime, Rlimit, Solver
from referee.cli.solver import questions
from referee.games import registry
from referee.games.game import Violation
from referee.games.results import Result
from referee.log.errors import LogError
from referee.log.replay import Record
from referee.log.verdict import Finding
from referee.telling.game_file import GameFile, as_text
from referee.telling.words import told_end
from referee.text.notation import position_text
from referee.text.notation.outcomes import counted, outcome, players
from referee.text.notation.position_text import Position
from referee.text.notation.questions import Answerers, QueryError, answer_line, encode, parse_object, shown
from referee.text.notation.violations import sentence
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.registry import BadCertificate, Checked, Provable, provable

_MOST_BYTES: Final = 1 << 20
"""The largest certificate, or answer with one."""


def prove(
    file: Questions = None,
    /,
    *,
    strict: Strict = False,
    check: Annotated[
        bool,
        Parameter(
            help="Check certificates without a solver: the answers of this command, or one "
            "certificate as bytes or base64.",
        ),
    ] = False,
    text: Annotated[bool, Parameter(help="Print answers as text, with pictures.")] = False,
    rlimit: Rlimit = None,
    smt_lib: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Write the questions put to Z3 into this directory, as SMT-LIB 2."),
    ] = None,
) -> None:
    """Prove or refute claims about the rules of games: one JSON object per line in, one per line out, in order.

    Layouts and kingdoms are written as for `referee inspect`. To claim that a tile may be placed, removed or swapped,
    or a domino placed:

        {"game":"alhambra","layout":{},"action":{"place":"tower-12","at":[1,0]}}
        {"game":"alhambra","layout":{"1,0":"tower-12"},
        "action":{"remove":[1,0]}}
        {"game":"alhambra","layout":{"1,0":"tower-12"},
        "action":{"swap":"garden-10-N","at":[1,0]}}
        {"game":"kingdomino","frame":{"size":5,"castle":[2,2]},
        "kingdom":[[20,1,0,2,0]],"place":[48,0,1,0,2]}

    The answer has "verdict" (legal, illegal, or undecided if the budget ran out), "rules" (every rule that is broken),
    "reasons" (the same in words, with the cells), "core" (one minimal set of facts that contradict the claim),
    "certificate" (base64, to be checked without a solver) and "ms".

    Other claims, with the verdicts holds, fails and undecided, or for a turn as above:

        {"game":"alhambra","layout":{},"turn":{"reserve":[],
        "bought":["tower-12"],"moves":[{"reserve":"tower-12"}]}}
        {"game":"alhambra","layout":{},"no_placement":"pavilion-2-NEW"}
        {"game":"alhambra","distance":{"start":{},"reserve":["tower-12"],
        "goal":{"1,0":"tower-12"},"turns":1}}
        {"game":"alhambra","hand_out":{"hands":[["denar-3"],[]],
        "slots":[{"currency":"denar","tile":"tower-12","seat":0}]}}
        {"game":"kingdomino","frame":{"size":5,"castle":null},
        "kingdom":[],"discard":48}

    Moves of a turn: add, remove, swap, place, reserve, give. An "id" comes back with the answer. A line that cannot be
    answered gets {"error":"…","line":N}, and the others are still answered; the exit code is 0 all the same, unless
    --strict is given.

    `referee prove questions.jsonl | referee prove --check` checks every certificate and shows its claim in "claim". It
    exits with 1 if a certificate was refused.
    """
    if check:
        if smt_lib is not None or rlimit is not None:
            raise Failure("--check asks no solver; expected neither --rlimit nor --smt-lib with it", EXIT_USAGE)
        errors = _check_all(file, text=text)
    else:
        with Solver() as solver:
            errors = _prove_all(file, _Prover(solver, rlimit, smt_lib, text=text), text=text)
    if errors and (strict or check):
        raise Exit(EXIT_FAILED)


# Proving


class _Prover:
    """Answers questions; knows the line of the one at hand."""

    def __init__(self, solver: Solver, rlimit: int | None, smt_lib: Path | None, *, text: bool) -> None:
        self._solver = solver
        self._rlimit = rlimit
        self._folder = smt_lib
        self._text = text
        self.line = 0
        self.games: Answerers = {game: partial(self._answer, game) for game in _provables()}

    def _answer(self, game: str, question: dict[str, Any]) -> dict[str, Any]:
        about = _notation(game).claim(question)
        request = _provables()[game].request(about)
        request.budget.rlimit = self._rlimit or 0
        request.smt_lib = self._folder is not None
        start = perf_counter()
        try:
            proof = self._solver.ask("ProveMove", request, pb.ProveMoveResponse).proof
        except NoAnswer as error:
            raise QueryError(f"no proof: {error}") from None
        spent = round(1000 * (perf_counter() - start), 2)
        found = None
        if proof.finding != pb.FINDING_UNDECIDED:
            # A certificate is passed on only if it was checked here, too.
            found = _provables()[game].check(proof.certificate)
            if found.claim != about or found.holds != (proof.finding == pb.FINDING_HOLDS):
                raise Failure(
                    f"line {self.line}: the answer and its certificate differ; this is a bug, please report it"
                )
        files = self._written(proof.smt_lib)
        if self._text:
            more = [f"one core: {' '.join(proof.core)}"] if proof.core else []
            more += [f"wrote {name}" for name in files]
            more.append(f"certificate: {len(proof.certificate)} bytes; {spent:g} ms")
            return {"text": _told(game, about, found, more)}
        return {
            **_fields(game, about, found),
            "core": [*proof.core],
            "certificate": base64.b64encode(proof.certificate).decode("ascii") if found else None,
            "ms": spent,
            **({"smt_lib": files} if self._folder is not None else {}),
        }

    def _written(self, files: Iterable[pb.SmtLibFile]) -> dict[str, str]:
        """Return what a solver answers, by name of the file, which is in the folder then. Raise ``Failure``."""
        names = {}
        for each in files:
            assert self._folder is not None  # noqa: S101 - or none was asked for
            path = self._folder / f"line-{self.line}-{each.name}"
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                path.write_text(each.text, encoding="utf-8")
            except OSError as error:
                raise Failure(f"--smt-lib {path}: {error.strerror}", EXIT_USAGE) from None
            names[path.name] = each.expected
        return names


def _prove_all(file: Path | None, prover: _Prover, *, text: bool) -> bool:
    """Return whether there was an error answer."""
    errors = False
    with opened(file) as questions:
        for line in chain.from_iterable(batches(questions)):
            prover.line += 1
            errors |= _write(answer_line(line, prover.games), prover.line, text=text)
    return errors


def _write(found: dict[str, Any], line: int, *, text: bool) -> bool:
    """Return whether it was an error."""
    is_error = "error" in found
    if is_error:
        found["line"] = line
    if text:
        told = found["error"] + "\n" if is_error else found["text"]
        write(f"line {line}: {told}\n".encode())
    else:
        write(encode(found))
    return is_error


# Checking


def _check_all(file: Path | None, *, text: bool) -> bool:
    """Return whether one was refused."""
    errors = False
    with opened(file) as stream:
        for number, read_one in enumerate(_certificates(stream), 1):
            try:
                found = _checked(read_one(), text=text)
            except QueryError as error:
                found = {"error": str(error)}
            errors |= _write(found, number, text=text)
    return errors


def _certificates(stream: BinaryIO) -> Iterator[Callable[[], bytes]]:
    """Yield how to get each; that may raise ``QueryError``."""
    if stream.peek(1)[:1] == b"{":  # type: ignore[attr-defined] # no certificate begins so
        for line in chain.from_iterable(batches(stream, _MOST_BYTES)):
            yield partial(_in_answer, line)
    else:
        data = read_all(stream, _MOST_BYTES + 1)
        yield partial(_alone, data)


def _in_answer(line: bytes) -> bytes:
    found = parse_object(line, _MOST_BYTES)
    held = found.get("certificate")
    if type(held) is not str:
        raise QueryError(f"certificate: {shown(held)}; expected base64, as in an answer that is not undecided")
    try:
        return base64.b64decode(held, validate=True)
    except ValueError:
        raise QueryError(f"certificate: {shown(held)}; expected base64") from None


def _alone(data: bytes) -> bytes:
    """Return a certificate alone, given as bytes, or as base64 in lines of any length."""
    if not 0 < len(data) <= _MOST_BYTES:
        raise QueryError(f"certificate: {'longer than' if data else 'empty; expected at most'} {_MOST_BYTES} bytes")
    try:
        return base64.b64decode(b"".join(data.split()), validate=True)
    except ValueError:
        return data


def _checked(data: bytes, *, text: bool) -> dict[str, Any]:
    """Return a certificate does not name its game; no bytes are one of two."""
    faults = []
    for game, checker in _provables().items():
        try:
            found = checker.check(data)
        except BadCertificate as error:
            faults.append(f"as one of {game}: {error}")
            continue
        if text:
            return {"text": _told(game, found.claim, found, [f"certificate: {len(data)} bytes"])}
        return {
            **_fields(game, found.claim, found),
            "claim": {"game": game, **_notation(game).written(found.claim)},
        }
    raise QueryError(f"certificate: {'; '.join(faults)}")


# Both


@cache
def _provables() -> dict[str, Provable]:
    """Return what can be proved of the newest version of each game of which anything can."""
    found = {game: provable(game, registry.get(game).version) for game in registry.names()}
    return {game: part for game, part in found.items() if part is not None}


def _notation(game: str) -> Any:
    return registry.part("referee.text.notation", game, "claims")


def _fields(game: str, about: Any, found: Checked | None) -> dict[str, Any]:
    violations = found.violations if found else ()
    counterexample = found.counterexample if found else None
    return {
        "verdict": _verdict(game, about, found),
        "rules": list(dict.fromkeys(violation.rule_id for violation in violations)),
        "reasons": _reasons(game, violations),
        **({"counterexample": _notation(game).written_move(counterexample)} if counterexample else {}),
        **({"assumed": found.assumed} if found and found.assumed else {}),
    }


def _verdict(game: str, about: Any, found: Checked | None) -> str:
    if found is None:
        return "undecided"
    if _notation(game).is_of_move(about):
        return "legal" if found.holds else "illegal"
    return "holds" if found.holds else "fails"


def _reasons(game: str, violations: Iterable[Violation]) -> list[str]:
    """Return each rule that is broken, with the cells and the catalogue's text."""
    rules = {rule.id: rule for rule in registry.get(game).catalogue}
    return [sentence(violation, rules) for violation in violations]


def _told(game: str, about: Any, found: Checked | None, more: list[str]) -> str:
    """Return the claim and its verdict, why, and pictures."""
    notation, fields = _notation(game), _fields(game, about, found)
    lines = [f"{notation.describe(about)}: {fields['verdict']}", *fields["reasons"]]
    if found and found.counterexample:
        lines.append(f"counterexample: {notation.describe_move(found.counterexample)}")
    if "assumed" in fields:
        lines.append(f"not checked, but refuted by a solver: {fields['assumed']}")
    pictures = registry.part("referee.text.render", game).pictures(about, ascii_only=not console.has_lines())
    return "\n".join([*lines, *more]) + "\n\n" + "\n".join(pictures)


EXIT_OPEN: Final = 11
"""An exit code that no other command has, and none of the verdicts of ``referee audit``."""


def prove_decided(
    file: Annotated[Path, Parameter(name="FILE", help="A game file.", show_default=False)],
    /,
    *,
    at: Annotated[
        int | None,
        Parameter(
            metavar="N", help="Look at the position after entry N; later entries are not read.", validator=Number(gte=0)
        ),
    ] = None,
    timeout: Annotated[
        float, Parameter(metavar="SECONDS", help="Search for at most this long.", validator=Number(gte=0.1, lte=1e6))
    ] = 60.0,
    rlimit: Rlimit = None,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Prove that a game of Alhambra or Kingdomino is decided: that only one seat can still win.

    `referee prove-decided adjourned.gamelog`, `referee prove-decided game.gamelog --at 120 --json`

    DECIDED: one seat takes first place alone, whatever is still drawn and however the seats play, even if that seat
    plays as badly as the rules allow. OPEN: this was not proven, which does not mean that it is false. The answer then
    shows, for each other seat, how far it can at most end ahead of the leader, in points and with reasons. The game is
    assumed to be played to its end by its rules: no seat resigns, no clock runs out, no arbiter rules.

    For a game that has come to its end, even if the result still waits for protests, only the result is shown: who won
    and why, or that there is no winner. `--at` looks at the game before its end.

    Exit codes: 0 decided, or ended with one winner; 11 open, or ended without one; 1 no answer in time; 2 wrong usage,
    or a game for which this cannot be proved. A file that is incomplete or wrong ends with one line and the exit code
    that `referee audit` gives: 3 cut off (the entries before are still used), 4 damaged, 8 against the rules, 9 not
    supported.
    """
    game_file = _read(file, at)
    record = game_file.record
    game, entry = as_text(game_file), record.size - 1
    result = record.game.result()
    if result is not None:
        exit_code = _tell_result(record, result, as_json=as_json)
    else:
        arbitration = record.game.arbitration
        request = pb.ProveDecidedRequest(
            position=position_text.write(Position(game.setup, record.game.position.state)),
            budget=pb.Budget(rlimit=rlimit or 0),
            out=arbitration.out,
            points_off=arbitration.points_off,
        )
        exit_code = _tell(*_ask(file, request, timeout), entry, as_json=as_json)
    if game_file.torn is not None:
        raise _failure(file, game_file.torn)
    raise Exit(exit_code)


def _read(file: Path, at: int | None) -> GameFile:
    """Raise ``Failure``."""
    try:
        with file.open("rb") as stream:
            game_file = GameFile.read(stream, at)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise _failure(file, error) from None
    if at is not None and at >= game_file.record.size:
        raise Failure(f"{file}: --at {at}: the file has entries 0 to {game_file.record.size - 1}", EXIT_USAGE)
    return game_file


def _failure(file: Path, error: LogError) -> Failure:
    return Failure(f"{file}: {error}", int(Finding.of(error).verdict))


def _ask(file: Path, request: pb.ProveDecidedRequest, timeout: float) -> tuple[pb.ProveDecidedResponse, float]:
    """And how many milliseconds it took. Raise ``Failure``."""
    with questions.telling(), Solver() as solver:
        start = perf_counter()
        try:
            found = solver.ask("ProveDecided", request, pb.ProveDecidedResponse, timeout)
        except QueryError as error:
            raise Failure(f"{file}: {error}", EXIT_USAGE) from None
        except OutOfTime:
            raise Failure(
                f"--timeout {timeout:g}: no answer in time; expected a longer --timeout or a smaller --rlimit"
            ) from None
        return found, round(1000 * (perf_counter() - start), 2)


def _tell_result(record: Record, result: Result, *, as_json: bool) -> int:
    winners, entry, waits = list(result.winners), record.size - 1, record.game.result_waits
    if as_json:
        told = {"winners": winners, "places": list(result.places)}
        questions.write_json({"entry": entry, "ended": True, "waits": waits is not None, **told})
    else:
        output.write(f"ENDED: {outcome(result, record.game.contest(), waits=waits)}; {told_end(result)}\n")
    return EXIT_OK if len(winners) == 1 else EXIT_OPEN


def _tell(found: pb.ProveDecidedResponse, spent: float, entry: int, *, as_json: bool) -> int:
    if as_json:
        gaps = [
            {
                "seat": gap.seat,
                "most": gap.most,
                "loses_ties": gap.loses_ties,
                "parts": [{"what": part.what, "points": part.points} for part in gap.parts],
            }
            for gap in found.gaps
        ]
        fields = {"entry": entry, "ended": False, "decided": found.decided, "leader": found.leader, "gaps": gaps}
        questions.write_json({**fields, "ms": spent})
    else:
        output.write("".join(f"{line}\n" for line in (_headline(found, entry), *_table(found))))
    return EXIT_OK if found.decided else EXIT_OPEN


def _headline(found: pb.ProveDecidedResponse, entry: int) -> str:
    """Return the closest seat says it for all."""
    closest = max(found.gaps, key=lambda gap: (gap.most, not gap.loses_ties))
    if found.decided:
        return f"DECIDED {players([found.leader])} wins (after entry {entry}; {_in_words(closest, found.leader)})"
    return f"OPEN: {_in_words(closest, found.leader)} (after entry {entry})"


def _in_words(gap: pb.Gap, leader: int) -> str:
    """Return the bound as a bound: no line of play need reach it."""
    who, other = players([gap.seat]), players([leader])
    if gap.most > 0:
        return f"{who} cannot end more than {counted(gap.most, 'point')} ahead of {other}, by this bound"
    if gap.most < 0:
        return f"{who} ends at least {counted(-gap.most, 'point')} behind {other}"
    if gap.loses_ties:
        return f"{who} has at most as many points as {other}, and loses every tie"
    return f"{who} has at most as many points as {other}, by this bound"


def _table(found: pb.ProveDecidedResponse) -> Iterator[str]:
    """Yield every other seat, with the reasons."""
    for gap in found.gaps:
        yield ""
        yield _in_words(gap, found.leader)
        width = max(len(f"{part.points:+}") for part in gap.parts)
        for part in gap.parts:
            yield f"  {part.points:+{width}}  {part.what}"
