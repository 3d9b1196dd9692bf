// A game of Roll & Write for those who watch: sheets, dice, moves in words.

import { h } from "../dom.mjs";
import { player, w } from "../words.mjs";

const TYPES = ["pavilion", "seraglio", "arcades", "chambers", "garden", "tower"];
const FACES = 6;
const DECISIONS = new Set(["ACTION", "SECOND", "KEEP"]);
const listed = (each) => each.join(", ") || "–";
const pair = ({ blue, yellow }) => w("cell", { x: blue, y: yellow });
const pairs = (rolls) => listed(rolls.map(pair));

/** A die of a colour, as a picture. */
export const die = (colour, value) => h("span", { class: `die ${colour}` }, value);

/** What stands above a column of the sheet, and beside a row. */
export const axes = [(x) => die("yellow", x + 1), (y) => die("blue", y + 1)];

/** `tables`: as GameOpen has them, the game's own sheet; its grid has types from 1. */
export const rollwrite = ({ grid }) => ({
  board: ({ seats }, seat) => {
    const built = new Set(seats[seat].built);
    const all = grid.map((_, at) => `${at % FACES},${Math.floor(at / FACES)}`);
    return {
      cells: all,
      tight: true,
      axes,
      cell: (x, y) => {
        const number = y * FACES + x;
        const type = TYPES[grid[number] - 1];
        const label = w(built.has(number) ? "rollwrite.built" : "rollwrite.free", { type: w(`type.${type}`) });
        return {
          label: `${w("cell", { x: y + 1, y: x + 1 })}, ${label}`,
          marks: ["sheet", ...(built.has(number) ? ["built"] : [])],
          piece: `rnw-piece-${type}`,
        };
      },
    };
  },

  /** What is awaited: a seat's decision, or null for what is rolled. */
  awaits: ({ phase, seat }) => (DECISIONS.has(phase) ? { seat, act: w(`rollwrite.awaits.${phase.toLowerCase()}`) } : null),

  ofSeat: ({ seats }, seat) => {
    const { blue, yellow, coins, circled } = seats[seat];
    return [
      [w("rollwrite.blue"), listed(blue)],
      [w("rollwrite.yellow"), listed(yellow)],
      [w("rollwrite.coins"), w("watch.of", { n: coins, all: circled })],
    ];
  },

  ofTable: ({ round, turns, virtual, awards }) => [
    [w("rollwrite.round"), round],
    [w("watch.turns"), turns],
    ...virtual.map((counts, n) => [
      w("rollwrite.virtual", { n: n + 1 }),
      listed(counts.flatMap((count, type) => (count ? [`${w(`type.${TYPES[type]}`)} ${count}`] : []))),
    ]),
    ...(awards.length
      ? [
          [
            w("rollwrite.awards"),
            awards
              .map(({ type, seats, virtual: others }) =>
                w("rollwrite.award", {
                  type: w(`type.${TYPES[type]}`),
                  players: [
                    ...seats.map((n) => player(n)),
                    ...others.map((n) => w("rollwrite.virtual", { n: n + 1 })),
                  ].join(", "),
                }),
              )
              .join("\n"),
          ],
        ]
      : []),
  ],

  move: (move) => {
    const what = move[move.move];
    return w(`rollwrite.move.${move.move}`, {
      blue: Array.isArray(what.blue) ? what.blue.join(", ") : (what.blue ?? ""),
      yellow: Array.isArray(what.yellow) ? what.yellow.join(", ") : (what.yellow ?? ""),
    });
  },

  outcome: (outcome) => {
    const what = outcome[outcome.outcome];
    return w(`rollwrite.outcome.${outcome.outcome}`, {
      player: what.seat ?? what.of ?? "",
      n: (what.of ?? 0) + 1,
      rolls: what.rolls ? pairs(what.rolls) : "",
    });
  },
});
