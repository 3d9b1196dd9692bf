#!/usr/bin/env python3
"""A naive engine of Kingdomino for `referee vectors check`: written from the rules, and as slow as it is simple."""

import json
import sys
from copy import deepcopy
from pathlib import Path

SETS = Path(sys.argv[1] if len(sys.argv) > 1 else "dominoes.txt").read_text().splitlines()
DOMINOES = {int(number): halves for number, *halves in (line.split() for line in SETS if line[0] != "#")}
SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Kingdom:
    """Squares by cell; `castle` is its column and row in a frame that is fixed."""

    def __init__(self, size, castle=None):
        self.size, self.castle, self.squares, self.discarded = size, castle, {}, 0

    def fits(self, number, a, b):
        cells = [*self.squares, (0, 0), a, b]
        if len(set(cells)) < len(cells):
            return False
        for axis in range(2):
            low, high = min(cell[axis] for cell in cells), max(cell[axis] for cell in cells)
            start = low if self.castle is None else -self.castle[axis]
            if low < start or high >= start + self.size:
                return False
        return any(self.touches(cell, half) for cell, half in zip((a, b), DOMINOES[number], strict=True))

    def touches(self, cell, half):
        beside = [(cell[0] + x, cell[1] + y) for x, y in SIDES]
        return (0, 0) in beside or half.split(":")[0] in {self.squares.get(c, "").split(":")[0] for c in beside}

    def places(self, number):
        near = {(x + dx, y + dy) for x, y in [*self.squares, (0, 0)] for dx, dy in SIDES}
        near |= {(x + dx, y + dy) for x, y in near for dx, dy in SIDES}
        pairs = ((a, (a[0] + dx, a[1] + dy)) for a in near for dx, dy in SIDES)
        fitting = {pair for pair in pairs if self.fits(number, *pair)}
        same = DOMINOES[number][0] == DOMINOES[number][1]
        return sorted(pair for pair in fitting if not same or pair <= (pair[1], pair[0]))

    def lay(self, number, a, b):
        self.squares |= dict(zip((a, b), DOMINOES[number], strict=True))

    def points(self):
        seen, points = set(), 0
        for cell in self.squares:
            area, crowns, todo = 0, 0, [cell]
            while todo:
                at = todo.pop()
                if at not in seen and self.squares.get(at, "").split(":")[0] == self.squares[cell].split(":")[0]:
                    seen.add(at)
                    area, crowns = area + 1, crowns + int((self.squares[at] + ":0").split(":")[1])
                    todo += [(at[0] + x, at[1] + y) for x, y in SIDES]
            points += area * crowns
        return points


class Game:
    def __init__(self, entry):
        self.fixed = "relative" not in entry
        self.kingdoms = [Kingdom(7 if "mighty-duel" in entry else 5) for _ in range(int(entry["seats"][0]))]
        self.order = [int(seat) for seat in entry["order"]]
        self.places = len(self.order) + ("wider-offer" in entry)
        self.coming = [int(number) for number in entry["dominoes"]]
        self.castles = list(range(len(self.kingdoms))) if self.fixed else []
        self.kings, self.claims, self.line = [(0, seat) for seat in self.order], [], self.draw()
        self.placed = True  # in the first round nothing is placed before choosing
        for move in entry["play"]:
            self.play(move)

    def draw(self):
        line, self.coming = sorted(self.coming[: self.places]), self.coming[self.places :]
        return line

    def legal(self):
        if self.castles:
            size = self.kingdoms[0].size
            return [["castle", f"{x},{y}"] for x in range(size) for y in range(size)]
        if not self.kings:
            return []
        number, seat = self.kings[0]
        if not self.placed:
            words = [
                ["place", str(number), *(f"{x},{y}" for x, y in pair)] for pair in self.kingdoms[seat].places(number)
            ]
            return words or [["discard", str(number)]]
        return [["choose", str(free)] for free in self.line if free not in dict(self.claims)]

    def after(self, move):
        after = deepcopy(self)
        after.play(move)
        return after

    def play(self, move):
        kind, *words = move
        if kind == "castle":
            self.kingdoms[self.castles.pop(0)].castle = tuple(map(int, words[0].split(",")))
            return
        number, seat = self.kings[0]
        if kind == "choose":
            self.claims.append((int(words[0]), seat))
        elif kind == "place":
            self.kingdoms[seat].lay(number, *(tuple(map(int, word.split(","))) for word in words[1:]))
        self.placed = kind != "choose" and bool(self.line)  # after the last line only dominoes are placed
        if not self.placed:
            self.kings.pop(0)
            if not self.kings and self.claims:
                self.kings, self.claims, self.line = sorted(self.claims), [], self.draw()
            self.placed = bool(self.kings) and self.kings[0][0] == 0


def count(game, depth):
    moves = game.legal()
    return len(moves) if depth == 1 else sum(count(game.after(move), depth - 1) for move in moves)


def answer(kind, entry, depth=0):
    if "order" not in entry or kind == "digest":
        return {"unsupported": True}
    game = Game(entry)
    answers = {"count": lambda: count(game, depth), "legal": game.legal}
    return {kind: answers.get(kind, lambda: [kingdom.points() for kingdom in game.kingdoms])()}


for question in sys.stdin:
    ((asked, told),) = json.loads(question).items()
    known = told["game"] == "kingdomino"
    said = answer(asked, told["entry"], told.get("depth")) if known else {"unsupported": True}
    print(json.dumps(said), flush=True)
