# ruff: noqa: E501 - a row of a table is one line
"""docs/notation.md: what is told of the notation, with its grammar and with games as they are printed."""

from __future__ import annotations

from pathlib import Path

import referee.notation
from referee.games import registry
from referee.games.forfeits import ENDINGS
from referee.games.game import Ending
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.results import Contest
from referee.notation import old_names
from referee.notation.game_text import GameText
from referee.notation.game_text import write as write_game
from referee.notation.grammar import MAX_CHARACTERS, MAX_LINE
from referee.notation.headers import Setup
from referee.notation.options import options_of
from referee.notation.position_text import Position
from referee.notation.position_text import write as write_position
from tests.notation.setups import PLAIN, play

_SHOWN = {"alhambra": 14, "kingdomino": 18, "rollwrite": 18}
"""Events of each example: enough for the usual kinds."""

BOARDS = """\
[Game "alhambra"]
[Version "1"]
[Seats "3"]
[Position "action seat 0 start 0 turns 40 | scorings 2 due | piles 90 turned 0 | market free free free free | row \
| discard | neutral | bought | score 31 hand reserve won laid tower-9-NE 1,0 garden-10-N -1,0 \
| score 30 hand reserve won laid tower-10-W 0,1 | score 9 hand denar-1 reserve won laid"]
"""
"""Boards without their game, which ``tests/report`` scores."""

