"""What is checked: the one list of checks, each with the rule that it holds a bot to and the page that has the rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``id`` is stable; ``page`` is a file of ``docs`` with its section."""

    id: str
    rule: str
    page: str


_ASKED: Final = (
    Check("starts", "It starts; a program says its name and that it plays the game.", "exec-bots.md#hello"),
    Check("random-games", "In every decision of a game it returns a legal move.", "bots.md#what-you-get"),
    Check("transcripts", "It does so with every option and number of seats.", "bots.md#what-you-get"),
    Check("one-move", "A list of one move is a decision as well.", "bots.md#what-you-get"),
    Check("give-tile", "With two seats a bought tile may go to the neutral player.", "bots.md#alhambra"),
    Check("rebuilding", "A tile of the reserve may change places with one that lies.", "bots.md#alhambra"),
    Check("forced-pass", "A seat that can do nothing is passed over: expect it in plans.", "bots.md#playing-on"),
    Check("castle", "With a fixed frame the castle is placed first.", "bots.md#kingdomino"),
    Check("discard-only", "A domino that fits nowhere is discarded: that is then the only move.", "bots.md#kingdomino"),
    Check("coins-only", "Where nothing can be built, coins are the only move.", "bots.md#alhambra-roll--write"),
    Check("keep-pair", "After rolling, one pair of dice is kept.", "bots.md#alhambra-roll--write"),
    Check("build-second", "For three coins a second building may be built.", "bots.md#alhambra-roll--write"),
    Check("many-moves", "The list may be as long as it ever gets in this game.", "bots.md#what-you-get"),
    Check("full-list", "The list may have 5,000 moves, as many as a referee sends.", "bots.md#what-you-get"),
    Check("time", "Of 100 moves 99 take no longer than --p99, and none longer than --move-limit.", "bot-check.md#time"),
    Check("two-games", "Games that are played at one time do not touch each other.", "bots.md#many-games"),
    Check("unknown-lines", "A program ignores lines and members that it does not know.", "exec-bots.md#the-lines"),
    Check("exits", "A program exits within 2 s of the end of its input.", "exec-bots.md#the-lines"),
)  # fmt: skip
"""Those that need no referee."""

_PLAYED: Final = (
    Check("joins", "It takes its seat and opens its share of the deck.", "bots.md#on-the-network"),
    Check("plays", "It plays a game to its end, no move is refused, and the exit code is 0.", "bots.md#on-the-network"),
    Check("clock", "It does not lose on time with 60 s and 2 s a move.", "bots.md#on-the-network"),
    Check("stale-head", "STALE_HEAD means that another act came first: another turn comes.", "bots.md#errors"),
    Check("cuts", "After a break it goes on, whether or not its act arrived.", "bots.md#going-on-after-a-break"),
    Check("closings", "Only closing with GAME_OVER ends the game.", "bots.md#going-on-after-a-break"),
    Check("draining", "A referee that stops says DRAINING: connect again.", "bots.md#going-on-after-a-break"),
    Check("restart", "A referee that died comes back: connect again.", "bots.md#going-on-after-a-break"),
    Check("resumes", "Started again, it goes on with its game under the same key.", "bots.md#keys-crashes-and-hanging"),
    Check("refused", "After a refused move it goes on, or says so and fails.", "bots.md#errors"),
    Check("garbage", "A message that cannot be read may be damage: connect again.", "bots.md#damage-and-distrust"),
    Check("unknown-fields", "Fields that it does not know are ignored.", "bots.md#versions-of-the-api"),
    Check("silence", "A stream that is silent for 30 s is dead: connect again.", "bots.md#going-on-after-a-break"),
    Check("paces", "Between attempts it waits, twice as long each time up to 5 s.", "bots.md#going-on-after-a-break"),
    Check("same-bytes", "For one head it signs one act, and sends the same bytes again.", "bots.md#on-the-network"),
    Check("secrets", "Neither token nor key is in anything that it writes.", "security.md"),
)  # fmt: skip
"""Those that a referee of the check's own is needed for."""

CATALOGUE: Final = {check.id: check for check in (*_ASKED, *_PLAYED)}
ASKED: Final = tuple(check.id for check in _ASKED)
PLAYED: Final = tuple(check.id for check in _PLAYED)
