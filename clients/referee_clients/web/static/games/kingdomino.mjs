// A game of Kingdomino for those who watch: kingdoms, what lies on the table, moves in words.

import { w } from "../words.mjs";

const TERRAINS = ["wheat", "forest", "lake", "meadow", "swamp", "mine"];
const DECISIONS = new Set(["CASTLE", "CHOOSE", "PLACE"]);

const half = ({ terrain, crowns }) => {
  const key = crowns ? "kingdomino.half.crowns" : "kingdomino.half";
  return w(key, { terrain: w(`terrain.${TERRAINS[terrain - 1]}`), n: crowns });
};
const listed = (each) => each.join(", ") || "–";
const piece = ({ terrain, crowns }) => `kdo-piece-${TERRAINS[terrain - 1]}-${crowns}`;

/** `tables`: as GameOpen has them, the game's own dominoes. */
export const kingdomino = ({ dominoes }) => {
  const byNumber = new Map(dominoes.map((domino) => [domino.number, domino]));
  const words = (number) => {
    const { left, right } = byNumber.get(number);
    return w("kingdomino.domino", { number, left: half(left), right: half(right) });
  };
  const at = ({ x, y }) => w("cell", { x, y });

  return {
    /** A domino in words. */
    words,
    /** Its left and its right half: their words, and the ids of their pieces. */
    halves: (number) => [byNumber.get(number).left, byNumber.get(number).right].map((each) => ({ words: half(each), piece: piece(each) })),

    board: ({ seats }, seat) => {
      const laid = new Map([["0,0", null]]);
      const joined = new Map();
      for (const { domino, left, right } of seats[seat].placed) {
        joined.set(`${Math.min(left.x, right.x)},${Math.min(left.y, right.y)}`, left.y === right.y ? "joined-right" : "joined-down");
        laid.set(`${left.x},${left.y}`, [byNumber.get(domino).left, domino]);
        laid.set(`${right.x},${right.y}`, [byNumber.get(domino).right, domino]);
      }
      return {
        cells: [...laid.keys()],
        cell: (x, y) => {
          const found = laid.get(`${x},${y}`);
          const what = found === null ? w("kingdomino.castle") : found ? `${half(found[0])} (${found[1]})` : w("cell.empty");
          const id = found === null ? "kdo-piece-castle" : found && piece(found[0]);
          const marks = joined.has(`${x},${y}`) ? [joined.get(`${x},${y}`)] : [];
          return { label: `${at({ x, y })}, ${what}`, piece: id || null, marks };
        },
      };
    },

    /** What is awaited: a seat's decision, or null for what is drawn. */
    awaits: ({ phase, seat }) => (DECISIONS.has(phase) ? { seat, act: w(`kingdomino.awaits.${phase.toLowerCase()}`) } : null),

    ofSeat: ({ seats }, seat) => {
      const { placed, discarded } = seats[seat];
      return [
        [w("kingdomino.placed"), placed.length],
        ...(discarded.length ? [[w("kingdomino.discarded"), listed(discarded)]] : []),
      ];
    },

    ofTable: ({ lines, linesInAll, kings, offer }) => [
      [w("kingdomino.lines"), w("watch.of", { n: lines, all: linesInAll })],
      [
        w("kingdomino.offer"),
        offer
          .map(({ domino, seat }) => (seat === null ? words(domino) : w("kingdomino.king", { player: seat, domino: words(domino) })))
          .join("\n") || "–",
      ],
      ...(kings.length
        ? [[w("kingdomino.to_place"), kings.map(({ domino, seat }) => w("kingdomino.king", { player: seat, domino: words(domino) })).join("\n")]]
        : []),
    ],

    move: (move) => {
      const { column, row, domino, left, right } = move[move.move];
      return w(`kingdomino.move.${move.move}`, {
        column: column ?? "",
        row: row ?? "",
        domino: domino ? words(domino) : "",
        left: left ? at(left) : "",
        right: right ? at(right) : "",
      });
    },

    outcome: (outcome) => {
      const { numbers } = outcome[outcome.outcome];
      return w(`kingdomino.outcome.${outcome.outcome}`, { numbers: numbers.join(", "), players: numbers });
    },
  };
};
