"""The checks of an event as the next entry of a game: its order, its author, the rules, the deck, the times.

``judge`` changes nothing; ``enter`` judges and applies, ``take`` also returns the changes. All raise only ``LogError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple, assert_never

from referee.games.game import Ending, Forced, ForcedPass, State, Violation
from referee.games.results import Result
from referee.log import events
from referee.log.arbitration import Now, Suspension
from referee.log.codec import AT_ANY_TIME
from referee.log.entry import Clock
from referee.log.errors import Code, LogError, RulesError, demand, not_awaited
from referee.log.game import LoggedGame, Phase
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import Phrase, phrase, player_phrase

# A member of an enumeration is found as slowly as a method is called, and these are read for every entry.
_PLAYING: Final = Phase.PLAYING
_SEAT, _SCRIBE = events.Role.SEAT, events.Role.SCRIBE


class Judged(NamedTuple):
    """The facts about an event that may stand."""

    seat: int | None = None
    """The seat whose act it is, or whom it is about."""
    broken: tuple[Violation, ...] = ()
    """The rules broken by a refused move, or by one that an arbiter lets stand."""


class Happened(NamedTuple):
    """An entry, and its effect on the game. The positions must not be changed."""

    seq: int
    clock: Clock
    """The time of the entry, and the charge."""
    event: events.Event
    seat: int | None
    """The seat whose act it is, or whom it is about."""
    before: State
    after: State
    broken: tuple[Violation, ...]
    """The rules broken by a refused move, or by one that an arbiter lets stand."""
    taken_back: tuple[int, ...]
    """Entries whose moves, draws and passes stood until now."""
    in_play: bool
    """Play had begun before it."""


def enter(game: LoggedGame, event: events.Event, seq: int, clock: Clock) -> None:
    """Judge the event as entry ``seq`` and apply it. Raise ``LogError``; the game is then as it was."""
    game.apply(event, judge(game, event, seq, clock).seat, seq, clock)


def take(game: LoggedGame, event: events.Event, seq: int, clock: Clock) -> Happened:
    """Enter the event as ``enter`` does, and return what happened."""
    judged = judge(game, event, seq, clock)
    before, in_play = game.position.state, game.phase is _PLAYING
    taken_back = game.apply(event, judged.seat, seq, clock)
    after = game.position.state
    return Happened(seq, clock, event, judged.seat, before, after, judged.broken, taken_back, in_play)


def judge(game: LoggedGame, event: events.Event, seq: int, clock: Clock) -> Judged:
    """Check that the event may be entry ``seq`` with these times.

    Raise ``LogError``; ``RulesError`` for a move or an outcome that the rules of the game forbid.
    """
    judged = judge_act(game, event, seq)
    if game.arbitration.is_offered:
        _check_times(game, event, judged.seat, seq, clock)
    return judged


def judge_act(game: LoggedGame, event: events.Event, seq: int) -> Judged:
    """Check all but the times, as long as these are not known. Raise what ``judge`` raises."""
    # The most frequent come first.
    match event:
        case events.Moved():
            _check_room(game, seq)
            seat = mover(game, event.author)
            _check_rules(game, event.move)
            return Judged(seat)
        case events.Dealt():
            _check_room(game, seq)
            _check_chance(game, event.outcome, dealt=True)
            game.deal.check_outcome(game.position, event.data)
            return Judged()
        case events.Refused():
            recorded = game.opened.terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
            demand("TBL-18", recorded, "this game does not record refused moves", "terms that do")
            _check_room(game, seq)
            return _check_refused(game, event)
        case events.Ended(result):
            _check_end(game, result, seq)
            return Judged()
        case events.Disclosed(seed):
            _require(game.phase is Phase.ENDED, "the seed is disclosed too early", "the end of a dealt game")
            game.deal.check_disclosed(seed)
            return Judged()
        case events.Opened() if seq == 0:
            return Judged()
    _check_room(game, seq)
    match event:
        case events.Declared(author, outcome):
            _check_declarer(game, author)
            _check_chance(game, outcome, dealt=False)
        case events.Passed(seat):
            due = game.goes_on and Forced(seat) in game.position.pending()
            expected = "a pass only where the rules leave no action"
            _require(due, "{player} is not forced to pass", expected, player=seat)
            _check_rules(game, ForcedPass(seat))
            return Judged(seat)
        case events.StoodIn():
            return Judged(_check_stand_in(game, event))
        case events.Joined():
            return Judged(_check_join(game, event))
        case events.Revealed(author):
            return Judged(_check_reveal(game, author, event.seed))
        case events.TimedOut() | events.WasAbsent():
            return Judged(_check_overdue(game, event))
        case events.Interrupted():
            _check_offered(game, "interrupted")
            demand("TBL-16", game.phase is Phase.PLAYING, "the game is not in play", "an interruption during play")
        case events.Recovered(copied_ms=copied_ms) if copied_ms:
            return Judged()  # the head is unknown, so nothing can contradict it
        case events.Recovered(lost_size):
            # Possible at any time before the end: the loss may be of anything.
            what, expected = "the lost head has {n} entries", "more than the {size} of this log"
            _require(lost_size > seq, what, expected, n=lost_size, size=seq)
        case (
            events.Resigned() | events.TakeBackProposed() | events.Consented() | events.Protested() | events.Appealed()
        ):
            return _check_table_act(game, event, seq)
        case events.Corrected() | events.Ruled() | events.KeyChanged():
            return _check_table_act(game, event, seq)
        case events.Opened():
            raise not_awaited("the entry opens the game again", "GameOpen in entry 0 and nowhere else")
        case _:
            assert_never(event)
    return Judged()


# --- the order of entries --------------------------------------------------------------------------------------------


def _require(condition: bool, what: str, expected: str, **places: object) -> None:
    if not condition:
        raise not_awaited(what, expected, **places)


def _check_room(game: LoggedGame, seq: int) -> None:
    if seq >= game.last:
        what = phrase("entry {seq} is past the entry limit", seq=seq)
        raise LogError(Code.LIMIT, what, phrase("GameEnd at entry {last}", last=game.last))
    if game.is_over:
        raise not_awaited("the game is over", "no further entry")


def _check_join(game: LoggedGame, join: events.Joined) -> int:
    dealt, author = game.deal.is_dealt, join.author
    if bool(join.commitment) != dealt:
        expected = "one, in a dealt game" if dealt else "none, in a declared game"
        raise LogError(Code.MALFORMED, f"{author.phrase} joins {'without' if dealt else 'with'} a commitment", expected)
    seat, who = author.index, author.phrase
    _require(game.phase is Phase.JOINING, "{author} joins too late", "Joins before everything else", author=who)
    there = author.role is events.Role.SEAT and seat < len(game.scribed)
    _require(there, "{author} cannot join", "a player of the game", author=who)
    scribed = "{author} is scribed and cannot join"
    _require(not game.scribed[seat], scribed, "no Join: a scribe enters its moves", author=who)
    _require(seat not in game.joins, "{author} has already joined", "one Join for each player", author=who)
    out = seat in game.arbitration.out
    demand("TBL-38", not out, "{author} has forfeited", "a player who has not", author=who)
    taken = [number for number, keys in game.keys.items() if join.key in keys]
    what = "{author} joins with the key of {players}"
    others = _together("{some} and {last}", taken) if taken else None
    _require(not taken, what, "a key of its own", author=who, players=others)
    return seat


def _check_reveal(game: LoggedGame, author: events.Author, seed: bytes) -> int:
    who, revealing = author.phrase, game.phase is Phase.REVEALING
    _require(revealing, "{author} cannot reveal a seed now", "Reveals after every Join", author=who)
    deals = author.role is events.Role.SEAT and author.index in game.dealing
    _require(deals, "{author} cannot reveal a seed", "a player who joined", author=who)
    out = author.index in game.arbitration.out
    demand("TBL-38", not out, "{author} has forfeited", "a player who has not", author=who)
    again = author.index in game.deal.seeds
    _require(not again, "{author} has already revealed its seed", "one Reveal for each player", author=who)
    game.deal.check_reveal(author.index, seed, game.joins[author.index].commitment)
    return author.index


def mover(game: LoggedGame, author: events.Author) -> int:
    """Return whose move the author may make. Raise ``LogError``."""
    # Asked for every move, so words are made only where they are said.
    if game.phase is not _PLAYING:
        raise not_awaited("the game is not in play", "moves during play")
    check_goes_on(game)
    seats = game.awaited()
    if author.role is _SCRIBE:
        # The move does not say whose it is, so only one seat can be meant.
        if len(seats) != 1 or not game.scribed[seats[0]]:
            what = "{author} cannot enter a move: {why}"
            raise not_awaited(
                what, "one player on turn, whose moves a scribe enters", author=author.phrase, why=_on_turn(game, seats)
            )
        return seats[0]
    if author.role is not _SEAT or author.index not in seats:
        raise LogError(Code.NOT_AWAITED, _on_turn(game, seats), _act_of(seats))
    if game.scribed[author.index]:
        expected = "a move that its scribe enters"
        raise not_awaited("{author} is scribed and cannot move", expected, author=author.phrase)
    return author.index


def check_goes_on(game: LoggedGame) -> None:
    """Raise ``LogError`` if a game in play is suspended, or has a result: no move and no chance counts then."""
    if (suspended := game.arbitration.suspended) is not None:
        what = "the game is paused" if suspended is Suspension.PAUSED else "the game is adjourned"
        demand("TBL-32", False, what, "an arbiter's ruling to resume")
    if game.is_over or game.reached() is not None:
        raise not_awaited("the game has come to its end", "no further move, draw or roll")


def _on_turn(game: LoggedGame, seats: Sequence[int]) -> Phrase:
    if len(seats) > 1:
        return phrase("{players} are on turn", players=_together("{some} and {last}", seats))
    if seats:
        return phrase("{player} is on turn", player=seats[0])
    if (seat := game.due_stand_in()) is not None:
        return phrase("no player is on turn, as the stand-in moves for {player} (TBL-2)", player=seat)
    if game.awaits_chance():
        return phrase("no player is on turn: a draw or a roll comes first")
    return phrase("no player is on turn: a pass comes first")


def _act_of(seats: Sequence[int]) -> Phrase:
    if not seats:
        return phrase("no move")
    return phrase("an act of {players}", players=_together("{some} or {last}", seats))


def _together(two: str, seats: Sequence[int]) -> Phrase:
    """Return ``player 1``, ``player 1 and player 2``. ``two``: a phrase that joins the last to the others."""
    *some, seat = seats
    last = player_phrase(seat)
    return Phrase(two, {"some": _together(two, some), "last": last}) if some else last


# --- the rules of the game -------------------------------------------------------------------------------------------


def _check_rules(game: LoggedGame, event: object) -> None:
    if violations := game.position.violations(event):
        raise RulesError(violations)


def _check_declarer(game: LoggedGame, author: events.Author) -> None:
    declares = not game.deal.is_dealt and author.role is events.Role.SCRIBE
    if not (declares and author.index == game.opened.declared.scribe):
        expected = "the declaring scribe of a declared game"
        raise not_awaited("{author} cannot declare chance", expected, author=author.phrase)


def _check_chance(game: LoggedGame, outcome: object, *, dealt: bool) -> None:
    if game.phase is not _PLAYING or game.deal.is_dealt != dealt:
        what = "chance is not dealt now" if dealt else "chance is not declared now"
        raise not_awaited(what, "chance in play, as GameOpen says")
    check_goes_on(game)
    _require(game.awaits_chance(), "no draw or roll is due", "another's act")
    _check_rules(game, outcome)


def _check_refused(game: LoggedGame, refused: events.Refused) -> Judged:
    seat = mover(game, refused.author)
    broken = game.position.violations(refused.move)
    if not broken:
        raise LogError(Code.RULES, "the referee refused a move that the rules allow")
    expected = RulesError(broken).rule_ids
    if refused.rule_ids != expected:
        raise LogError(Code.RULES, f"the move was refused under {', '.join(refused.rule_ids)}", ", ".join(expected))
    return Judged(seat, broken)


def _check_end(game: LoggedGame, result: Result, seq: int) -> None:
    _require(not game.is_over, "the game is already over", "one GameEnd")
    if seq > game.last:
        what = phrase("the game ends at entry {seq}", seq=seq)
        raise LogError(Code.LIMIT, what, phrase("entry {last} at the latest", last=game.last))
    expected = game.reached()
    if expected is not None and not _is_given_up(game, result):
        if result != expected:
            raise LogError(Code.RESULT, _described(result), _described(expected))
        held = game.arbitration.is_disputed and seq < game.last
        demand("TBL-29", not held, "a protest or appeal is still open", "a ruling on it before the result")
        return
    if result.ending is Ending.RULES:
        raise LogError(Code.RESULT, _described(result), "no end: by its rules the game is not over")
    if result.ending is Ending.STALLED:
        _require(seq == game.last, "the game ends as stalled", "the entry limit, entry {last}", last=game.last)
    elif result.ending not in AT_ANY_TIME:
        raise LogError(Code.RESULT, f"{_described(result)} (TBL-37)", "no end: nothing led to this one")
    if result.scores or result.places:
        raise LogError(Code.RESULT, _described(result), "no scores and no places")


def _is_given_up(game: LoggedGame, result: Result) -> bool:
    """Return whether a dispute can never be ruled on, because the game has no arbiter: nothing else could end it."""
    return game.arbitration.is_disputed and result.ending in AT_ANY_TIME


def _described(result: Result) -> str:
    return f"ending {result.ending.words}, scores {list(result.scores)}, places {list(result.places)}"


# --- the rules of the table ------------------------------------------------------------------------------------------


def _check_offered(game: LoggedGame, what: str) -> None:
    if not game.arbitration.is_offered:
        raise LogError(Code.UNSUPPORTED, f"{what} is not offered in a game without rules of the table")


def _check_table_act(game: LoggedGame, act: events.TableAct, seq: int) -> Judged:
    playing = game.phase is Phase.PLAYING and game.takebacks is not None
    may_go_back = partial(game.check_back, now=seq)
    over, has_clock = game.reached() is not None, game.clocks is not None
    joining = game.phase is Phase.JOINING
    now = Now(joining, playing, over, game.awaited(), may_go_back, has_clock, game.keys)
    seat = game.arbitration.check(act, seq, now)
    if isinstance(act, events.Ruled) and isinstance(act.ruling, events.Accept):
        return Judged(act.ruling.seat, _check_accepted(game, act.ruling))
    return Judged(seat)


def _check_accepted(game: LoggedGame, accept: events.Accept) -> tuple[Violation, ...]:
    """Return what the move breaks that an arbiter lets stand (TBL-7)."""
    violations = game.position.violations(accept.move)
    broken = tuple(sorted({violation.rule_id for violation in violations}))
    named = ", ".join(accept.rule_ids)
    what = "the ruling accepts a move against {rules}" if named else "the ruling accepts a move against no rule"
    expected = "{broken}" if broken else "a move that breaks a rule"
    told = broken != () and accept.rule_ids == broken
    demand("TBL-7", told, what, expected, rules=named, broken=", ".join(broken))
    never = ", ".join(sorted(set(broken) - game.position.rules.waivable))
    demand("TBL-7", not never, "a move against {rules} cannot stand", "only rules that allow it", rules=never)
    return violations


def _check_stand_in(game: LoggedGame, event: events.StoodIn) -> int:
    """Check TBL-2: it is the move that follows from the position, for the seat that makes none."""
    _check_offered(game, "stand_in")
    seat = game.due_stand_in()
    expected = None if seat is None else events.StoodIn(seat, game.position.stand_in(seat))
    if event != expected:
        due = phrase("no stand-in")
        if expected is not None:
            move = game.position.encoded_move(expected.move).hex()
            due = phrase("{player} with the move {move}", player=expected.seat, move=move)
        what = phrase("this is not the stand-in's move for {player} (TBL-2)", player=event.seat)
        raise LogError(Code.NOT_AWAITED, what, due)
    return event.seat


def _check_overdue(game: LoggedGame, event: events.TimedOut | events.WasAbsent) -> int:
    _check_offered(game, event.name)
    seat = event.seat
    if isinstance(event, events.WasAbsent) and game.phase is not Phase.PLAYING:
        what, expected = "{player} is not missing", "a player who has to join or reveal"
        demand("TBL-38", seat in game.no_shows(), what, expected, player=seat)
        return seat
    rule_id = "TBL-13" if isinstance(event, events.TimedOut) else "TBL-17"
    demand(rule_id, seat in game.awaited(), "{player} is not on turn", "a player who has to act", player=seat)
    if isinstance(event, events.TimedOut):
        demand(rule_id, game.clocks is not None, "this game has no clock", "terms with one")
    else:
        limited = game.arbitration.terms.absence_ms > 0
        demand(rule_id, limited, "this game does not limit absence", "terms that do")
        what = "{player} cannot be absent: a scribe enters the moves"
        demand(rule_id, not game.scribed[seat], what, "a player who connects", player=seat)
    return seat


# --- times -----------------------------------------------------------------------------------------------------------


def _check_times(game: LoggedGame, event: events.Event, seat: int | None, seq: int, clock: Clock) -> None:
    """Raise ``LogError`` (``NOT_AWAITED``) for times that the rules of the table do not allow."""
    if isinstance(event, events.Opened):
        return
    at_ms, last_ms = clock.referee_ms, game.last_ms
    if at_ms < last_ms:
        demand("TBL-15", False, "the entry is dated {at} ms", "{ms} ms at the earliest", at=at_ms, ms=last_ms)
    if game.clocks is not None and seat is not None and isinstance(event, events.TimedOut):
        game.clocks.check_flag(seat, clock)
    elif game.clocks is not None and seat is not None and isinstance(event, events.Moved | events.Refused):
        game.clocks.check(seat, clock)
        network = isinstance(event, events.Refused) and clock.lag_ms > 0
        demand("TBL-11", not network, "the entry allows network time for a refused move", "none")
    elif told := clock.charged_ms + clock.lag_ms + clock.overhead_ms:
        demand("TBL-10", False, "the entry accounts for {ms} ms", "none, as no clock is charged", ms=told)
    match event:
        case events.Ended(result) if seq < game.last and game.reached() is not None and not _is_given_up(game, result):
            from_ms = game.result_from_ms
            what, expected = "the result is dated {at} ms", "{ms} ms at the earliest, to allow protests"
            demand("TBL-29", at_ms >= from_ms, what, expected, at=at_ms, ms=from_ms)
        case events.Interrupted(alive_ms):
            seen = last_ms <= alive_ms <= at_ms
            what = "the referee was last seen at {ms} ms"
            demand("TBL-16", seen, what, "{last} to {at} ms", ms=alive_ms, last=last_ms, at=at_ms)
        case events.WasAbsent(_, since_ms):
            least, absent = game.arbitration.terms.absence_ms, at_ms - since_ms
            what = "the player was absent for {ms} ms"
            demand("TBL-17", absent >= least, what, "at least {least} ms", ms=absent, least=least)
            if game.phase is not Phase.PLAYING:
                what, from_ms = "the player was missing from {at} ms on", game.missing_from_ms
                demand("TBL-38", since_ms >= from_ms, what, "{ms} ms at the earliest", at=since_ms, ms=from_ms)
