"""Steps of an organiser that the log has as several acts: the draw, the pairing of a round, its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import referee as program
from referee.games.game import InputError
from referee.log.deck import Deck
from referee.log.errors import RulesError
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.pairing.planned import planned, rounds_possible
from referee.tournament.pairing.swiss import swiss
from referee.tournament.rules import State, acts
from referee.tournament.rules.position import Phase
from referee.tournament.rules.quality import Pairing, Situation, bound, vector, violations
from referee.tournament.rules.scoring import standings_hash
from referee.tournament.rules.situation import Due, due, is_decided, seeds, situation, snake


def _engine() -> str:
    """Return what pairs, as the log says."""
    return f"tile-referee {program.__version__}"


def enter_players(
    log: EventLog, names: Names, wanted: Iterable[tuple[str, str]], late: int = 0, keys: Sequence[bytes] = ()
) -> tuple[Names, tuple[int, ...]]:
    """Enter players, each with the next number. Return the names with theirs, and the numbers.

    ``wanted``: each name and its place, for errors. ``late``: the round that they begin with, 0: the first. ``keys``:
    the keys with which they play, an empty one for a player without, or none at all. Raise ``InputError``,
    ``LogError``.
    """
    points = log.state.terms.late_points * (late - 1) if late else 0
    numbers: list[int] = []
    for number, (where, name) in enumerate(wanted, max(log.state.entrants, default=0) + 1):
        try:
            names, person = names.with_one(number, name)
        except InputError as error:
            raise InputError(f"{where}{error.field}", error.what, error.expected) from None
        key = keys[len(numbers)] if keys else b""
        log.enter(acts.Enter(number, person.player, key, first_round=late, late_points=points))
        numbers.append(number)
    return names, tuple(numbers)


def draw(log: EventLog, seed: bytes, shares: Mapping[int, bytes]) -> tuple[int, ...]:
    """Close entries if they are open, open the shares and draw. Return who withholds a share, and so has none.

    ``seed``: the organiser's; ``shares``: by entrant. Raise ``LogError``.
    """
    if log.state.phase is Phase.ENTERING:
        log.enter(acts.CloseEntries())
    for number, share in sorted(shares.items()):
        log.enter(acts.Share(number, share))
    withheld = [number for number, each in log.state.entrants.items() if each.commitment and not each.share]
    log.enter(acts.Draw(seed))
    return tuple(sorted(withheld))


def draw_first(log: EventLog, seed: bytes) -> None:
    """Close entries and draw, if that was not done and no entrant has a share in it.

    Raise ``InputError`` if one has, ``LogError``.
    """
    if log.state.phase < Phase.PLAYING:
        if committed := [number for number, each in log.state.entrants.items() if each.commitment]:
            what = f"entrants {', '.join(map(str, sorted(committed)))} have a share in it"
            raise InputError("draw", what, "`referee event draw` first, with their shares")
        draw(log, seed, {})


def pair(
    log: EventLog,
    seed: bytes,
    *,
    tables: acts.Tables = (),
    byes: tuple[int, ...] = (),
    reason: str = "",
    program: str = "",
) -> tuple[State, acts.Pair]:
    """Draw before round 1, end the round before, and pair the next. Return the event before the pairing, and it.

    ``tables``: those of a pairing by hand, or of another ``program``. Raise ``InputError``, ``LogError``.
    """
    draw_first(log, seed)
    advance(log)
    before = log.state
    made = given(before, tables, byes, reason, program) if tables else proposal(before)
    log.enter(made)
    return before, made


def newest_round(state: State) -> int:
    """Return the number of the round that was paired last. Raise ``InputError``."""
    if not state.rounds:
        raise InputError("round", "none is paired", "`referee event pair` first")
    return len(state.rounds)


def next_to_pair(state: State) -> int:
    """Return the first round that a player who comes now can play."""
    round_ = state.round
    return state.next_round + (round_ is not None and round_.is_published and not round_.is_closed)


def end_round(log: EventLog) -> bool:
    """Close the round that is played, if there is one. Return whether. Raise ``LogError``: a table has no result."""
    act = _ending(log.state)
    if not isinstance(act, acts.CloseRound):
        return False
    log.enter(act)
    return True


def _ending(state: State) -> acts.CloseRound | acts.Cut | None:
    """Return what comes before the next pairing: the end of the round that is played, or the cut after the last."""
    match due(state):
        case Due.RESULTS | Due.CLOSE_ROUND:
            return acts.CloseRound(len(state.rounds), standings_hash(state))
        case Due.CUT:
            return acts.Cut()
    return None


def proposal(state: State) -> acts.Pair:
    """Return the pairing of the next round: the knock-out's, the plan's where it fits, else by the standing.

    The same version gives the same pairing for the same log (EVT-P9). Raise ``InputError`` if no player can be paired.
    """
    number = state.next_round
    if number > state.terms.rounds and (not state.is_cut or is_decided(state)):
        raise InputError("round", "all of them are played", "`referee event close`")
    if state.is_cut:
        tables = snake(seeds(state), state.terms.cut_size)
        return acts.Pair(number, tables, (), (), 0, acts.Origin.KNOCK_OUT, _engine())
    there = state.there(number)
    before, sizes = situation(state), state.terms.sizes
    if len(there) < min(sizes):
        expected = f"{min(sizes)} or more, who fill a table (EVT-R4): check in who has come"
        raise InputError("round", f"{len(there)} of the entrants are there", expected)
    rows = state.plan.get(number, ())
    seated = {who for row in rows for who in row}
    planned = Pairing(rows, tuple(who for who in before.standing if who not in seated))
    if rows and not violations(before, sizes, planned):
        return _pair(number, before, sizes, planned, acts.Origin.PLANNED)
    words = Deck(state.key).words(f"round/{number}/pairing")
    paired = swiss(before, sizes, words).pairing
    return _pair(number, before, sizes, _from_the_top(paired, before, sizes), acts.Origin.SWISS)


def plan(log: EventLog, rounds: int | None = None) -> int:
    """Plan the seating of ``rounds`` rounds, by default all that are left, without a repeat. Return the last.

    Raise ``InputError`` where no such plan is found, ``LogError``.
    """
    state = log.state
    first, sizes = state.next_round, state.terms.sizes
    there = state.there(first)
    rounds = rounds or max(1, state.terms.rounds - first + 1)
    found = planned(there, sizes, rounds, Deck(state.key).words(f"round/{first}/plan"))
    if found.repeats:
        known = rounds_possible(len(there), sizes).reached
        what = f"{rounds} rounds of {len(there)} players, in which {found.repeats} pairs meet again"
        raise InputError("plan", what, f"at most {known} rounds, or pairing by the standing, which needs no plan")
    for number, pairing in enumerate(found.rounds, first):
        log.enter(acts.Plan(number, pairing.tables))
    return first + rounds - 1


def given(state: State, tables: acts.Tables, byes: tuple[int, ...], reason: str, program: str = "") -> acts.Pair:
    """Return a pairing by hand, or by another program, with the quality of the engine's beside it.

    Raise ``InputError``.
    """
    origin = acts.Origin.EXTERNAL if program else acts.Origin.MANUAL
    own = proposal(state)
    before, sizes, pairing = situation(state), state.terms.sizes, Pairing(tables, byes)
    listed = sorted([*byes, *(who for table in tables for who in table)])
    if listed != sorted(before.standing):
        wrong = next(iter(sorted(set(listed) ^ set(before.standing))), None)
        what = f"entrant {wrong}, who is not there or not in it" if wrong else "an entrant twice"
        raise InputError("pairing", what, "every entrant who is there, once")
    least = bound(before, sizes, byes)
    stated = tuple(vector(before, sizes, pairing))
    return acts.Pair(state.next_round, tables, byes, stated, least, origin, program, reason, own.vector)


def _from_the_top(pairing: Pairing, before: Situation, sizes: tuple[int, ...]) -> Pairing:
    """Return it with the tables in the order of their best players, short ones last."""
    place = {who: at for at, who in enumerate(before.standing)}
    by_place = sorted(pairing.tables, key=lambda table: (len(table) != sizes[0], min(place[who] for who in table)))
    return Pairing(tuple(by_place), pairing.byes)


def _pair(number: int, before: Situation, sizes: tuple[int, ...], pairing: Pairing, origin: acts.Origin) -> acts.Pair:
    stated, least = tuple(vector(before, sizes, pairing)), bound(before, sizes, pairing.byes)
    return acts.Pair(number, pairing.tables, pairing.byes, stated, least, origin, _engine())


def advance(log: EventLog) -> None:
    """End the round that is played; after the last, make the cut, if there is one. Raise ``LogError``."""
    while (act := _ending(log.state)) is not None:
        log.enter(act)


def advanced(state: State) -> State:
    """Return the event as ``advance`` would leave it. Raise ``RulesError``: a table has no result."""
    ahead = state.copy()
    while (act := _ending(ahead)) is not None:
        if broken := ahead.check(act):
            raise RulesError(broken)
        ahead.apply(act)
    return ahead


def close(log: EventLog) -> None:
    """End the last round and the event. Raise ``LogError``."""
    advance(log)
    log.enter(acts.Close(standings_hash(log.state)))
