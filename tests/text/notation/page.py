# ruff: noqa: E501 - a row of a table is one line
"""docs/notation.md: the notation explained, with its grammar and with games as they are printed."""

from __future__ import annotations

from pathlib import Path

import referee.text.notation
from referee.games import registry
from referee.games.game import Ending
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.results import Contest
from referee.games.table_rules import ENDINGS
from referee.text.notation.game_text import GameText
from referee.text.notation.game_text import write as write_game
from referee.text.notation.grammar import MAX_CHARACTERS, MAX_LINE
from referee.text.notation.headers import Setup
from referee.text.notation.options import options_of
from referee.text.notation.position_text import Position
from referee.text.notation.position_text import write as write_position
from tests.text.notation.setups import PLAIN, play

_SHOWN = {"alhambra": 14, "kingdomino": 18, "rollwrite": 18}
"""Events of each example: enough for the usual kinds."""

BOARDS = {
    "kingdomino": """\
[Game "kingdomino"]
[Version "1"]
[Seats "2"]
[frame "relative"]
[harmony "true"]
[Boards "castle nowhere placed 48 1,0 1,1 placed 47 2,0 2,1 placed 1 0,1 0,2 | castle nowhere placed 19 0,-1 -1,-1 \
placed 24 -1,0 -2,0 discarded 3 7"]
""",
    "rollwrite": """\
[Game "rollwrite"]
[Version "1"]
[Seats "2"]
[Boards "coins 3 built 1,2 2,6 3,5 4,4 5,3 6,2 | coins 0 built 1,6 2,6 3,5 4,4 5,3 6,2 | virtual 1 0 0 2 1 0 \
| award pavilion seats 1 | award pavilion seats 0"]
""",
    "alhambra": """\
[Game "alhambra"]
[Version "2"]
[Seats "3"]
[Boards "before 31 laid garden-10-N -1,0 tower-9-NE 1,0 | before 30 laid tower-10-W 0,1 | before 9 laid"]
""",
}
"""Boards of each game without anything else, which ``tests/text/report`` scores."""

