// A kingdom that is put together: dominoes in the order in which they were laid, a domino in the hand.

import { drawing, h } from "../dom.mjs";
import { w } from "../words.mjs";

const SIZES = [5, 7];
const VARIANTS = ["harmony", "centre"];

const half = ({ terrain, crowns }) => {
  const key = { 0: "kingdomino.half", 1: "kingdomino.half.crown" }[crowns] ?? "kingdomino.half.crowns";
  return w(key, { terrain: w(`terrain.${terrain}`), n: crowns });
};
const words = ({ number, halves: [left, right] }) => w("kingdomino.domino", { number, left: half(left), right: half(right) });
const picture = (domino) => drawing(domino.halves.map((each, at) => [piece(each), at, 0]), 2);
const piece = ({ terrain, crowns }) => `kdo-piece-${terrain}-${crowns}`;
const beside = ([ax, ay], [bx, by]) => Math.abs(ax - bx) + Math.abs(ay - by) === 1;

/** The editor's knowledge of the game. `state`: {size, laid: [[number, ax, ay, bx, by]], hand, first, variants}; `first` is
 * where the left half of the domino in the hand will lie.
 */
export const kingdomino = ({ dominoes }) => {
  const byNumber = new Map(dominoes.map((domino) => [domino.number, domino]));

  const squares = (state) => {
    const found = new Map([["0,0", { castle: true }]]);
    for (const [number, ax, ay, bx, by] of state.laid) {
      const [left, right] = byNumber.get(number).halves;
      found.set(`${ax},${ay}`, { number, half: left });
      found.set(`${bx},${by}`, { number, half: right });
    }
    return found;
  };
  const isTwin = (number) => {
    const [left, right] = byNumber.get(number).halves;
    return left.terrain === right.terrain && left.crowns === right.crowns;
  };

  return {
    seats: [2, 4],

    empty: (before) => ({ size: before?.size ?? 5, laid: [], hand: null, first: null, variants: before?.variants ?? [] }),
    pieces: (state) => [...state.laid.map(([number]) => number), ...(state.hand ? [state.hand] : [])],

    /** As the link has it: `5;48:1,0,1,1;+44`. */
    write: (state) =>
      [
        state.size,
        ...state.variants,
        ...state.laid.map(([number, ...cells]) => `${number}:${cells.join()}`),
        ...(state.hand ? [`+${state.hand}`] : []),
      ].join(";"),

    read: (text) => {
      const [size, ...parts] = text.split(";");
      const state = { size: Number(size), laid: [], hand: null, first: null, variants: [] };
      const seen = new Set();
      const isFree = (number) => byNumber.has(number) && !seen.has(number) && seen.add(number);
      for (const part of parts) {
        if (VARIANTS.includes(part) && !state.variants.includes(part)) {
          state.variants.push(part);
          continue;
        }
        const [, inHand] = /^\+(\d{1,2})$/.exec(part) ?? [];
        const [, number, cells] = /^(\d{1,2}):((?:-?\d{1,2},){3}-?\d{1,2})$/.exec(part) ?? [];
        if (!isFree(Number(inHand ?? number)) || (inHand && state.hand)) return null;
        if (inHand) state.hand = Number(inHand);
        else state.laid.push([Number(number), ...cells.split(",").map(Number)]);
      }
      const reach = state.laid.flatMap(([, ...cells]) => cells).every((at) => Math.abs(at) < state.size + 2);
      return SIZES.includes(state.size) && reach ? state : null;
    },

    question: (state) => ({
      game: "kingdomino",
      frame: { size: state.size, castle: null },
      kingdom: state.laid,
      ...(state.hand ? { domino: state.hand } : {}),
    }),

    isEmpty: (state) => state.laid.length === 0,

    hand: (state) => state.hand && words(byNumber.get(state.hand)),
    handPicture: (state) => picture(byNumber.get(state.hand)),
    handKey: (state) => (state.first ? "position.hand.second" : "position.hand"),

    choose: (state, x, y, say) => {
      const at = squares(state).get(`${x},${y}`);
      if (state.hand && state.first) {
        if (state.first[0] === x && state.first[1] === y) return { ...state, first: null };
        if (!beside(state.first, [x, y])) {
          say(w("kingdomino.adjacent"));
          return null;
        }
        return { ...state, laid: [...state.laid, [state.hand, ...state.first, x, y]], hand: null, first: null };
      }
      if (state.hand) return { ...state, first: [x, y] };
      if (!at || at.castle) return null;
      return { ...state, laid: state.laid.filter(([number]) => number !== at.number), hand: at.number };
    },

    model: (state, answer) => {
      const found = squares(state);
      const all = [...found.keys()].map((key) => key.split(",").map(Number));
      const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
      const most = state.size + 1;
      const left = Math.max(-most, Math.min(...xs) - 2);
      const top = Math.max(-most, Math.min(...ys) - 2);
      const columns = Math.min(most, Math.max(...xs) + 2) - left + 1;
      const rows = Math.min(most, Math.max(...ys) + 2) - top + 1;
      const legal = new Set();
      for (const [ax, ay, bx, by] of answer?.placements ?? []) {
        const ways = [[ax, ay, bx, by], ...(isTwin(state.hand) ? [[bx, by, ax, ay]] : [])];
        for (const [px, py, qx, qy] of ways) {
          if (!state.first) legal.add(`${px},${py}`);
          else if (state.first[0] === px && state.first[1] === py) legal.add(`${qx},${qy}`);
        }
      }
      const broken = new Map();
      for (const { rule, placement } of answer?.violations ?? []) {
        const [, ax, ay, bx, by] = state.laid[placement];
        for (const key of [`${ax},${ay}`, `${bx},${by}`]) broken.set(key, new Set([...(broken.get(key) ?? []), rule]));
      }
      const cell = (x, y) => {
        const key = `${x},${y}`;
        const isFirst = state.first?.join() === key;
        const square = isFirst ? { number: state.hand, half: byNumber.get(state.hand).halves[0] } : found.get(key);
        const marks = [
          ...(legal.has(key) ? ["legal"] : []),
          ...(broken.has(key) ? ["broken"] : []),
          ...(isFirst ? ["chosen"] : []),
        ];
        for (const [name, dx, dy] of [["right", 1, 0], ["down", 0, 1], ["left", -1, 0], ["up", 0, -1]])
          if (square?.number && found.get(`${x + dx},${y + dy}`)?.number === square.number) marks.push(`joined-${name}`);
        const what = square?.castle ? w("kingdomino.castle") : square ? `${half(square.half)} (${square.number})` : w("cell.empty");
        const label = [
          w("cell", { x, y }),
          what,
          ...(legal.has(key) ? [w("cell.legal")] : []),
          ...(broken.has(key) ? [w("cell.broken", { rules: [...broken.get(key)].join(", ") })] : []),
        ].join(", ");
        const id = square?.castle ? "kdo-piece-castle" : square && piece(square.half);
        return { label, marks, picture: id ? drawing([[id, 0, 0]]) : null };
      };
      return { left, top, columns, rows, cell };
    },

    palette: (state, take, _again, elsewhere) => {
      const used = new Set([...state.laid.map(([number]) => number), ...elsewhere]);
      const pieces = dominoes
        .filter(({ number }) => !used.has(number))
        .map((domino) =>
          h(
            "button",
            {
              type: "button",
              class: "piece domino",
              "aria-label": words(domino),
              "aria-pressed": String(state.hand === domino.number),
              onclick: () => take({ ...state, hand: state.hand === domino.number ? null : domino.number, first: null }),
            },
            picture(domino),
            h("span", {}, domino.number),
          ),
        );
      return [h("div", { role: "group", "aria-label": w("kingdomino.palette"), class: "pieces-to-choose" }, pieces)];
    },

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

    headers: ([{ size, variants }]) => ({
      version: 1,
      frame: "relative",
      ...(size === 7 ? { mighty_duel: "true" } : {}),
      ...(variants.includes("harmony") ? { harmony: "true" } : {}),
      ...(variants.includes("centre") ? { central: "kingdom" } : {}),
    }),

    /** The board in the notation, each domino with what it breaks, as an arbiter may let it stand. */
    board: ({ laid }, { violations }) =>
      [
        "castle nowhere",
        ...laid.map(([number, ax, ay, bx, by], at) => {
          const rules = [...new Set(violations.filter(({ placement }) => placement === at).map(({ rule }) => rule))].sort();
          return [`placed ${number} ${ax},${ay} ${bx},${by}`, ...(rules.length ? ["against", ...rules] : [])].join(" ");
        }),
      ].join(" "),

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
