"""``referee inspect``: answers questions about boards and scores, a JSON object a line. No server, no game."""

from __future__ import annotations

from referee.cli.shared.failure import EXIT_FAILED, Exit
from referee.cli.shared.json_lines import Questions, Strict, batches, opened, write
from referee.text.notation.questions import answer, encode


def inspect(file: Questions = None, /, *, strict: Strict = False) -> None:
    """Answer questions about boards and scores: one JSON object per line in, one per line out, in order.

    A layout: tiles by cell, "x,y" with x to the east and y to the south; the fountain at 0,0 is implied.

        {"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"tile":"tower-8-NES"}

        {"valid":true,"violations":[],"wall":3,"counts":{"pavilion":1},
        "placements":[[1,0]],"removable":[[0,-1]],"swappable":[]}

    "tile" is optional: a tile in hand, to be placed or to replace a tile of the layout (another one, if it is in the
    layout itself). Without it the answer has neither placements nor swappable. "options":{"loop_rule":"one_less"}
    counts a wall that closes on itself as one shorter. If the layout breaks the rules, the answer has valid false and
    all violations. The rest is answered as if an arbiter let the tiles stand, unless some of them are apart from the
    others (ALH-A3): then the answer has only the counts. With "cells":true the answer also has "wall_sides", where the
    longest wall runs: [x,y,side] for each side, N, E, S or W, in order.

    A score: what each of 2 to 6 players has in the Alhambra. With two players the neutral player may take part, as
    "neutral" among the players of a line. Points include the wall.

        {"game":"alhambra","score":{"round":2,"players":[
        {"counts":{"tower":4},"wall":7},{"counts":{},"wall":3}]}}

        {"points":[20,3],
        "lines":[{"type":"tower","place":1,"players":[0],"each":13}]}

    A kingdom: its dominoes in the order of placement, each [number,ax,ay,bx,by] with the cells of its left and right
    half; x to the east, y to the south, the castle at 0,0. The size of the frame is 5 or 7; "castle" is the castle's
    [column,row] in a fixed frame, counted from 0 in the north-west, or null for a relative frame.

        {"game":"kingdomino","frame":{"size":5,"castle":[0,0]},
        "kingdom":[[48,1,0,1,1]],"domino":44}

        {"valid":true,"violations":[],"score":3,
        "areas":[{"terrain":"wheat","squares":1,"crowns":0},
        {"terrain":"mine","squares":1,"crowns":3}],
        "largest_area":1,"crowns":3,"placements":[[0,1,0,2],[0,2,0,1]]}

    "domino" is optional: the domino to be placed. Without it the answer has no placements. A domino with equal halves
    has one name for each placement, the smaller one. The dominoes are the game's own, 1 to 48; for those of another
    edition, "dominoes":{"48":["lake:2","wheat"]} gives the left and the right half by number. If the kingdom breaks the
    rules, the answer has valid false and what every bad placement breaks; "placement" is the position of that placement
    in the array, from 0. A domino that only touches nothing that fits (KDO-14) lies there all the same, as an arbiter
    may decide, and counts. One that cannot lie there is in "left_out": later dominoes are judged without it, and the
    answer has neither score nor placements. The score does not include bonuses. With "cells":true every area has its
    cells. With "any_order":true the dominoes of the array are judged in an order in which all of them can be placed, if
    there is one, as a kingdom does not show in which order they came. "order" in the answer is that order.

    A turn of Roll & Write: the seat's buildings, each [blue,yellow] by the dice that meet there, its four dice, and its
    unspent coins. The answer lists what the seat can do, in the order of the game's own list of moves; "second" says
    that a second building is then possible, for three of the coins that are left.

        {"game":"rollwrite","built":[[1,1]],
        "dice":{"blue":[1,1],"yellow":[1,6]},"coins":1}

        {"sheet":"rw-default-1",
        "remark":
        "sheet rw-default-1 is this referee's own layout, not the printed one",
        "actions":[
        {"action":"change_dice","blue":[1,1],"yellow":[1,5],"cost":1},
        {"action":"change_dice","blue":[1,1],"yellow":[2,6],"cost":1},
        {"action":"change_dice","blue":[1,2],"yellow":[1,6],"cost":1},
        {"action":"build","blue":1,"yellow":6,"type":"tower","second":false},
        {"action":"get_coins","coins":2}]}

    Optional: "circled", the number of coins circled so far, which the track limits (by default the unspent coins, at
    least 3); and, in this and the next question, "sheet": "rw-default-1" or
    {"grid":…,"boxes":…,"coin_track":…,"rows_are":…}. The grid has six rows of six types, as printed; its rows are the
    "blue" or the "yellow" dice; the boxes are given by type. A sheet that breaks a constraint is refused with the name
    of the constraint. The types are pavilion, seraglio, arcades, chambers, garden, tower.

    Points of Roll & Write, when the game is over: the buildings of 1 to 5 players, with any names, by type.

        {"game":"rollwrite","score":{
        "counts":{"Ani":{"tower":7},"Eva":{"tower":5},"Dirk":{"tower":4}},
        "virtual":["Dirk"],"awarded":{"tower":{"Ani":21}},"coins":{"Eva":3}}}

        {"sheet":"rw-default-1",
        "remark":
        "sheet rw-default-1 is this referee's own layout, not the printed one",
        "points":{
        "Ani":{"pavilion":0,"seraglio":0,"arcades":0,"chambers":0,
        "garden":0,"tower":21,"lines":0,"coins":0,"total":21},
        "Eva":{"pavilion":0,"seraglio":0,"arcades":0,"chambers":0,
        "garden":0,"tower":13,"lines":0,"coins":1,"total":14},
        "Dirk":{"pavilion":0,"seraglio":0,"arcades":0,"chambers":0,
        "garden":0,"tower":0,"lines":0,"coins":0,"total":0}},
        "winners":["Ani"],
        "explained":["pavilion: no player has one","seraglio: no player has one",
        "arcades: no player has one","chambers: no player has one",
        "garden: no player has one",
        "tower: Ani has it already: 21; Eva 2nd: 13; Dirk 3rd: 6, not given",
        "lines: no player","coins: Eva 3 left: 1"]}

    Optional: "virtual", the players who take places but get no points; "awarded", by type, the players who completed it
    during the game and the points that each got for it then (0 for a virtual player), whose count of the type no longer
    matters; "built", a player's buildings, each [blue,yellow], which give the points for lines; "coins", a player's
    unspent coins. With "options":{"solo":"against"} in the question, 2 to 4 virtual players and one other, virtual
    players get points and a bonus, and the answer has both. Counts that the sheet cannot hold, such as more buildings
    of a type than boxes, are scored as given and reported in "remarks".

    An "id" (a string, number, true, false or null) comes back with the answer. A line that cannot be answered gets
    {"error":"…"}, and the others are still answered; the exit code is 0 all the same, unless --strict is given.
    """
    errors = False
    with opened(file) as questions:
        for lines in batches(questions):
            answers = [answer(line) for line in lines]
            write(b"".join(map(encode, answers)))
            errors |= any("error" in found for found in answers)
    if strict and errors:
        raise Exit(EXIT_FAILED)