PAGE = """\
# The notation

The notation writes a game, or one position of it, as plain text. A scribe can write it by hand, read it aloud, and
make a log from it. A log can also be printed as such a text. Each game has one canonical text, which `referee show
--notation` prints. The reader also accepts other spellings of the same, and never guesses. This page is made from the
grammar by `make docs`.

    referee show final.gamelog --notation > final.txt       # a log as text
    referee record final.txt --key scribe.pem --referee-key referee.pem --out final.gamelog     # and back
    referee show final.txt                                   # the position that a text leads to, and pictures

## A game

{kingdomino}
**Headers** come first, one per line, each once, `Game` before all others.

| header | value |
|---|---|
| `Game`, `Seats` | which game, how many seats; these two are required |
| `Version` | version of the rules; by default the newest |
| `Event`, `Round`, `Table` | numbers that the organiser chose |
| `Arbiters` | how many arbiters the game has; without it, as many as act in it |
| `Player0`, `Player1`, … | players' names, for reports; logs have no names |
| a name in lower case | an option of the game that differs from its default; blanks separate the words of a list (`[age_order "2 0 1"]`) |
| `Components` | components other than the standard ones. Kingdomino: 48 times left and right half of a domino, as in `wheat/mine:3`, by their numbers. Roll & Write: name of the sheet, coin track, `blue` or `yellow` for the dice that give the rows, then 36 types: blue 1 with yellow 1 to 6, blue 2 and so on |
| `Position` | makes the text that of a position: see below |
| `Boards` | makes the text that of boards alone, to be scored: see [Boards alone](#boards-alone) |
| `Forfeits`, `Penalties` | events beside the moves: see [A contested game](#a-contested-game) |
| `Result` | the points of the seats in their order, less penalties; `*` for a game that is still running. If the rules did not end the game, its ending: `resigned`, `flag`, `disconnected`, `crashed` or `illegal moves` after forfeits; `adjudicated`, `voided`, `aborted`, `referee fault` or `stalled` (the log was full). Without this header the position and the headers above give the result; with it, the result must agree with them |
| `Points`, `Places` | a result that does not follow from the points alone, such as a tie that a rule breaks: see [A contested game](#a-contested-game) |
| `Waits` | the reason why the result of a finished game waits: `protests`, as there is still time, or `a ruling`; without it, the lines show whether an arbiter still has to rule |

The options have the same names and values everywhere: here, in `referee new --options`, in questions to `referee
inspect`, at the desk and in reports. The pages in docs/rules explain each.

| game | option | values |
|---|---|---|
{options}

**Lines.** Every event has a line. A seat's move begins with the seat's number and a colon; a draw or a roll does not.
A seat without a legal action passes, and that is a line, too. Cells are `x,y`. x grows east, y grows south, and
castle and fountain are `0,0`. A pair of dice is `blue,yellow`.

**Blanks and comments.** Blanks separate words, and line ends separate lines; more of either change nothing. A comment
begins with `;` and ends with its line, or is in braces. Scoring rounds are printed as such comments and not read.

**Parts that you may leave out.** Writing by hand takes time, and the rest of the line implies these parts:

- the halves of a domino (`choose 48`): its number implies them;
- the slot of a tile that is bought (`buy tower-12 with ducat-5 ducat-7`): each tile exists once;
- the type of a building and the number of coins (`build 3,5`, `get coins`, `build second`): sheet and dice imply them;
- the cells of `place 48` and `place garden-10-N` if there is only one way to place it. With more ways the text is
  ambiguous.

If you write these parts, they must be right. Cards that are taken or paid, the dominoes of a line and the changed dice
of one colour may come in any order; hands, rows, markets and rolls keep the order in which they came. There are no
other short forms. A tile has its whole name: `garden-10` is a tile, and so are `garden-10-N` and `garden-10-W`.

**Parts that a text does not have.** Keys and signatures, seats' players, the terms, a series and times are only in
the log. So are refused moves and the strikes for them, the clocks, and corrected slips of a scribe's pen.

## A contested game

Games are not decided by moves alone. A seat resigns or runs out of time, or an arbiter takes points off, lets an
illegal move stand or gives the result. A text states all of this, so that its readers find the same winner as the
log.

{contested}
**Acts at the table** have lines of their own, in their place among the moves. A number is that of a line, counted
from 1 after the headers; 0 is the beginning. In lists of entries (the desk, `referee show --moves`) it is the number
that is printed before each entry.

| line | meaning |
|---|---|
| `1: resign` | seat 1 gives up |
| `1: back to 12`, then `0: agree` | seat 1 asks to go back to the position after line 12; the game goes back when all players have agreed |
| `1: protest against 12 KDO-14 "too wide"` | seat 1 protests; the words may be missing |
| `1: appeal against 15 TBL-33 "why"` | against the ruling of line 15, where there is another arbiter |
| `scribe: back to 12` | the scribe wrote something wrong: back to the position after line 12 |
| `referee: forfeit seat 1 flag` | a seat is out without a ruling: {forfeits} |
| `organiser: abort` | the game was broken off |
| `arbiter: warn seat 1` | a warning |
| `arbiter: penalty seat 1 points 2` | two points off |
| `arbiter: penalty seat 1 strikes 1` | as if a move had been refused; with the number that the terms set the seat is out, which a line `referee: forfeit` states |
| `arbiter: penalty seat 1 time 30s` | off the clock. One penalty can have all three, in this order: `points 2 strikes 1 time 1m30s` |
| `arbiter: clock seat 1 5m` | five minutes are left on the clock from now on. Units are `d`, `h`, `m`, `s` and `ms` |
| `arbiter: forfeit seat 1 disconnected` | a seat is out; `arbiter: reinstate seat 1` brings it back |
| `arbiter: skip seat 1` | the seat loses this move; the stand-in's move follows (TBL-2) |
| `arbiter: restore to 12` | back to the position after line 12 |
| `arbiter: stands "why"` | words about the next move, which stands: see below |
| `arbiter: result places 1 2 points 27 22` | the result; the points may be missing |
| `arbiter: void` | the game does not count |
| `arbiter: pause`, `adjourn`, `resume` | pause or adjourn: no seat can move; resume: the game continues |
| `arbiter: dismiss decides 13` | the protest of line 13 is turned down |

A ruling may end with three parts, in this order: `decides 13` (a protest or an appeal), `under TBL-33` (its rule, if
that is not the usual one) and words in quotes. `arbiter 1:` is the second arbiter. Moves that were
taken back stay in the text and do not count. For a seat that is out, the stand-in's moves and its forced passes count
(TBL-2). You can leave these lines out, as they follow from the rules; the referee prints them. `arbiter: stands`
comes right before a move that is marked with `against`. An act that the rules of the table do not allow, such as a
second `1: resign`, is refused with its line.

Headers state the same facts without the time at which they happened. A text may use lines or headers. If it has both
they must agree.

| header | value |
|---|---|
| `Forfeits` | the seats that have forfeited and the reasons, in the order of the forfeits, separated by commas: {forfeits}. They are placed behind all others (TBL-4), and when at most one seat is left the game is over (TBL-3) |
| `Penalties` | points that an arbiter took off, by seat; they count before the places (TBL-6) |
| `Result` | as above. `adjudicated`, `voided`, `aborted` and `referee fault` replace the result of the moves |
| `Points` | by seat, as an arbiter gave them with `adjudicated`; without them the result has only places |
| `Places` | by seat: 1 is the winner, equal places are a draw; printed if the moves alone do not give them |

Headers without content are left out. Points and places of a contested game follow from the rest of the text, except
where an arbiter gave them. If you write them, they must agree. A text with `[Result "resigned"]` and no `Forfeits`
does not say which seat resigned, so it can be read, but has no places. The same headers have the same meaning before
a position.

**A move that stands against the rules** ends with `against` and the ids of the rules that it breaks, ascending. It
names exactly these, and only rules that an arbiter can waive (TBL-7,
[docs/rules/table.md](rules/table.md#what-may-stand)). A line without the mark must be legal. In positions of
Kingdomino the mark is at the domino, with the rules that it broke when it was placed. In those of Alhambra it is at
the end of `laid`, with the rules that the whole layout breaks now. Roll & Write needs no mark in a position, because
nothing on its boards is against the rules.

## Errors

The reader stops at the first error and gives its line and column. A text has at most {characters} characters, and a
line at most {line}.

| kind | example |
|---|---|
| syntax | `line 3, column 4: syntax: found 'castel'; expected castle, choose, discard, pass or place` |
| illegal | `line 7, column 1: illegal: 0: choose 4 forest/forest: KDO-5 (domino: 4, found: not in the line): …` |
| ambiguous | `line 12, column 4: ambiguous: place 3 can be 2 moves; expected place 3 forest/forest -2,0 -1,0; place 3 …` |

*Syntax* also covers names that the game does not have, and optional parts that are wrong. *Illegal* names every rule
that is broken. If a seat acts out of turn, the message names the awaited event.

## A position

A position has the headers of the game, and the position on one line. `referee show FILE --position --at N` prints it.
It is read back as the same position, with the same digest. A position must be complete. Every domino, tile and card
is in one place, boards are legal or [marked](#a-contested-game) with the rules that they break, and the awaited event
can happen. The reader does not check whether a game can lead to it.

`|` separates the parts: the phase with its counters, the pieces on the table, then one part for each seat.

**Kingdomino**: the order of the kings in the first line; kings whose domino is still to be placed, `domino=seat`; the
offer, with the seat of the king on a domino; dominoes left over. For each seat: the castle's column and row in a
fixed frame (or `nowhere`), dominoes in the order in which they were placed, discarded dominoes. A domino that is in
none of these places is unseen.

{kingdomino_position}
**Roll & Write**: `roll`: pairs of dice that are awaited; `player`: the virtual player whose dice are rolled; `changed`:
dice were changed in this turn; `first`: its first building. For each seat: coins left `of` those circled, dice,
buildings. For each virtual player: its buildings by type. Then the completed types, with the players who completed
them.

{rollwrite_position}
**Alhambra**: rounds held and `due`; cards in the five piles, the number of them that were turned, and the number
turned before each of the scoring cards A and B, if it came. All other tiles and cards are in the bag and the deck.
Their order is not part of a position.

{alhambra_position}
## Recording a game

`referee record` makes the log of a declared game. Every seat is scribed, every draw is declared, and each act is
signed with the scribe's key. The referee's key signs the head of the log. If you record a game alone you are scribe
and referee, with two keys (`referee keys scribe.pem --new`). The log then has your signature, not those of the
players.
 The text is first played by the rules. If anything is wrong, nothing is written. `referee audit` says COMPLETE for a
 finished game, and PREFIX for one that breaks off. A text with rulings or protests needs an arbiter's key,
 `--arbiter-key`. A recording has no clock. So a forfeit without a ruling becomes a ruling, and a text with a ruling
 about a clock is refused.

A printed text can be signed as a [C2SP signed note](https://c2sp.org/signed-note). `--sign` prints the verifier key.
With `--key` the reader checks a text's signature. Without it, the reader says that nothing was checked:

    referee show final.gamelog --notation --sign club.pem --name club.example > final.txt
    referee show final.txt --key club.vkey
    referee record final.txt --text-key club.vkey --key scribe.pem --referee-key referee.pem --out final.gamelog

## Judging a record

`referee adjudicate` judges the record of a game that was played over the board: every move, every draw, the score. It
reads the same texts as `referee record`, but can continue after a line that the rules forbid:

    referee adjudicate final.txt                            # stops before the first illegal line and explains it
    referee adjudicate final.txt --on-illegal skip --report final.html --out final.gamelog \\
        --key scribe.pem --referee-key referee.pem --arbiter-key arbiter.pem

| `--on-illegal` | effect on an illegal move |
|---|---|
| `stop` | it ends the adjudication; you get the score so far, and with `--out` the log so far |
| `skip` | it does not count, like a refused attempt. If the seat moves again in the record, that move counts; if the record continues without it, the stand-in's move is entered (TBL-2). If a later draw does not fit the game without the move, the adjudication ends there |
| `accept-as-played` | it stands if all rules that it breaks can be waived (TBL-7); otherwise it ends the adjudication |

`--rulings FILE` rules on single lines: skip, let stand, replace by another move, or stop with a result. Each can also
take points off a seat ([organising.md](organising.md#each-line-on-its-own)). `--list` names every illegal line
without any ruling.

Draws and rolls cannot be skipped or left standing. A line that is not in the notation, or can mean several moves, is
not a move. It is reported as by `referee record`; correct the text. A `Result` that differs from the points is listed
with the illegal lines, and the points count. The same holds for impossible `Points` and `Places`. Headers `Forfeits`
and `Penalties` that contradict the lines are refused, as by `referee record`.

Some lines are treated like illegal moves: they are listed with the reason, and `skip` leaves them out. These are acts
of the table that are not possible, such as `1: resign` twice, moves in a pause, and moves of a seat that is out other
than the stand-in's.

Rulings in the record apply whatever the policy. A move that is correctly marked with `against` stands, and forfeits,
penalties and given results count. They do not make the record wrong. With `--out` each becomes a ruling in the log.
Lines are entered in their places, and headers at its end, because they have no time. Two kinds of ends cannot be
written this way and are refused: a forfeit whose seat the text does not name, and an abort of a game that had already
come to its end.

Every ruling is an act of the arbiter in the log, signed with the arbiter's key. The report is `.html`, one printable
page without scripts, or `.txt`. It lists the illegal lines with line, rule and the rule's words, the score item by
item, every move, and the hashes that tie it to the log. Only the report has the players' names. In the log a player
is a hash, and the report has the salt that proves which player it is. `referee report final.gamelog --html` makes
such a report of any game file, with the audit's verdict at its top.

A running referee does the same over gRPC for callers with a token. The methods are AdjudicateRecord, ScorePosition
and ReportGame of [AdjudicationService](../proto/referee/v1/adjudication_service.proto), in Python
`referee_clients.sdk.solver`. Rulings by line are `AdjudicateRecordRequest.rulings`. The service takes no keys and
writes no log; use `--out` where you have the keys.

## Scoring a final position

`referee score` makes the score sheet of a position, of a game as text, or of a game file. It has every item of every
seat with its rule, the places, and the rule that broke a tie. For a contested game it begins with the winner and the
reason, lists points that were taken off as items, and has the places of the result. If the game is not over, it gives
the score as if the game ended there, with a last scoring of the boards.

### Boards alone

If only the boards of a game are known, write `Boards` instead of `Position`. Give the boards at the end of the game,
one part for each seat, separated by `|`. `referee score` gives the points and places of a final scoring, and `referee
show` draws them (`--svg` as pictures). No other command accepts boards, because they do not make a game or a log.
`Forfeits`, `Penalties` and the other headers have the same meaning as before a position. Boards are legal or marked
with `against` as there.

**Kingdomino**: `castle` with its column and row in a fixed frame, or `nowhere` with `[frame "relative"]`; then the
dominoes in any order. Every seat gets 12 in a game, in a mighty duel 24. Dominoes that are not in its kingdom count
as discarded (harmony) and need not be named.

```text
{boards_kingdomino}```

**Roll & Write**: coins that are left, and the buildings; the virtual players' buildings by type; then the awards for
completed types, those of one type in the order in which they were given. An award has all players who completed the
type in the same round (`seats 0 2`, `virtual 0`), and may name the round (`award tower round 9 seats 1`). The award
of a type that only one player has completed may be left out.

```text
{boards_rollwrite}```

**Alhambra**: `before` is the scoring track before the last scoring, for every seat or for none. Without it the sheet
has the points of the last round only, and says so. With two seats the last part is `neutral` with the neutral
player's tiles. Cards and reserves do not matter.

```text
{boards_alhambra}```

In Python, use `read` and `write` in `referee.text.notation.game_text`, and `read_line` there for one line in a
position. For positions and boards use `read`, `write`, `read_boards` and `write_boards` in
`referee.text.notation.position_text`. For a wrong text they raise only `NotationError`.

## More games

{alhambra}
{rollwrite}
## The grammar

The grammar is written for [Lark](https://lark-parser.readthedocs.io), LALR(1). The text of a game uses the common
part and its game's part. `text` is a game or a position, `position` and `boards` are the values of the headers
`Position` and `Boards`, and `act` is one line. Two words, or two numbers, need a blank between them.

{grammar}"""


