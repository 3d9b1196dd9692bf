// A sheet of Roll & Write: buildings, dice and coins, and what the seat can then do.

import { drawing, h } from "../dom.mjs";
import { w } from "../words.mjs";

const DICE = ["blue", "yellow"];
const MOST_COINS = 20;

const between = (least, most) => (number) => Number.isInteger(number) && number >= least && number <= most;
const isFace = between(1, 6);

/** The editor's knowledge of the game. `state`: {built: ["blue,yellow"], dice: {blue: [a, b], yellow: [c, d]}, coins}. */
export const rollwrite = ({ grid, types }) => {
  const typeAt = (blue, yellow) => grid[blue - 1][yellow - 1];

  return {
    pieces: () => [],
    empty: () => ({ built: [], dice: { blue: [1, 1], yellow: [1, 1] }, coins: 3 }),

    /** As the link has it: the dice, the coins, the buildings: `b1,2;y3,4;c3;1,1;2,5`. */
    write: ({ built, dice, coins }) => [`b${dice.blue}`, `y${dice.yellow}`, `c${coins}`, ...built].join(";"),

    read: (text) => {
      const [blue, yellow, coins, ...built] = text.split(";");
      const pair = (letter, part = "") => (part[0] === letter ? part.slice(1).split(",").map(Number) : []);
      const state = { built, dice: { blue: pair("b", blue), yellow: pair("y", yellow) }, coins: Number(coins?.slice(1)) };
      const good =
        DICE.every((die) => state.dice[die].length === 2 && state.dice[die].every(isFace)) &&
        coins[0] === "c" &&
        between(0, MOST_COINS)(state.coins) &&
        built.every((cell) => /^[1-6],[1-6]$/.test(cell)) &&
        new Set(built).size === built.length;
      return good ? state : null;
    },

    question: ({ built, dice, coins }) => ({
      game: "rollwrite",
      built: built.map((cell) => cell.split(",").map(Number)),
      dice,
      coins,
    }),

    isEmpty: () => false,
    hand: () => null,

    choose: (state, column, row) => {
      const cell = `${row + 1},${column + 1}`;
      const built = state.built.includes(cell) ? state.built.filter((each) => each !== cell) : [...state.built, cell].sort();
      return { ...state, built };
    },

    model: (state, answer) => {
      const legal = new Set(
        (answer?.actions ?? []).filter(({ action }) => action === "build").map(({ blue, yellow }) => `${blue},${yellow}`),
      );
      const cell = (x, y) => {
        const key = `${y + 1},${x + 1}`;
        const type = typeAt(y + 1, x + 1);
        const isBuilt = state.built.includes(key);
        const label = [
          w("cell", { x: y + 1, y: x + 1 }),
          w(isBuilt ? "rollwrite.built" : "rollwrite.free", { type: w(`type.${type}`) }),
          ...(legal.has(key) ? [w("cell.legal")] : []),
        ].join(", ");
        const marks = ["sheet", ...(isBuilt ? ["built"] : []), ...(legal.has(key) ? ["legal"] : [])];
        return { label, marks, picture: drawing([[`rnw-piece-${type}`, 0, 0]]) };
      };
      return { left: 0, top: 0, columns: 6, rows: 6, cell };
    },

    palette: () => [],

    settings: (state, change) => [
      ...DICE.map((die) =>
        h(
          "fieldset",
          { class: `dice ${die}` },
          h("legend", {}, w(`rollwrite.${die}`)),
          [0, 1].map((n) =>
            h(
              "select",
              {
                "aria-label": `${w(`rollwrite.${die}`)} ${n + 1}`,
                onchange: (event) => {
                  const values = state.dice[die].with(n, Number(event.target.value));
                  change({ ...state, dice: { ...state.dice, [die]: values } });
                },
              },
              [1, 2, 3, 4, 5, 6].map((face) => h("option", { value: face, selected: face === state.dice[die][n] }, face)),
            ),
          ),
        ),
      ),
      h(
        "label",
        {},
        w("rollwrite.coins"),
        h(
          "select",
          { onchange: (event) => change({ ...state, coins: Number(event.target.value) }) },
          Array.from({ length: MOST_COINS + 1 }, (_, n) => h("option", { value: n, selected: n === state.coins }, n)),
        ),
      ),
    ],

    facts: (answer, state) => {
      const counts = types.map((type) => [type, state.built.filter((cell) => typeAt(...cell.split(",").map(Number)) === type).length]);
      const told = counts.filter(([, n]) => n).map(([type, n]) => `${w(`type.${type}`)} ${n}`);
      return [[w("rollwrite.buildings"), told.join(", ") || "–"]];
    },

    about: (state, { actions, remark }) => {
      const list = (kind, places) =>
        actions
          .filter(({ action }) => action === kind)
          .map((each) => h("li", {}, w(`rollwrite.action.${kind}`, { ...each, ...places(each) })));
      const changes = list("change_dice", () => ({}));
      return [
        h("h3", {}, w("rollwrite.actions")),
        h("ul", {}, list("build", ({ type }) => ({ type: w(`type.${type}`) })), list("get_coins", () => ({}))),
        changes.length > 0 && h("details", {}, h("summary", {}, w("rollwrite.change", { n: changes.length })), h("ul", {}, changes)),
        remark && h("p", { class: "source" }, remark),
      ];
    },
  };
};
