// A board for everybody: one grid, by finger, mouse, keyboard and screen reader.
//
// One cell is in the tab order; arrows move, Home and End go along a row, Enter and Space choose, N goes to the next
// cell where something may go.

import { drawing, h } from "./dom.mjs";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The grid's element, with `show(model)`.
 *
 * A model: `left`, `top`, `columns`, `rows`, and `cell(x, y)` to `{label, piece, picture, marks}`: marks are words of the
 * style sheet, `legal` and `broken` among them; `piece` is the id of a drawing of one cell, `picture` any element; a cell with
 * neither is empty. `axes`, if there are any: what stands above a column, and beside a row, by its number. `game`, and a
 * cell's `key`: what else the drawing depends on. `keys`: what other keys do, by key.
 */
export const grid = (label, choose, keys = {}) => {
  const element = h("div", { role: "grid", "aria-label": label, class: "grid", onkeydown: pressed, onclick: clicked });
  let at = [0, 0];
  let shown = null;
  /** What the cells look like. */
  const drawn = new WeakMap();

  const find = (x, y) => element.querySelector(`[data-cell="${x},${y}"]`);
  const within = (x, y) => x >= shown.left && y >= shown.top && x < shown.left + shown.columns && y < shown.top + shown.rows;

  const go = (x, y) => {
    if (!within(x, y)) return;
    find(...at)?.setAttribute("tabindex", "-1");
    at = [x, y];
    const cell = find(x, y);
    cell.setAttribute("tabindex", "0");
    cell.focus();
  };

  function clicked(event) {
    const cell = event.target.closest("[data-cell]");
    if (!cell) return;
    const [x, y] = cell.dataset.cell.split(",").map(Number);
    go(x, y);
    choose(x, y);
  }

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    // The cell that has the focus, however it came there: a screen reader goes its own ways.
    const [x, y] = event.target.dataset.cell.split(",").map(Number);
    if (event.key in STEPS) go(x + STEPS[event.key][0], y + STEPS[event.key][1]);
    else if (event.key === "Home") go(shown.left, y);
    else if (event.key === "End") go(shown.left + shown.columns - 1, y);
    else if (event.key === "Enter" || event.key === " ") {
      go(x, y);
      choose(x, y);
    }
    else if (event.key === "n" || event.key === "N") next(`${x},${y}`);
    else if (Object.hasOwn(keys, event.key)) keys[event.key]();
    else return;
    event.preventDefault();
  }

  const next = (from) => {
    const legal = [...element.querySelectorAll(".legal")];
    const here = legal.findIndex((cell) => cell.dataset.cell === from);
    if (legal.length) go(...legal[(here + 1) % legal.length].dataset.cell.split(",").map(Number));
  };

  /** Bring a cell up to date; one that looks as before is left alone. */
  const draw = (cell, x, y) => {
    const { label: said, piece = "", picture, marks = [], key = "" } = shown.cell(x, y);
    const className = ["cell", ...(piece || picture ? [] : ["empty"]), ...marks].join(" ");
    const looks = [said, className, piece, key].join("|");
    if (drawn.get(cell) === looks) return;
    drawn.set(cell, looks);
    cell.setAttribute("aria-label", said);
    cell.className = className;
    cell.replaceChildren(...(piece ? [drawing([[piece, 0, 0]])] : picture ? [picture] : []));
  };

  const show = (model) => {
    const before = shown;
    shown = model;
    if (!within(...at)) at = [Math.max(model.left, Math.min(0, model.left + model.columns - 1)), Math.max(model.top, Math.min(0, model.top + model.rows - 1))];
    const columns = Array.from({ length: model.columns }, (_, n) => model.left + n);
    const rows = Array.from({ length: model.rows }, (_, n) => model.top + n);
    const isSame = before && ["left", "top", "columns", "rows", "game"].every((name) => before[name] === model[name]);
    if (!isSame) {
      const focused = element.contains(document.activeElement);
      const [above, beside] = model.axes ?? [];
      // Every cell's label has their text, too.
      const axis = (text) => h("div", { class: "axis", "aria-hidden": "true" }, text);
      const cell = (x, y) => h("div", { role: "gridcell", "data-cell": `${x},${y}`, tabindex: x === at[0] && y === at[1] ? "0" : "-1" });
      element.style.setProperty("--columns", model.columns);
      element.classList.toggle("with-axes", Boolean(above));
      element.replaceChildren(
        ...(above ? [h("div", { "aria-hidden": "true", class: "row" }, axis(""), columns.map((x) => axis(above(x))))] : []),
        ...rows.map((y) => h("div", { role: "row", class: "row" }, beside && axis(beside(y)), columns.map((x) => cell(x, y)))),
      );
      if (focused) find(...at)?.focus();
    }
    for (const cell of element.querySelectorAll("[data-cell]")) draw(cell, ...cell.dataset.cell.split(",").map(Number));
  };

  return { element, show, focus: () => find(...at)?.focus() };
};

/** The model of a game's board, as games/NAME.mjs have it, with so many empty cells around it; a `tight` one has no place for them. */
export const modelOf = ({ cells, cell, tight, axes }, around) => {
  const all = cells.map((each) => each.split(",").map(Number));
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const room = tight ? 0 : around;
  const [left, top] = [Math.min(...xs) - room, Math.min(...ys) - room];
  return { left, top, columns: Math.max(...xs) + room - left + 1, rows: Math.max(...ys) + room - top + 1, cell, axes };
};

/** The same board as one picture, to be looked at only. */
export const picture = (label, { left, top, columns, rows, cell }) => {
  const pieces = [];
  for (let y = top; y < top + rows; y++) {
    for (let x = left; x < left + columns; x++) {
      const { piece, marks = [] } = cell(x, y);
      if (piece) pieces.push([piece, x - left, y - top, marks.join(" ")]);
    }
  }
  const svg = drawing(pieces, columns, rows);
  svg.removeAttribute("aria-hidden");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return svg;
};
