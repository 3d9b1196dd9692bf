"""The deck, the rules and what they come to."""

from __future__ import annotations

from typing import Any

from referee.log import audit, conduct, course, intent, past, remarks, sitting
from referee.log.errors import Code, LogError
from referee.log.steps import Step, StepKind
from referee.log.v1 import log_pb2
from tests.attacks.protections.table import ANYTHING, Patch, nothing, overlooked, protection
from tests.log.toy import ToyCodec

# --- deck and rules ---------------------------------------------------------------------------------------------------


@protection
def commitment_of_the_referee(patch: Patch) -> None:
    """r is the one that GameOpen commits to."""
    patch.setattr(course, "referee_commitment", lambda seed: ANYTHING)


@protection
def commitments_of_the_seats(patch: Patch) -> None:
    """Every p is the one that the Join commits to."""
    patch.setattr(course, "seat_commitment", lambda *given: ANYTHING)


@protection
def commitment_in_every_Join(patch: Patch) -> None:  # noqa: N802 - as the act is written
    """In a dealt game nobody joins without one."""
    judge = course.Course._check_join

    def lenient(self: Any, author: intent.Author, join: Any) -> Step:
        missing = bytes(32) if self.dealt else b""
        return judge(self, author, log_pb2.Join(key=join.key, commitment=join.commitment or missing))

    patch.setattr(course.Course, "_check_join", lenient)


@protection
def recomputed_deck(patch: Patch) -> None:
    """All chance is that of the committed deck."""
    patch.setattr(course.Course, "dealt_outcome", lambda self, dealer: ANYTHING)


@protection
def r_is_disclosed(patch: Patch) -> None:
    """At the end of every dealt game."""
    overlooked(patch, Code.UNDISCLOSED)


@protection
def rules_of_the_game(patch: Patch) -> None:
    """No move and no outcome against them."""
    patch.setattr(course.Course, "check_rules", nothing)


@protection
def who_may_act_when(patch: Patch) -> None:
    """Turns, phases, one Join for a seat, nothing after the end."""
    judge, judge_move = course.Course.check_intent, course.Course._check_move

    def any_move(self: Any, author: intent.Author, data: bytes) -> Step:
        if self.conduct.is_offered:  # there time and forfeits depend on it
            return judge_move(self, author, data)
        event = self.decoded_move(data)
        self.check_rules(event)
        return Step(StepKind.PLAYED, author.index, event)

    def any_intent(self: Any, act: Any, seq: int) -> Step:
        return self._check_chance(act.declare, dealt=False) if act.HasField("declare") else judge(self, act, seq)

    patch.setattr(course.Course, "check_intent", any_intent)
    patch.setattr(course.Course, "_check_move", any_move)
    patch.setattr(course.Course, "_demand", nothing)
    patch.setattr(course.Course, "_check_room", nothing)


@protection
def attempts_are_judged_again(patch: Patch) -> None:
    """What was refused is against the rules that are named."""
    patch.setattr(course.Course, "_check_refused", lambda *given: Step(StepKind.REFUSED))


@protection
def digest_of_the_position(patch: Patch) -> None:
    """After every entry."""
    patch.setattr(course.Course, "digest", lambda self: ANYTHING)


@protection
def result(patch: Patch) -> None:
    """Ending, points and places are those of the rules."""
    patch.setattr(course.Course, "_check_end", lambda self, end, seq: Step(StepKind.ENDED, end=end))


@protection
def tables_of_the_version(patch: Patch) -> None:
    """Tiles and cards are those that the rules stand for."""
    patch.setattr(ToyCodec, "encode_tables", lambda self, tables: ANYTHING)


@protection
def what_is_not_offered(patch: Patch) -> None:
    """Entries by the rules of the table, in a game without them."""
    check = course.Course.check

    def lenient(self: Any, entry: Any, act: Any, seq: int) -> Step:
        odd = entry.HasField("timeout") and not self.conduct.is_offered
        return Step(StepKind.REFUSED) if odd else check(self, entry, act, seq)

    patch.setattr(course.Course, "check", lenient)


@protection
def losses_are_losses(patch: Patch) -> None:
    """A head that is said to be lost is not one that the log reaches."""
    check = course.Course.check

    def lenient(self: Any, entry: Any, act: Any, seq: int) -> Step:
        return Step(StepKind.RECOVERED) if entry.HasField("recovered") else check(self, entry, act, seq)

    patch.setattr(course.Course, "check", lenient)


@protection
def certificates(patch: Patch) -> None:
    """Proofs of moves in the file are checked."""
    look = audit._look_ahead
    patch.setattr(audit, "_look_ahead", lambda stream: (look(stream)[0], False))


# --- the rules of the table -------------------------------------------------------------------------------------------


@protection
def times(patch: Patch) -> None:
    """What passed is accounted for, flags fall in time, results wait, nothing is dated back."""
    patch.setattr(sitting.Sitting, "check_clock", nothing)


@protection
def one_ruling_on_a_protest(patch: Patch) -> None:
    """And on an appeal by another arbiter than the one whose ruling it is against."""
    judge = conduct.Conduct.check

    def lenient(self: Any, kind: str, act: Any, author: intent.Author, seq: int, now: Any) -> int | None:
        try:
            return judge(self, kind, act, author, seq, now)
        except LogError as error:
            if not error.what.startswith("TBL-31") or act.decides not in self.disputes:
                raise
            return None

    patch.setattr(conduct.Conduct, "check", lenient)


@protection
def going_back(patch: Patch) -> None:
    """Not past the deck, nor past what is not the scribe's."""
    patch.setattr(past.Past, "check", nothing)


def let_through(patch: Patch, event: str) -> None:
    """What of these events the rules of the table object to changes nothing."""
    check = course.Course.check_event

    def lenient(self: Any, entry: Any) -> Step:
        try:
            return check(self, entry)
        except LogError:
            if not entry.HasField(event):
                raise
            return Step(StepKind.RECOVERED)

    patch.setattr(course.Course, "check_event", lenient)


@protection
def moves_of_stand_ins(patch: Patch) -> None:
    """They are those that the rules of the game lay down."""
    let_through(patch, "stand_in")


@protection
def what_may_stand(patch: Patch) -> None:
    """An arbiter lets stand only what breaks rules that can be waived."""
    patch.setattr(course.Course, "accepted", lambda self, accept: self.decoded_move(accept.move))


@protection
def who_can_be_absent(patch: Patch) -> None:
    """A seat that connects itself, where the terms limit absence."""
    let_through(patch, "absent")


@protection
def texts(patch: Patch) -> None:
    """Words are those that an entry commits to."""
    patch.setattr(remarks, "check", nothing)
