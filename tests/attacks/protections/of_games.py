"""The deck, the rules and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from referee.log import audit, events, judge, position, remarks
from referee.log.arbitration import Arbitration
from referee.log.clocks import Takebacks
from referee.log.entry import Clock
from referee.log.errors import Code, LogError
from referee.log.game import LoggedGame
from referee.log.judge import Judged
from referee.log.position import Position
from tests.attacks.protections.table import ANYTHING, Patch, nothing, overlooked, protection
from tests.log.toy import ToyCodec

# --- deck and rules ---------------------------------------------------------------------------------------------------


@protection
def commitment_of_the_referee(patch: Patch) -> None:
    """r is the one that GameOpen commits to."""
    patch.setattr(position, "referee_commitment", lambda seed: ANYTHING)


@protection
def commitments_of_the_seats(patch: Patch) -> None:
    """Every p is the one that the Join commits to."""
    patch.setattr(position, "seat_commitment", lambda *given: ANYTHING)


@protection
def commitment_in_every_Join(patch: Patch) -> None:  # noqa: N802 - as the act is written
    """In a dealt game every Join has a commitment."""
    check = judge._check_join

    def lenient(game: LoggedGame, join: events.Joined) -> int:
        missing = bytes(32) if game.deal.is_dealt else b""
        return check(game, replace(join, commitment=join.commitment or missing))

    patch.setattr(judge, "_check_join", lenient)


@protection
def recomputed_deck(patch: Patch) -> None:
    """All chance is that of the committed deck."""
    patch.setattr(position.Deal, "outcome", lambda self, dealer, position: ANYTHING)


@protection
def r_is_disclosed(patch: Patch) -> None:
    """Every dealt game that is over discloses r."""
    overlooked(patch, Code.UNDISCLOSED)


@protection
def rules_of_the_game(patch: Patch) -> None:
    """No move and no outcome breaks them."""
    patch.setattr(judge, "_check_rules", nothing)


@protection
def turns_and_phases(patch: Patch) -> None:
    """Seats act in turn and in their phase, each joins once, and nothing follows the end."""
    mover = judge.mover

    def anybody(game: LoggedGame, author: events.Author) -> int:
        # By the rules of the table time and forfeits depend on it.
        return mover(game, author) if game.arbitration.is_offered else author.index

    patch.setattr(judge, "mover", anybody)
    patch.setattr(judge, "_require", nothing)
    patch.setattr(judge, "_check_declarer", nothing)
    patch.setattr(judge, "_check_room", nothing)


@protection
def attempts_are_judged_again(patch: Patch) -> None:
    """A refused move breaks the rules that are named."""
    patch.setattr(judge, "_check_refused", lambda *given: Judged())


@protection
def digest_of_the_position(patch: Patch) -> None:
    """Every entry has the digest of the position after it."""
    patch.setattr(Position, "digest", lambda self: ANYTHING)


@protection
def result(patch: Patch) -> None:
    """Ending, points and places are those of the rules."""
    patch.setattr(judge, "_check_end", nothing)


@protection
def components_of_the_version(patch: Patch) -> None:
    """Tiles and cards are those of the rules version."""
    patch.setattr(ToyCodec, "encode_components", lambda self, components: ANYTHING)


def let_through(patch: Patch, is_meant: Callable[[LoggedGame, events.Event], bool]) -> None:
    """What of these events is objected to stands, and changes nothing."""
    check, apply = judge.judge_act, LoggedGame.apply
    odd: list[events.Event] = []

    def lenient(game: LoggedGame, event: events.Event, seq: int) -> Judged:
        try:
            return check(game, event, seq)
        except LogError:
            if not is_meant(game, event):
                raise
            odd.append(event)
            return Judged()

    def apply_others(
        self: LoggedGame, event: events.Event, seat: int | None, seq: int, clock: Clock
    ) -> tuple[int, ...]:
        if any(each is event for each in odd):
            event = events.Recovered(0, b"")
        return apply(self, event, seat, seq, clock)

    patch.setattr(judge, "judge_act", lenient)
    patch.setattr(LoggedGame, "apply", apply_others)


@protection
def acts_not_offered(patch: Patch) -> None:
    """A game without rules of the table has no entries by them."""

    def is_odd(game: LoggedGame, event: events.Event) -> bool:
        return isinstance(event, events.TimedOut) and not game.arbitration.is_offered

    let_through(patch, is_odd)


@protection
def losses_are_losses(patch: Patch) -> None:
    """A head that is declared lost is not one that the log reaches."""
    let_through(patch, lambda _, event: isinstance(event, events.Recovered))


@protection
def certificates(patch: Patch) -> None:
    """Proofs of moves in the file are checked."""
    look = audit._look_ahead
    patch.setattr(audit, "_look_ahead", lambda stream: (look(stream)[0], False, False))


# --- the rules of the table -------------------------------------------------------------------------------------------


@protection
def times(patch: Patch) -> None:
    """All time is accounted for, flags fall in time, results wait, no entry is dated back."""
    patch.setattr(judge, "_check_times", nothing)


@protection
def one_ruling_on_a_protest(patch: Patch) -> None:
    """A protest has one ruling, and another arbiter rules on an appeal."""
    check = Arbitration.check

    def lenient(self: Arbitration, act: events.TableAct, seq: int, now: Any) -> int | None:
        try:
            return check(self, act, seq, now)
        except LogError as error:
            filed = isinstance(act, events.Ruled) and act.decides in self.disputes
            if not error.what.endswith("(TBL-31)") or not filed:
                raise
            return None

    patch.setattr(Arbitration, "check", lenient)


@protection
def going_back(patch: Patch) -> None:
    """The game does not go back past a draw, and a scribe takes back only scribes' entries."""
    patch.setattr(Takebacks, "check", nothing)


@protection
def moves_of_stand_ins(patch: Patch) -> None:
    """A stand-in makes the move that the rules of the game prescribe."""
    let_through(patch, lambda _, event: isinstance(event, events.StoodIn))


@protection
def waivable_rules(patch: Patch) -> None:
    """An arbiter lets a move stand only if all rules that it breaks can be waived."""
    patch.setattr(judge, "_check_accepted", lambda *given: ())


@protection
def absence(patch: Patch) -> None:
    """Only a seat with a connection of its own can be absent, and only if the terms limit absence."""
    let_through(patch, lambda _, event: isinstance(event, events.WasAbsent))


@protection
def texts(patch: Patch) -> None:
    """The words are those that an entry commits to."""
    patch.setattr(remarks, "check", nothing)
