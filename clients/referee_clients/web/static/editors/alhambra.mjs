// An Alhambra that is put together: tiles by cell, a tile in the hand.

import { drawing, edges, h } from "../dom.mjs";
import { w } from "../words.mjs";

const REACH = 55;
const SIDES = ["N", "E", "S", "W"];

const against = (violations) => (violations.length ? ["against", ...new Set(violations.map(({ rule }) => rule).sort())] : []);

const words = (tile) => {
  const sides = [...tile.walls].map((side) => w(`side.${side}`)).join(" ");
  const walls = { 0: "none", 1: "one" }[tile.walls.length] ?? "many";
  return w("alhambra.tile", { type: w(`type.${tile.type}`), cost: tile.cost, walls: w(`alhambra.walls.${walls}`, { sides }) });
};

/** The editor's knowledge of the game. `state`: {tiles: {"x,y": name}, hand, reserve, bought, oneLess, before, neutral}:
 * `reserve` and `bought` are tiles beside the board; `before` is the points before the last scoring, null where nobody
 * said; `neutral`: they are the neutral player's tiles.
 */
export const alhambra = ({ tiles, types }) => {
  const byName = new Map(tiles.map((tile) => [tile.name, tile]));

  const cells = (state) => Object.keys(state.tiles).map((key) => key.split(",").map(Number));
  const nothing = { tiles: {}, hand: null, reserve: [], bought: [], oneLess: false, before: null, neutral: false };
  const laidAndHeld = (state) => [...Object.values(state.tiles), ...state.reserve, ...state.bought];

  return {
    seats: [2, 6],
    /** With two players the neutral player has tiles, too. */
    neutral: 2,

    empty: (before) => ({ ...nothing, oneLess: before?.oneLess ?? false, neutral: before?.neutral ?? false }),
    pieces: (state) => [...laidAndHeld(state), ...(state.hand ? [state.hand] : [])],

    /** As the link has it: `0,-1:tower-8-NES;…`, the tile in the hand behind a plus sign, those beside the board with
     * their place.
     */
    write: (state) =>
      [
        ...Object.entries(state.tiles).map(([cell, tile]) => `${cell}:${tile}`),
        ...state.reserve.map((tile) => `reserve:${tile}`),
        ...state.bought.map((tile) => `bought:${tile}`),
        ...(state.hand ? [`+${state.hand}`] : []),
        ...(state.before === null ? [] : [`before${state.before}`]),
        ...(state.oneLess ? ["one_less"] : []),
        ...(state.neutral ? ["neutral"] : []),
      ].join(";"),

    read: (text) => {
      const state = { ...nothing, tiles: {}, reserve: [], bought: [] };
      const seen = new Set();
      const isFree = (name) => byName.has(name) && !seen.has(name) && seen.add(name);
      for (const part of text.split(";").filter(Boolean)) {
        const [, where, name] = /^(-?\d{1,2},-?\d{1,2}|reserve|bought|\+):?(.+)$/.exec(part) ?? [];
        if (part === "one_less") state.oneLess = true;
        else if (part === "neutral") state.neutral = true;
        else if (/^before\d{1,3}$/.test(part) && state.before === null) state.before = Number(part.slice(6));
        else if (!where || !isFree(name)) return null;
        else if (where === "+" && !state.hand) state.hand = name;
        else if (where === "reserve" || where === "bought") state[where].push(name);
        else if (where !== "+" && where !== "0,0" && !(where in state.tiles)) state.tiles[where] = name;
        else return null;
      }
      return cells(state).some(([x, y]) => Math.max(Math.abs(x), Math.abs(y)) > REACH) ? null : state;
    },

    question: (state) => ({
      game: "alhambra",
      layout: state.tiles,
      cells: true,
      ...(state.hand ? { tile: state.hand } : {}),
      ...(state.oneLess ? { options: { loop_rule: "one_less" } } : {}),
    }),

    isEmpty: (state) => laidAndHeld(state).length === 0,

    hand: (state) => state.hand && words(byName.get(state.hand)),
    handPicture: (state) => drawing([[`alh-piece-${state.hand}`, 0, 0]]),
    putAway: (state) => ({ ...state, hand: null }),

    /** Lay the tile of the hand; what lay there comes into the hand. */
    choose: (state, x, y) => {
      const cell = `${x},${y}`;
      if (cell === "0,0" || (!state.hand && !state.tiles[cell])) return null;
      const { [cell]: taken = null, ...others } = state.tiles;
      return { ...state, tiles: state.hand ? { ...others, [cell]: state.hand } : others, hand: taken };
    },

    model: (state, answer) => {
      const all = [[0, 0], ...cells(state)];
      const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
      const [left, top] = [Math.max(-REACH, Math.min(...xs, -1) - 1), Math.max(-REACH, Math.min(...ys, -1) - 1)];
      const columns = Math.min(REACH, Math.max(...xs, 1) + 1) - left + 1;
      const rows = Math.min(REACH, Math.max(...ys, 1) + 1) - top + 1;
      const legal = new Set([...(answer?.placements ?? []), ...(answer?.swappable ?? [])].map(String));
      const broken = new Map();
      for (const { rule, cells: where } of answer?.violations ?? [])
        for (const cell of where) broken.set(String(cell), [...(broken.get(String(cell)) ?? []), rule]);
      const walled = new Map();
      for (const [x, y, side] of answer?.wall_sides ?? []) walled.set(`${x},${y}`, [...(walled.get(`${x},${y}`) ?? []), side]);
      const cell = (x, y) => {
        const key = `${x},${y}`;
        const tile = byName.get(state.tiles[key]);
        const isFountain = key === "0,0";
        const marks = [...(legal.has(key) ? ["legal"] : []), ...(broken.has(key) ? ["broken"] : [])];
        const wall = SIDES.filter((side) => walled.get(key)?.includes(side));
        const label = [
          w("cell", { x, y }),
          isFountain ? w("alhambra.fountain") : tile ? words(tile) : w("cell.empty"),
          ...(wall.length ? [w("alhambra.in_wall", { sides: wall.map((each) => w(`side.${each}`)).join(" ") })] : []),
          ...(legal.has(key) ? [w("cell.legal")] : []),
          ...(broken.has(key) ? [w("cell.broken", { rules: broken.get(key).join(", ") })] : []),
        ].join(", ");
        const id = isFountain ? "fountain" : tile?.name;
        const picture = id ? drawing([[`alh-piece-${id}`, 0, 0]], 1, 1, wall.length ? [edges(wall, 5, "longest")] : []) : null;
        return { label, marks, picture };
      };
      return { game: "alhambra", left, top, columns, rows, cell, axes: [(x) => x, (y) => y] };
    },

    palette: {
      label: w("alhambra.palette"),
      like: `${w("type.tower")} 8`,
      atOnce: 1,
      chosen: [types[0]],
      kinds: types.map((type) => ({ key: type, label: w(`type.${type}`), picture: () => drawing([[`alh-${type}`, 0, 0]]) })),
      pieces: tiles.map((tile) => ({
        id: tile.name,
        words: words(tile),
        kinds: [tile.type],
        picture: () => drawing([[`alh-piece-${tile.name}`, 0, 0]]),
      })),
    },
    take: (state, hand) => ({ ...state, hand: state.hand === hand ? null : hand }),

    settings: (state, change) => [
      h(
        "label",
        {},
        h("input", { type: "checkbox", checked: state.oneLess, onchange: (event) => change({ ...state, oneLess: event.target.checked }) }),
        w("alhambra.one_less"),
      ),
    ],

    /** What is asked of a seat for a final scoring only. */
    seatSettings: (state, change) => [
      h(
        "label",
        {},
        w("alhambra.before"),
        h("input", {
          type: "number",
          min: 0,
          max: 999,
          value: state.before,
          onchange: ({ target }) => change({ ...state, before: target.value === "" || !target.validity.valid ? null : Number(target.value) }),
        }),
      ),
    ],

    headers: ([{ oneLess }]) => ({ version: 2, ...(oneLess ? { loop_rule: "one_less" } : {}) }),

    /** The board in the notation, with what it breaks, as an arbiter may let it stand. */
    board: ({ tiles: laid, before }, { violations }) =>
      [
        ...(before === null ? [] : ["before", before]),
        "laid",
        ...Object.entries(laid).map(([cell, tile]) => `${tile} ${cell}`),
        ...against(violations),
      ].join(" "),
    others: (boards) => boards.filter(({ neutral }) => neutral).map(({ tiles: laid }) => ["neutral", ...Object.values(laid)].join(" ")),

    brief: (answer) => ("wall" in answer ? w("alhambra.brief", { n: answer.wall }) : ""),

    /** As `referee best-turn` takes it: a tile in the hand was bought, too. */
    turnOf: (state) => ({
      game: "alhambra",
      layout: state.tiles,
      reserve: state.reserve,
      bought: [...state.bought, ...(state.hand ? [state.hand] : [])],
    }),

    /** The position after the moves of a turn. */
    after: (state, moves) => {
      const next = { ...state, tiles: { ...state.tiles }, hand: null, bought: [], reserve: [...state.reserve] };
      const put = (tile, at) => {
        if (next.tiles[at]) next.reserve.push(next.tiles[at]);
        next.reserve = next.reserve.filter((each) => each !== tile);
        next.tiles[at] = tile;
      };
      for (const { at, remove, reserve, add, swap, place } of moves) {
        if (remove) {
          next.reserve.push(next.tiles[remove]);
          delete next.tiles[remove];
        } else if (reserve) next.reserve.push(reserve);
        else if (at) put(add ?? swap ?? place, at);
      }
      return next;
    },

    /** Tiles beside the board: a tap takes one up, or lays down the one in the hand. */
    beside: (state, change) =>
      ["bought", "reserve"].map((where) =>
        h(
          "div",
          { role: "group", "aria-label": w(`alhambra.beside.${where}`), class: "beside" },
          h("span", {}, w(`alhambra.beside.${where}`)),
          state[where].map((tile) =>
            h(
              "button",
              {
                type: "button",
                class: "piece",
                "aria-label": words(byName.get(tile)),
                onclick: () => change({ ...state, [where]: state[where].filter((each) => each !== tile), hand: tile }),
                disabled: state.hand !== null,
              },
              drawing([[`alh-piece-${tile}`, 0, 0]]),
            ),
          ),
          state.hand &&
            h(
              "button",
              { type: "button", onclick: () => change({ ...state, [where]: [...state[where], state.hand], hand: null }) },
              w("alhambra.beside.lay"),
            ),
        ),
      ),

    /** What a tap on the cell claims: as `referee prove` takes it. */
    claimAt: (state, x, y) => {
      const taken = state.tiles[`${x},${y}`];
      const action = state.hand ? { [taken ? "swap" : "place"]: state.hand, at: [x, y] } : taken ? { remove: [x, y] } : null;
      return action && { game: "alhambra", layout: state.tiles, action };
    },
    claimNowhere: (state) => ({ game: "alhambra", layout: state.tiles, no_placement: state.hand }),

    facts: (answer) => [
      ...("wall" in answer ? [[w("alhambra.wall"), answer.wall]] : []),
      ...(Object.keys(answer.counts).length
        ? [[w("alhambra.tiles"), Object.entries(answer.counts).map(([name, n]) => `${w(`type.${name}`)} ${n}`).join(", ")]]
        : []),
      ...("removable" in answer ? [[w("alhambra.removable"), answer.removable.map((cell) => cell.join()).join("  ") || "–"]] : []),
    ],

    about: (state, answer) => {
      if (!state.hand || !answer.placements) return [];
      const [n, m] = [answer.placements.length, answer.swappable.length];
      return [h("p", {}, w(n + m ? "alhambra.fits" : "alhambra.fits.none", { piece: words(byName.get(state.hand)), n, m }))];
    },
  };
};
