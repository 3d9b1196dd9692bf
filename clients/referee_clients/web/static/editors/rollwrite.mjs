// A sheet of Roll & Write: buildings, dice and coins, and what the seat can then do; or the sheets of a whole game.

import { drawing, h } from "../dom.mjs";
import { axes } from "../games/rollwrite.mjs";
import { firstPlayer, w } from "../words.mjs";

const DICE = ["blue", "yellow"];
const [LEAST_AGAINST, MOST_AGAINST] = [2, 4];

const between = (least, most) => (number) => Number.isInteger(number) && number >= least && number <= most;
const isFace = between(1, 6);

/** The editor's knowledge of the game. `state`: {built: ["blue,yellow"], dice: {blue: [a, b], yellow: [c, d]}, coins,
 * virtual, against, ranks}. The last three are said of the game, on the first sheet: each virtual player's buildings by
 * type; whether a game with one seat is played against them; and by type, of who completed it, who was first: a number
 * for each player, 0 for who did not, the same for the same round.
 */
export const rollwrite = ({ grid, types, boxes, coins: most }) => {
  const typeAt = (blue, yellow) => grid[blue - 1][yellow - 1];
  const count = ({ built }) => types.map((type) => built.filter((cell) => typeAt(...cell.split(",").map(Number)) === type).length);
  const options = (least, last, value, label) =>
    Array.from({ length: last - least + 1 }, (_, n) => h("option", { value: least + n, selected: least + n === value }, label?.(least + n) ?? least + n));
  const select = (label, least, last, value, change, words) =>
    h("select", { "aria-label": label, onchange: ({ target }) => change(Number(target.value)) }, options(least, last, value, words));

  /** Everybody's buildings by type: the seats', then the virtual players'. */
  const counts = (boards) => [...boards.map(count), ...boards[0].virtual];
  const completed = (boards, type) => counts(boards).flatMap((each, player) => (each[type] >= boxes[type] ? [player] : []));
  const named = (boards, player) =>
    player < boards.length ? firstPlayer(player) : w("rollwrite.virtual", { n: player - boards.length + 1 });
  const rankOf = ({ ranks }, type, player) => ranks[type]?.[player] || 1;

  return {
    seats: [1, 5],
    isScored: ({ virtual }) => virtual.length > 0,
    /** With one or two seats there are virtual players. */
    seated: (boards) => {
      const { length } = boards;
      const needed = { 1: LEAST_AGAINST, 2: 1 }[length] ?? 0;
      const virtual = Array.from({ length: needed }, (_, n) => boards[0].virtual[n] ?? types.map(() => 0));
      return [{ ...boards[0], virtual, against: false, ranks: {} }, ...boards.slice(1)];
    },
    alone: (state) => ({ ...state, virtual: [], against: false, ranks: {} }),

    pieces: () => [],
    empty: (before) => ({
      built: [],
      dice: { blue: [1, 1], yellow: [1, 1] },
      coins: 3,
      virtual: before?.virtual.map(() => types.map(() => 0)) ?? [],
      against: before?.against ?? false,
      ranks: {},
    }),
    another: (state) => ({ ...state, built: [], coins: 3, virtual: [], against: false, ranks: {} }),

    /** As the link has it: dice, coins, what is said of the game, buildings: `b1,2;y3,4;c3;v1,0,0,2,1,0;1,1;2,5`. */
    write: ({ built, dice, coins, virtual, against, ranks }) =>
      [
        `b${dice.blue}`,
        `y${dice.yellow}`,
        `c${coins}`,
        ...virtual.map((each) => `v${each}`),
        ...(against ? ["against"] : []),
        ...Object.entries(ranks).map(([type, each]) => `r${types[type]},${each}`),
        ...built,
      ].join(";"),

    read: (text) => {
      const [blue, yellow, coins, ...parts] = text.split(";");
      const pair = (letter, part = "") => (part[0] === letter ? part.slice(1).split(",").map(Number) : []);
      const dice = { blue: pair("b", blue), yellow: pair("y", yellow) };
      const state = { built: [], dice, coins: Number(coins?.slice(1)), virtual: [], against: false, ranks: {} };
      if (!DICE.every((die) => dice[die].length === 2 && dice[die].every(isFace))) return null;
      if (coins?.[0] !== "c" || !between(0, most)(state.coins)) return null;
      for (const part of parts) {
        const numbers = part.slice(1).split(",").map(Number);
        const [, name, ranks] = /^r([a-z]+)((?:,[0-9])+)$/.exec(part) ?? [];
        const type = types.indexOf(name);
        if (/^[1-6],[1-6]$/.test(part) && !state.built.includes(part)) state.built.push(part);
        else if (part[0] === "v" && numbers.length === types.length && numbers.every((n, at) => between(0, boxes[at])(n)))
          state.virtual.push(numbers);
        else if (part === "against" && !state.against) state.against = true;
        else if (type >= 0 && !(type in state.ranks)) state.ranks[type] = ranks.slice(1).split(",").map(Number);
        else return null;
      }
      return state;
    },
    /** Whether these sheets are of one game. */
    isGame: ([{ virtual, against, ranks }, ...others]) => {
      const seats = others.length + 1;
      const expected = { 1: virtual.length === 0 || between(LEAST_AGAINST, MOST_AGAINST)(virtual.length), 2: virtual.length === 1 };
      return (
        (expected[seats] ?? virtual.length === 0) &&
        (!against || (seats === 1 && virtual.length > 0)) &&
        Object.values(ranks).every((each) => each.length === seats + virtual.length) &&
        others.every((each) => !each.virtual.length && !each.against && !Object.keys(each.ranks).length)
      );
    },

    question: ({ built, dice, coins }) => ({
      game: "rollwrite",
      built: built.map((cell) => cell.split(",").map(Number)),
      dice,
      coins,
    }),

    isEmpty: ({ built }) => built.length === 0,
    hand: () => null,

    choose: (state, column, row) => {
      const cell = `${row + 1},${column + 1}`;
      const built = state.built.includes(cell) ? state.built.filter((each) => each !== cell) : [...state.built, cell].sort();
      return { ...state, built };
    },

    model: (state, answer, isScored) => {
      const builds = isScored ? [] : (answer?.actions ?? []).filter(({ action }) => action === "build");
      const legal = new Set(builds.map(({ blue, yellow }) => `${blue},${yellow}`));
      const cell = (x, y) => {
        const key = `${y + 1},${x + 1}`;
        const type = typeAt(y + 1, x + 1);
        const isBuilt = state.built.includes(key);
        const label = [
          w("rollwrite.cell", { blue: y + 1, yellow: x + 1 }),
          w(isBuilt ? "rollwrite.built" : "rollwrite.free", { type: w(`type.${type}`) }),
          ...(legal.has(key) ? [w("cell.legal")] : []),
        ].join(", ");
        const marks = ["sheet", ...(isBuilt ? ["built"] : []), ...(legal.has(key) ? ["legal"] : [])];
        return { label, marks, picture: drawing([[`rnw-piece-${type}`, 0, 0]]) };
      };
      return { game: "rollwrite", left: 0, top: 0, columns: 6, rows: 6, cell, axes };
    },

    /** What is set above the sheet: it is what changes from turn to turn. */
    above: (state, change, isScored) => [
      ...(isScored ? [] : DICE).map((die) =>
        h(
          "fieldset",
          { class: `dice ${die}` },
          h("legend", {}, w(`rollwrite.${die}`)),
          [0, 1].map((n) =>
            select(`${w(`rollwrite.${die}`)} ${n + 1}`, 1, 6, state.dice[die][n], (value) =>
              change({ ...state, dice: { ...state.dice, [die]: state.dice[die].with(n, value) } }),
            ),
          ),
        ),
      ),
      h("label", { class: "coins" }, w("rollwrite.coins"), select(w("rollwrite.coins"), 0, most, state.coins, (coins) => change({ ...state, coins }))),
    ],

    settings: () => [],

    /** What is said of the whole game: virtual players, and who completed a type first. */
    gameSettings: (boards, change) => {
      const [first] = boards;
      const { virtual, against, ranks } = first;
      const everyone = boards.length + virtual.length;
      const again = (more) => change({ ...first, ...more, ranks: {} });
      return [
        ...(boards.length === 1
          ? [
              h(
                "label",
                {},
                w("rollwrite.virtual.count"),
                select(w("rollwrite.virtual.count"), LEAST_AGAINST, MOST_AGAINST, virtual.length, (n) =>
                  again({ virtual: Array.from({ length: n }, (_, at) => virtual[at] ?? types.map(() => 0)) }),
                ),
              ),
              h(
                "label",
                {},
                h("input", { type: "checkbox", checked: against, onchange: ({ target }) => change({ ...first, against: target.checked }) }),
                w("rollwrite.against"),
              ),
            ]
          : []),
        ...virtual.map((each, player) =>
          h(
            "fieldset",
            { class: "counts" },
            h("legend", {}, w("rollwrite.virtual", { n: player + 1 })),
            types.map((type, at) =>
              h(
                "label",
                {},
                w(`type.${type}`),
                select(`${w("rollwrite.virtual", { n: player + 1 })}: ${w(`type.${type}`)}`, 0, boxes[at], each[at], (n) =>
                  again({ virtual: virtual.with(player, each.with(at, n)) }),
                ),
              ),
            ),
          ),
        ),
        ...types.flatMap((type, at) => {
          const who = completed(boards, at);
          if (who.length < 2) return [];
          const set = (player, rank) => {
            const all = Array.from({ length: everyone }, (_, each) => (who.includes(each) ? rankOf(first, at, each) : 0));
            change({ ...first, ranks: { ...ranks, [at]: all.with(player, rank) } });
          };
          return [
            h(
              "fieldset",
              { class: "counts" },
              h("legend", {}, w("rollwrite.completed", { type: w(`type.${type}`) })),
              who.map((player) =>
                h(
                  "label",
                  {},
                  named(boards, player),
                  select(`${w(`type.${type}`)}: ${named(boards, player)}`, 1, who.length, rankOf(first, at, player), (rank) => set(player, rank), (n) =>
                    w("rollwrite.rank", { n }),
                  ),
                ),
              ),
            ),
          ];
        }),
      ];
    },

    headers: ([{ virtual, against }, ...others]) => ({
      version: 1,
      ...(others.length || virtual.length === LEAST_AGAINST ? {} : { virtual_players: virtual.length }),
      ...(against ? { solo: "against" } : {}),
    }),

    board: ({ built, coins }) => `coins ${coins} built${built.map((cell) => ` ${cell}`).join("")}`,
    /** Virtual players, and the awards in their order. */
    others: (boards) => {
      const parts = boards[0].virtual.map((each) => `virtual ${each.join(" ")}`);
      for (const [at, type] of types.entries()) {
        const who = completed(boards, at);
        for (let rank = 1; rank <= who.length; rank++) {
          const own = who.filter((player) => rankOf(boards[0], at, player) === rank);
          const seats = own.filter((player) => player < boards.length);
          const virtual = own.filter((player) => player >= boards.length).map((player) => player - boards.length);
          if (own.length)
            parts.push([`award ${type}`, ...(seats.length ? ["seats", ...seats] : []), ...(virtual.length ? ["virtual", ...virtual] : [])].join(" "));
        }
      }
      return parts;
    },

    brief: ({ actions }) => w("rollwrite.brief", { n: actions.filter(({ action }) => action === "build").length }),

    facts: (answer, state) => {
      const told = count(state).flatMap((n, type) => (n ? [`${w(`type.${types[type]}`)} ${n}`] : []));
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
