// A kingdom that is put together: dominoes and the cells of their halves, a domino in the hand.

import { drawing, edges, h, s } from "../dom.mjs";
import { span } from "../kingdom.mjs";
import { w } from "../words.mjs";

const SIZES = [5, 7];
const VARIANTS = ["harmony", "centre"];
const AROUND = [["E", 1, 0], ["S", 0, 1], ["W", -1, 0], ["N", 0, -1]];

const half = ({ terrain, crowns }) => {
  const key = crowns ? "kingdomino.half.crowns" : "kingdomino.half";
  return w(key, { terrain: w(`terrain.${terrain}`), n: crowns });
};
const words = ({ number, halves: [left, right] }) => w("kingdomino.domino", { number, left: half(left), right: half(right) });
const piece = ({ terrain, crowns }) => `kdo-piece-${terrain}-${crowns}`;
const picture = (halves) => drawing(halves.map((each, at) => [piece(each), at, 0]), 2);
const worth = ({ squares, crowns }) => `${squares}×${crowns}`;
const beside = ([ax, ay], [bx, by]) => Math.abs(ax - bx) + Math.abs(ay - by) === 1;

/** The editor's knowledge of the game. `state`: {size, laid: [[number, ax, ay, bx, by]], hand, turned, first, variants};
 * `first` is where one half of the domino in the hand will lie: the left one, or the right one if it is `turned`.
 */