def notation_page() -> str:
    """Return the page."""
    parts = {}
    for setup in PLAIN:
        states = [setup.start()]
        played = play(setup, seed=12)
        events = tuple(played.events[: _SHOWN[setup.rules_id]])
        for event in events:
            states[0].apply(event)
        parts[setup.rules_id] = _block(write_game(GameText(setup, events)))
        parts[f"{setup.rules_id}_position"] = _block(write_position(Position(setup, states[0])))
    folder = Path(referee.text.notation.__file__).parent
    grammars = [("Common", folder / "text.lark")]
    grammars += [(name.capitalize(), folder / name / "text.lark") for name in sorted(registry.names())]
    blocks = [f"### {name}\n\n{_block(path.read_text(encoding='utf-8'), 'lark')}" for name, path in grammars]
    parts["contested"] = _block(_contested())
    parts["forfeits"] = ", ".join(f"`{ending.words}`" for ending in ENDINGS)
    parts["options"] = "".join(map(_options, PLAIN))
    limits = {"characters": MAX_CHARACTERS, "line": MAX_LINE}
    return PAGE.format(
        **parts, **limits, **{f"boards_{name}": text for name, text in BOARDS.items()}, grammar="\n".join(blocks)
    )


def _contested() -> str:
    """Return a game of Kingdomino that breaks off after an accepted move and forfeits."""
    setup = PLAIN[1]
    events = [*play(setup, seed=12).events[:9], PlaceDomino(18, (-2, 2), (-2, 3))]
    contest = Contest({0: Ending.RESIGNED}, (2, 0))
    return write_game(GameText(setup, tuple(events), contest))


def _options(setup: Setup) -> str:
    """Return the rows ``| kingdomino | `frame` | fixed or relative |`` of the table of options."""
    choices = options_of(type(setup.options)).values()
    return "".join(f"| {setup.rules_id} | `{option.name}` | {option.expected} |\n" for option in choices)


def _block(text: str, kind: str = "") -> str:
    return f"```{kind}\n{text}```\n"