PAGE = """\
# The notation

Made from the grammar by `make docs`. A game, or one position of it, as plain text: a scribe writes it by hand, reads it
aloud, and makes a log from it; a log is printed as such a text. One game has one canonical text, which `referee show
--notation` prints; what else means the same is read as well, and nothing is guessed.

    referee show final.gamelog --notation > final.txt       # a log as text
    referee record final.txt --key scribe.pem --referee-key referee.pem --out final.gamelog     # and back
    referee show final.txt                                   # what a text says: the position, pictures

## A game

{kingdomino}
**Headers** come first, one a line, each once, `Game` before all others.

| header | value |
|---|---|
| `Game`, `Seats` | which game, how many seats; these two have to be there |
| `Version` | of the rules; the newest if there is none |
| `Event`, `Round`, `Table` | numbers that the organiser chose |
| `Player0`, `Player1`, … | the names of who sits there, for reports; no log has them, as there are no names in a log |
| a name in lower case | an option of the game that is not as it is by default; the words of a list have blanks between them (`[age_order "2 0 1"]`) |
| `Components` | what is played with, if not the standard components. Kingdomino: 48 times left and right half of a domino, as in `wheat/mine:3`, by their numbers. Roll & Write: name of the sheet, coin track, `blue` or `yellow` for the dice that give the rows, then 36 types: blue 1 with yellow 1 to 6, blue 2 and so on |
| `Position` | makes the text one of a position: see below |
| `Forfeits`, `Penalties` | what happened beside the moves: see [A contested game](#a-contested-game) |
| `Result` | the points of the seats in their order, less penalties; `*` for a game that goes on; for one that its rules did not end how it ended: `resigned`, `flag`, `disconnected`, `crashed` or `illegal moves` after forfeits; `adjudicated`, `voided`, `aborted`, `referee fault` or `stalled` (the log was full). Without it the result is what the position and the headers above it give; if it is there, it has to be so |
| `Points`, `Places` | of a result that the moves alone do not give: see [A contested game](#a-contested-game) |

The options, by game (docs/rules says what each is), have the same names and values everywhere: here, in `referee new
--options`, in questions to `referee inspect`, at the desk and in reports.

{options}
Texts from before are still read: {old_names}; `yes` and `no` for `true` and `false`, 0 to 3 for the currencies.

**Lines.** Every event has a line. What a seat does begins with its number and a colon; what is drawn or rolled does
not. A seat that has no legal action passes, and that is a line, too. Cells are `x,y`: x grows east, y grows south, castle
and fountain are `0,0`. A pair of dice is `blue,yellow`.

**Blanks and comments.** Words are apart by blanks, lines by ends of lines; more of either say nothing. A comment begins
with `;` and ends with its line, or is in braces. What scores is printed as such comments and not read.

**What may be left out**, as the rest says it, and writing it by hand takes time:

- the halves of a domino (`choose 48`): its number says them;
- the slot of a tile that is bought (`buy tower-12 with ducat-5 ducat-7`): every tile is there once;
- the type of a building and the coins that are got (`build 3,5`, `get coins`, `build second`): sheet and dice say them;
- the cells of `place 48` and `place garden-10-N` where there is one way to place it. With more the text is ambiguous.

What is written of these has to be right. Cards that are taken or paid, the dominoes of a line and the dice of a colour
that are turned may come in any order; hands, rows, markets and rolls have the order in which they came. There are no
other short forms. A tile has its whole name: `garden-10` is a tile, and so are `garden-10-N` and `garden-10-W`.

**What a text does not say** is in the log alone: keys and signatures, who sits where, the terms, a series, times,
moves that were refused, protests, and who ruled. An end that still waits for protests is written as what the game has
come to.

## A contested game

What happens beside the moves decides games, too: a seat resigns or runs out of time, an arbiter takes points off, lets
an illegal move stand or gives the result. A text says all of this, so that whoever reads it has the same winner as the
log.

{contested}
| header | value |
|---|---|
| `Forfeits` | the seats that have forfeited and how, in that order, with commas between: {forfeits}. They are behind all others (TBL-4), and when they leave at most one seat the game is over (TBL-3) |
| `Penalties` | points that an arbiter took off, by seat; they count before the places (TBL-6) |
| `Result` | as above. `adjudicated`, `voided`, `aborted` and `referee fault` hold whatever the game had come to |
| `Points` | by seat, as an arbiter gave them with `adjudicated`; where there are none, the result has places alone |
| `Places` | by seat, 1 is the winner and equal ones are a draw; printed wherever the moves alone do not give them |

Headers that say nothing are left out. Points and places of a contested game follow from the rest of the text but where
an arbiter gave them, and what is written of them has to be so. A text that says `[Result "resigned"]` and no `Forfeits`
does not tell whose it was: it is read, and has no places. Headers of a position mean the same; they come before it.

**A move that stands against the rules** ends with `against` and the ids of the rules that it breaks, ascending: these
and no others, and such as an arbiter can waive (TBL-7, [docs/rules/table.md](rules/table.md)). A line without it has to
be legal. In positions of Kingdomino the mark stands at the domino, with what it broke when it was placed; in those of
Alhambra at the end of what is `laid`, with what the whole breaks now. Roll & Write needs none there: nothing of the
boards is against its rules.

## What can be wrong

A text is read up to the first thing that is wrong, which is told with line and column. It has at most {characters}
characters, a line {line}.

| kind | such as |
|---|---|
| syntax | `line 3, column 4: syntax: found 'castel'; expected castle, choose, discard, pass or place` |
| illegal | `line 7, column 1: illegal: 0: choose 4 forest/forest: KDO-5 (domino: 4, found: not in the line): …` |
| ambiguous | `line 12, column 4: ambiguous: place 3 can be 2 moves; expected place 3 forest/forest -2,0 -1,0; place 3 …` |

*Syntax* is also the name of something that the game does not have, and a part that could be left out and is not so.
*Illegal* names every rule that is broken; where a seat acts that is not on turn, what is awaited.

## A position

The headers of the game, and the position on one line. It is read back as the same position, digest and all; `referee
show FILE --position --at N` prints it. What is read is whole: every domino, tile and card is in one place, boards are
legal or [marked](#a-contested-game) with what they break, and what is awaited can happen. Whether a game can lead to it
is not asked.

Parts are apart by `|`: the phase with what is counted, what lies on the table, then one part for each seat.

**Kingdomino**: the order of the kings in the first line; kings whose domino is still to be placed, `domino=seat`; the
offer, with the seat of the king on a domino; dominoes left over; for each seat the castle's column and row in a fixed
frame (or `nowhere`), dominoes in the order in which they were placed, discarded ones. What is nowhere is unseen.

{kingdomino_position}
**Roll & Write**: `roll`: pairs of dice that are awaited; `player`: the virtual player who rolls; `changed`: dice were
turned in this turn; `first`: its first building. For each seat coins left `of` those circled, dice, buildings; for each
virtual player its buildings by type; completed types with who completed them.

{rollwrite_position}
**Alhambra**: rounds held and `due`; cards in the five piles, how many of them were turned, and how many before each of
the scoring cards A and B that came. The bag and the deck are what is nowhere else: their order is no part of a
position.

{alhambra_position}
## Recording a game

`referee record` makes the log of a declared game: every seat is scribed, all that is drawn is declared, and each act is
signed with the scribe's key. The referee's key signs the head of the log. Who records a game alone is scribe and
referee, with two keys of their own (`referee keys scribe.pem --new`); the log then proves what they vouch for, not what
the players signed. The text is played by the rules first; nothing is written if anything is wrong. `referee audit` says
COMPLETE of a game that is over, PREFIX of one that breaks off. A contested game takes an arbiter's rulings, and so an
arbiter's key: `referee adjudicate` has it.

A printed text can be signed as a [C2SP signed note](https://c2sp.org/signed-note); whoever signs is told the verifier
key. A text is held against a key that is given, and without one it is told that nothing was checked:

    referee show final.gamelog --notation --sign club.pem --name club.example > final.txt
    referee show final.txt --key club.vkey
    referee record final.txt --text-key club.vkey --key scribe.pem --referee-key referee.pem --out final.gamelog

## Judging a record

`referee adjudicate` judges the record of a game that was played over the board, after the fact: every move, every draw,
the score. It reads what `referee record` reads, and does not end with the first thing that the rules forbid:

    referee adjudicate final.txt                            # stops before the first illegal line, which it explains
    referee adjudicate final.txt --on-illegal skip --report final.html --out final.gamelog \\
        --key scribe.pem --referee-key referee.pem --arbiter-key arbiter.pem

| `--on-illegal` | an illegal move |
|---|---|
| `stop` | ends the adjudication; the score so far, and with `--out` the log so far |
| `skip` | does not count: an attempt that was refused. If the seat moves again in the record, that counts; if the record goes on without it, the stand-in's move is entered (TBL-2). What was drawn after a move that did not count may not fit what was drawn for: that ends the adjudication |
| `accept-as-played` | stands, if all rules that it breaks are such as allow that (TBL-7); otherwise it ends the adjudication |

Nothing that is drawn or rolled can be skipped or left standing. What is not in the notation, or can mean several moves,
is nobody's move: it is told as by `referee record`, and to be put right in the text. A `Result` that is not that of the
points is listed with what is illegal; the points count. So are `Points` and `Places` that cannot be.

What the record says of rulings is taken as ruled, whatever the policy: a move that is rightly marked with `against`
stands, forfeits, penalties and given results count, and nothing of it makes the record wrong. With `--out` each becomes
a ruling in the log: moves in their places, all others at its end, as a text does not say when they came. Two ends cannot
be written so, and are refused: one of which the text does not tell whose it was, and an abort of a game that had
already come to its end.

Every ruling is an act of the arbiter in the log, signed with the arbiter's key. The report (`.html`, one page without
scripts that can be printed, or `.txt`) lists what is illegal with line, rule and the rule's words, the score item by
item, every move, and the hashes that hold it to the log. Names of players are in the report alone: in the log a player
is a hash, and the report has the salt that proves whose. `referee report final.gamelog --html` makes such a report of
any game file, with the audit's verdict at its top.

A running referee does the same over gRPC, for whoever has a token: AdjudicateRecord, ScorePosition and ReportGame of
[AdjudicationService](../proto/referee/v1/adjudication_service.proto), in Python `referee_clients.sdk.adjudication`. It takes no
keys and writes no log; `--out` is for whoever has them.

## Scoring a final position

`referee score` makes the score sheet of a position, of a game as text, or of a game file: every item of every seat with
its rule, the places, and what broke a tie. Of a contested game it says first who won and why, has points that were taken
off as items, and the places of the result. Of a position that is not over it is the score if the game ended there, with
a last scoring of the boards. Where the boards of Alhambra are all that is left of a game, they are written as below:
`scorings`, how many rounds were held; `score`, what the scoring track shows; and what is `laid`. Nobody asks how many
turns and cards led to it.

```text
{boards}```

In Python: `referee.notation.game_text.read` and `write`, `read_line` for one line in a position, and
`referee.notation.position_text`. All raise `NotationError` and nothing else for a text that is wrong.

## More games

{alhambra}
{rollwrite}
## The grammar

For [Lark](https://lark-parser.readthedocs.io), LALR(1). The text of a game has the common part and that of its game;
`text` is a game or a position, `position` the value of the header `Position`, `act` one line. Two words, or numbers,
need a blank between them.

{grammar}"""


