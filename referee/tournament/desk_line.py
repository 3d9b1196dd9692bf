"""A line that an organiser types at the desk: its meaning, its effect, and the rules that forbid it.

The acts and words are those of the commands of ``referee event``; ``because`` begins a reason. Knows no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from referee.games.game import InputError
from referee.text.notation.outcomes import counted
from referee.tournament.file import EventFile
from referee.tournament.input import numbers, parts, result_of, scanned, shares_of, table_of, tables_of
from referee.tournament.organiser import close, draw, enter_players, newest_round, next_to_pair, pair, plan
from referee.tournament.rules import acts
from referee.tournament.rules.round import Entrant
from referee.tournament.words import called, describe, told_broken

_FEW: Final = 5
"""Names that are shown where several fit."""
_BECAUSE: Final = re.compile(r"\s+because(?:\s+|\Z)")
_PARTS: Final = re.compile(r"\b(scores|forfeited)\b")
_ROUND: Final = re.compile(r"round ([0-9]{1,3}) (?:table )?(.+)\Z", re.ASCII)
_ANY_ROUND: Final = re.compile(r"(.+?) round ([0-9]{1,3})\Z", re.ASCII)


@dataclass(frozen=True)
class Meant:
    """The meaning of a line."""

    does: str
    """The act in words, such as ``3 Cara checks in``."""
    enter: Callable[[EventFile], object]
    """Enter it. Raise ``InputError``, ``LogError``."""
    act: acts.Act | None = None
    """The act to enter, if it is one act: the rules can be asked before."""

    def why_not(self, event: EventFile) -> str:
        """Return what the rules have against it, as far as that is known before it is entered."""
        return told_broken(event.log.state.check(self.act)) if self.act is not None else ""


def read(event: EventFile, text: str) -> Meant:
    """Return the meaning of the line. Raise ``InputError`` with what is missing or wrong."""
    line, *reasons = _BECAUSE.split(text.strip(), maxsplit=1)
    reason = "".join(reasons)
    verb, _, rest = line.partition(" ")
    if _is_result(line):
        return _result(event, line, reason)
    if verb not in VERBS:
        raise InputError("", f"{verb[:40]!r}", f"a table and its places, or one of {', '.join(VERBS)}", sep=":")
    return VERBS[verb](event, rest.strip(), reason)


def toggled(entrant: Entrant) -> acts.Act:
    """Return what Enter does for an entrant: check in, then leave, then come back."""
    if not entrant.is_there:
        return acts.CheckIn(entrant.number)
    return acts.Readmit(entrant.number) if entrant.has_withdrawn else acts.Withdraw(entrant.number)


def one_act(event: EventFile, act: acts.Act) -> Meant:
    """Return what it means to enter this act."""
    return Meant(describe(act, event.names), partial(_enter, act), act)


def _enter(act: acts.Act, event: EventFile) -> None:
    event.log.enter(act)


# Entrants


def _entered(event: EventFile, name: str, _: str) -> Meant:
    _demand(name, "enter", "a new name, such as: enter Anna")
    late = next_to_pair(event.log.state) if event.log.state.key else 0

    def enter(event: EventFile) -> None:
        event.names, _ = enter_players(event.log, event.names, [("", name)], late)

    return Meant(f"{name} enters{f', late, from round {late}' if late else ''}", enter)


def _checked_in(event: EventFile, who: str, _: str) -> Meant:
    if who != "all":
        return one_act(event, acts.CheckIn(_who(event, "checkin", who)))
    missing = [number for number, each in event.log.state.entrants.items() if not (each.is_there or each.is_expelled)]
    _demand(missing, "checkin all", "an entrant who has not checked in")

    def enter(event: EventFile) -> None:
        for number in missing:
            event.log.enter(acts.CheckIn(number))

    return Meant(f"{counted(len(missing), 'entrant')} who are not there yet check in", enter)


def _withdrawn(event: EventFile, who: str, _: str) -> Meant:
    return one_act(event, acts.Withdraw(_who(event, "withdraw", who)))


def _readmitted(event: EventFile, who: str, _: str) -> Meant:
    return one_act(event, acts.Readmit(_who(event, "readmit", who)))


def _absent(event: EventFile, who: str, _: str) -> Meant:
    found = _ANY_ROUND.match(who)
    round_ = int(found[2]) if found else next_to_pair(event.log.state)
    return one_act(event, acts.Absent(_who(event, "absent", found[1] if found else who), round_))


def _expelled(event: EventFile, who: str, reason: str) -> Meant:
    return one_act(event, acts.Expel(_who(event, "expel", who), reason))


def _forbidden(event: EventFile, pair: str, _: str, *, hard: bool = False) -> Meant:
    first, comma, second = pair.partition(",")
    _demand(comma, f"{'never' if hard else 'forbid'} {pair[:40]}", "two entrants with a comma between them")
    who = [_who(event, "forbid", each.strip()) for each in (first, second)]
    return one_act(event, acts.Forbid(who[0], who[1], hard))


def _who(event: EventFile, verb: str, word: str) -> int:
    """Return the entrant whose number or name it is, or whose name alone begins so."""
    _demand(word, verb, "an entrant's number or name")
    names, entrants = event.names, event.log.state.entrants
    exact = [number for number in entrants if names[number].casefold() == word.casefold() or str(number) == word]
    found = exact or [number for number in sorted(entrants) if names.fits(number, word)]
    if not found:
        raise InputError("entrant", repr(word[:80]), "a number, or the beginning of a name")
    if len(found) > 1:
        few = ", ".join(called(number, names) for number in found[:_FEW])
        raise InputError("entrant", f"{word[:80]!r} may be {few}{' …' if len(found) > _FEW else ''}", "one of them")
    return found[0]


# Rounds


def _drawn(_: EventFile, rest: str, __: str) -> Meant:
    shares = shares_of("draw", rest.split())
    return Meant("entries are closed, and lots are drawn", lambda event: draw(event.log, event.seed, shares))


def _planned(_: EventFile, rest: str, __: str) -> Meant:
    rounds = numbers("plan", rest)[0] if rest else None
    what = f"the next {rounds} rounds are" if rounds else "all rounds that are left are"
    return Meant(f"{what} planned; no two players meet twice", lambda event: plan(event.log, rounds))


def _paired(event: EventFile, rest: str, reason: str) -> Meant:
    tables, _, byes = rest.partition(" bye ")
    by_hand = tables_of("pair", tables) if tables else ()
    out = numbers("bye", byes) if byes else ()
    how = "by hand" if by_hand else "by the program"
    if by_hand:
        _demand(reason, "pair by hand", "a reason: because …")
    return Meant(
        f"round {event.log.state.next_round} is paired, {how}; it can be paired again until it is published",
        lambda event: pair(event.log, event.seed, tables=by_hand, byes=out, reason=reason),
    )


def _published(event: EventFile, _: str, __: str) -> Meant:
    return one_act(event, acts.Publish(newest_round(event.log.state)))


def _reopened(event: EventFile, _: str, reason: str) -> Meant:
    return one_act(event, acts.Reopen(newest_round(event.log.state), reason))


def _closed(_: EventFile, __: str, ___: str) -> Meant:
    return Meant("the last round is closed, and the event is over for good", lambda event: close(event.log))


def _abandoned(event: EventFile, _: str, reason: str) -> Meant:
    return one_act(event, acts.Abandon(reason))


# Tables


def _is_result(line: str) -> bool:
    return line[:1].isdecimal() or line.startswith(("round ", "http"))


def _result(event: EventFile, line: str, reason: str) -> Meant:
    """Read ``4 2,1,3,3``, ``4 scores 41,38,52 forfeited 2``, and the same behind a slip's code or ``round 2``."""
    number, code, said = _split(event, line)
    table = table_of("table", code, event.log.event_id, number)
    places, forfeited, scores = _said(said)
    round_ = event.log.state.rounds[number - 1] if number <= len(event.log.state.rounds) else None
    if not (places or scores):
        seats = round_.tables[table - 1] if round_ and table <= len(round_.tables) else ()
        listed = ", ".join(f"player {at + 1}: {called(who, event.names)}" for at, who in enumerate(seats))
        raise InputError(f"table {table}", listed or "no such table", "places, such as 2,1,3,3, or scores …", sep=";")
    found = result_of(places, scores, forfeited)
    if round_ is None or table not in round_.results:
        return one_act(event, acts.EnterResult(number, table, found))
    if round_.results[table] == found:
        raise InputError(f"table {table}", "this is the result that it has", "another one, to amend it")
    if not reason:
        raise InputError(f"table {table}", "it has a result", "a reason to amend it: because …")
    return one_act(event, acts.Amend(number, table, found, reason))