export const kingdomino = ({ dominoes, terrains }) => {
  const byNumber = new Map(dominoes.map((domino) => [domino.number, domino]));
  const held = ({ hand, turned }) => (turned ? byNumber.get(hand).halves.toReversed() : byNumber.get(hand).halves);

  const squares = (state) => {
    const found = new Map([["0,0", { castle: true }]]);
    for (const [number, ax, ay, bx, by] of state.laid) {
      const [left, right] = byNumber.get(number).halves;
      found.set(`${ax},${ay}`, { number, half: left, isLeft: true });
      found.set(`${bx},${by}`, { number, half: right });
    }
    return found;
  };
  const isTwin = (number) => {
    const [left, right] = byNumber.get(number).halves;
    return left.terrain === right.terrain && left.crowns === right.crowns;
  };
  const emptyHand = { hand: null, turned: false, first: null };

  /** The kingdom in an order in which it can be placed. */
  const kingdomOf = ({ size, laid }, answer) => ({
    game: "kingdomino",
    frame: { size, castle: null },
    kingdom: answer?.order ? answer.order.map((at) => laid[at]) : laid,
  });

  return {
    seats: [2, 4],

    empty: (before) => ({ size: before?.size ?? 5, laid: [], ...emptyHand, variants: before?.variants ?? [] }),
    pieces: (state) => [...state.laid.map(([number]) => number), ...(state.hand ? [state.hand] : [])],

    /** As the link has it: `5;48:1,0,1,1;+44`, with a t behind a domino that is turned. */
    write: (state) =>
      [
        state.size,
        ...state.variants,
        ...state.laid.map(([number, ...cells]) => `${number}:${cells.join()}`),
        ...(state.hand ? [`+${state.hand}${state.turned ? "t" : ""}`] : []),
      ].join(";"),

    read: (text) => {
      const [size, ...parts] = text.split(";");
      const state = { size: Number(size), laid: [], ...emptyHand, variants: [] };
      const seen = new Set();
      const isFree = (number) => byNumber.has(number) && !seen.has(number) && seen.add(number);
      for (const part of parts) {
        if (VARIANTS.includes(part) && !state.variants.includes(part)) {
          state.variants.push(part);
          continue;
        }
        const [, inHand, turned] = /^\+(\d{1,2})(t?)$/.exec(part) ?? [];
        const [, number, cells] = /^(\d{1,2}):((?:-?\d{1,2},){3}-?\d{1,2})$/.exec(part) ?? [];
        if (!isFree(Number(inHand ?? number)) || (inHand && state.hand)) return null;
        if (inHand) [state.hand, state.turned] = [Number(inHand), turned === "t"];
        else state.laid.push([Number(number), ...cells.split(",").map(Number)]);
      }
      const reach = state.laid.flatMap(([, ...cells]) => cells).every((at) => Math.abs(at) < state.size + 2);
      return SIZES.includes(state.size) && reach ? state : null;
    },

    question: (state) => ({
      game: "kingdomino",
      frame: { size: state.size, castle: null },
      kingdom: state.laid,
      cells: true,
      any_order: true,
      ...(state.hand ? { domino: state.hand } : {}),
    }),

    isEmpty: (state) => state.laid.length === 0,

    hand: (state) => state.hand && words(byNumber.get(state.hand)),
    handPicture: (state) => picture(held(state)),
    /** Short, as the picture says the rest. */
    handKey: (state) => (state.first ? "kingdomino.hand.second" : "kingdomino.hand"),
    putAway: (state) => ({ ...state, ...emptyHand }),
    turn: (state) => ({ ...state, turned: !state.turned }),

    choose: (state, x, y, say) => {
      const at = squares(state).get(`${x},${y}`);
      if (state.hand && state.first) {
        if (state.first[0] === x && state.first[1] === y) return { ...state, first: null };
        if (!beside(state.first, [x, y])) {
          say(w("kingdomino.adjacent"));
          return null;
        }
        const cells = state.turned ? [x, y, ...state.first] : [...state.first, x, y];
        return { ...state, laid: [...state.laid, [state.hand, ...cells]], ...emptyHand };
      }
      if (state.hand) return { ...state, first: [x, y] };
      if (!at || at.castle) return null;
      return { ...state, laid: state.laid.filter(([number]) => number !== at.number), ...emptyHand, hand: at.number };
    },

    model: (state, answer) => {
      const found = squares(state);
      const all = [...found.keys()].map((key) => key.split(",").map(Number));
      if (state.first) all.push(state.first);
      const [left, columns] = span(all.map(([x]) => x), state.size);
      const [top, rows] = span(all.map(([, y]) => y), state.size);
      const legal = new Set();
      for (const [ax, ay, bx, by] of answer?.placements ?? []) {
        const ways = [[ax, ay, bx, by], ...(isTwin(state.hand) ? [[bx, by, ax, ay]] : [])];
        for (const way of ways) {
          const [px, py, qx, qy] = state.turned ? [...way.slice(2), ...way.slice(0, 2)] : way;
          if (!state.first) legal.add(`${px},${py}`);
          else if (state.first[0] === px && state.first[1] === py) legal.add(`${qx},${qy}`);
        }
      }
      const broken = new Map();
      for (const { rule, placement } of answer?.violations ?? []) {
        const [, ax, ay, bx, by] = state.laid[placement];
        for (const key of [`${ax},${ay}`, `${bx},${by}`]) broken.set(key, new Set([...(broken.get(key) ?? []), rule]));
      }
      const areas = new Map();
      for (const area of answer?.areas ?? []) area.cells.forEach((cell, at) => areas.set(String(cell), { ...area, isFirst: at === 0 }));

      /** The sides of a square where its domino and its area end. */
      const bordersOf = (x, y, square) => {
        const next = AROUND.map(([side, dx, dy]) => [side, found.get(`${x + dx},${y + dy}`)]);
        const domino = next.filter(([, other]) => other?.number !== square.number).map(([side]) => side);
        const area = next.filter(([, other]) => other?.half?.terrain !== square.half.terrain).map(([side]) => side);
        return { domino, area, own: areas.get(`${x},${y}`) };
      };
      const drawn = (square, { domino, area, own }) => {
        const plate = (text, left, top, className) => [
          s("rect", { x: left, y: top, width: text.length * 14 + 12, height: 30, rx: 8, class: `plate ${className}` }),
          s("text", { x: left + text.length * 7 + 6, y: top + 23, "text-anchor": "middle", class: className }, `${text} `),
        ];
        const number = String(square.number);
        return drawing([[piece(square.half), 0, 0]], 1, 1, [
          edges(domino, 1.5, "domino-edge"),
          ...(own ? [edges(area, 6, "area-edge")] : []),
          ...(square.isLeft ? plate(number, 88 - number.length * 14, 66, "numbered") : []),
          ...(own?.isFirst ? plate(worth(own), 6, 66, "worth") : []),
        ]);
      };

      const cell = (x, y) => {
        const key = `${x},${y}`;
        const isFirst = state.first?.join() === key;
        const square = isFirst ? { number: state.hand, half: held(state)[0], isLeft: !state.turned } : found.get(key);
        const marks = [
          ...(legal.has(key) ? ["legal"] : []),
          ...(broken.has(key) ? ["broken"] : []),
          ...(isFirst ? ["chosen"] : []),
        ];
        const what = square?.castle ? w("kingdomino.castle") : square ? `${half(square.half)}, ${square.number}` : w("cell.empty");
        const label = [
          w("cell", { x, y }),
          what,
          ...(areas.get(key)?.isFirst ? [worth(areas.get(key))] : []),
          ...(legal.has(key) ? [w("cell.legal")] : []),
          ...(broken.has(key) ? [w("cell.broken", { rules: [...broken.get(key)].join(", ") })] : []),
        ].join(", ");
        if (!square || square.castle) return { label, marks, picture: square ? drawing([["kdo-piece-castle", 0, 0]]) : null };
        const borders = bordersOf(x, y, square);
        return { label, marks, key: JSON.stringify([borders, square.isLeft]), picture: drawn(square, borders) };
      };
      return { game: "kingdomino", left, top, columns, rows, cell, axes: [(x) => x, (y) => y] };
    },

    palette: {
      label: w("kingdomino.palette"),
      like: `${w("terrain.mine")} ${w("terrain.wheat")}`,
      atOnce: 2,
      chosen: [],
      kinds: terrains.map((terrain) => ({
        key: terrain,
        label: w(`terrain.${terrain}`),
        picture: () => drawing([[`kdo-piece-${terrain}-0`, 0, 0]]),
      })),
      pieces: dominoes.map((domino) => ({
        id: domino.number,
        words: words(domino),
        kinds: domino.halves.map(({ terrain }) => terrain),
        picture: () => picture(domino.halves),
        caption: domino.number,
        isWide: true,
      })),
    },
    take: (state, hand) => ({ ...state, ...emptyHand, hand: state.hand === hand ? null : hand }),

    settings: (state, change) => [
      h(
        "label",
        {},
        w("kingdomino.frame"),
        h(
          "select",
          { onchange: (event) => change({ ...state, size: Number(event.target.value) }) },
          SIZES.map((size) => h("option", { value: size, selected: size === state.size }, w(`kingdomino.frame.${size}`))),
        ),
      ),
    ],

    seatSettings: (state, change) =>
      VARIANTS.map((variant) =>
        h(
          "label",
          {},
          h("input", {
            type: "checkbox",
            checked: state.variants.includes(variant),
            onchange: ({ target }) =>
              change({ ...state, variants: VARIANTS.filter((each) => (each === variant ? target.checked : state.variants.includes(each))) }),
          }),
          w(`kingdomino.variant.${variant}`),
        ),
      ),
    /** Variants are the game's, and said once. */
    seatSettingsOnFirst: true,

    headers: ([{ size, variants }]) => ({
      version: 1,
      frame: "relative",
      ...(size === 7 ? { mighty_duel: "true" } : {}),
      ...(variants.includes("harmony") ? { harmony: "true" } : {}),
      ...(variants.includes("centre") ? { central: "kingdom" } : {}),
    }),

    /** The board in the notation, each domino with what it breaks, as an arbiter may let it stand. */
    board: ({ laid }, { violations, order }) =>
      [
        "castle nowhere",
        ...order.map((at) => {
          const [number, ax, ay, bx, by] = laid[at];
          const rules = [...new Set(violations.filter(({ placement }) => placement === at).map(({ rule }) => rule))].sort();
          return [`placed ${number} ${ax},${ay} ${bx},${by}`, ...(rules.length ? ["against", ...rules] : [])].join(" ");
        }),
      ].join(" "),

    brief: (answer) => ("score" in answer ? w("kingdomino.brief", { n: answer.score }) : ""),

    /** What a tap on the cell claims, after one for the first half: as `referee prove` takes it. */
    claimAt: (state, x, y, answer) => {
      if (!state.hand || !state.first || !beside(state.first, [x, y])) return null;
      const cells = state.turned ? [x, y, ...state.first] : [...state.first, x, y];
      return { ...kingdomOf(state, answer), place: [state.hand, ...cells] };
    },
    claimNowhere: (state, answer) => ({ ...kingdomOf(state, answer), discard: state.hand }),

    facts: (answer) =>
      "score" in answer
        ? [
            [w("kingdomino.score"), answer.score],
            [w("kingdomino.areas"), answer.areas.map((area) => w("kingdomino.area", { ...area, terrain: w(`terrain.${area.terrain}`), points: area.squares * area.crowns })).join("\n") || "–"],
            [w("kingdomino.largest"), answer.largest_area],
            [w("kingdomino.crowns"), answer.crowns],
          ]
        : [],

    about: (state, answer) => {
      if (!state.hand || !answer.placements) return [];
      const n = answer.placements.length;
      return [h("p", {}, w(n ? "kingdomino.fits" : "kingdomino.fits.none", { piece: words(byNumber.get(state.hand)), n }))];
    },
  };
};