def notation_page() -> str:
    """The page."""
    parts = {}
    for setup in PLAIN:
        states = [setup.start()]
        played = play(setup, seed=12)
        events = tuple(played.events[: _SHOWN[setup.rules_id]])
        for event in events:
            states[0].apply(event)
        parts[setup.rules_id] = _block(write_game(GameText(setup, events)))
        parts[f"{setup.rules_id}_position"] = _block(write_position(Position(setup, states[0])))
    folder = Path(referee.notation.__file__).parent
    grammars = [("Common", folder / "text.lark")]
    grammars += [(name.capitalize(), folder / name / "text.lark") for name in sorted(registry.names())]
    blocks = [f"### {name}\n\n{_block(path.read_text(encoding='utf-8'), 'lark')}" for name, path in grammars]
    parts["contested"] = _block(_contested())
    parts["forfeits"] = ", ".join(f"`{ending.words}`" for ending in ENDINGS)
    parts["options"] = "".join(map(_options, PLAIN))
    parts["old_names"] = ", ".join(f"`{old}` (today `{today}`)" for old, today in old_names.renamed())
    limits = {"characters": MAX_CHARACTERS, "line": MAX_LINE}
    return PAGE.format(**parts, **limits, boards=BOARDS, grammar="\n".join(blocks))


def _contested() -> str:
    """A game of Kingdomino that breaks off after an accepted move and forfeits."""
    setup = PLAIN[1]
    events = [*play(setup, seed=12).events[:9], PlaceDomino(18, (-2, 2), (-2, 3))]
    contest = Contest({0: Ending.RESIGNED}, (2, 0))
    return write_game(GameText(setup, tuple(events), contest))


def _options(setup: Setup) -> str:
    """``- **kingdomino**: `frame` (fixed or relative), …``."""
    named = [f"`{option.name}` ({option.expected})" for option in options_of(type(setup.options)).values()]
    return f"- **{setup.rules_id}**: {', '.join(named)}\n"


def _block(text: str, kind: str = "") -> str:
    return f"```{kind}\n{text}```\n"