def _split(event: EventFile, line: str) -> tuple[int, str, str]:
    """Return the round, the table or its slip's code, and what is said of it."""
    number = newest_round(event.log.state)
    if found := _ROUND.match(line):
        number, line = int(found[1]), found[2]
        _demand(1 <= number <= len(event.log.state.rounds), f"round {number}", "one that was paired")
    words = line.split()
    of_slip = 3 if len(words) >= 3 and scanned(" ".join(words[:3])) else 1
    return number, " ".join(words[:of_slip]), " ".join(words[of_slip:])


def _said(text: str) -> tuple[str, str, str]:
    """Return what is said of places, of seats that forfeited and of scores."""
    places, *named = _PARTS.split(text)
    said = dict(zip(named[::2], named[1::2], strict=True))
    return places.strip(), said.get("forfeited", "").strip(), said.get("scores", "").strip()


def _voided(event: EventFile, rest: str, reason: str) -> Meant:
    number = newest_round(event.log.state)
    return one_act(event, acts.Void(number, table_of("void", rest, event.log.event_id, number), reason))


def _awarded(event: EventFile, rest: str, reason: str) -> Meant:
    found = _ANY_ROUND.match(rest)
    who, _, points = (found[1] if found else rest).rpartition(" ")
    round_ = int(found[2]) if found else newest_round(event.log.state)
    _demand(who, "award", "an entrant and points, such as: award Anna 2.5")
    return one_act(event, acts.Award(round_, _who(event, "award", who.strip()), parts("points", points), reason))


def _demand(holds: object, found: str, expected: str) -> None:
    if not holds:
        raise InputError("", f"{found}:", expected, sep="")


VERBS: Final[Mapping[str, Callable[[EventFile, str, str], Meant]]] = {
    "enter": _entered,
    "checkin": _checked_in,
    "withdraw": _withdrawn,
    "readmit": _readmitted,
    "absent": _absent,
    "expel": _expelled,
    "forbid": _forbidden,
    "never": partial(_forbidden, hard=True),
    "draw": _drawn,
    "plan": _planned,
    "pair": _paired,
    "publish": _published,
    "reopen": _reopened,
    "void": _voided,
    "award": _awarded,
    "close": _closed,
    "abandon": _abandoned,
}
