// The common parts of choosing in all games: legal moves by kind, pictures of options, and what is marked on a board.

import { h } from "../dom.mjs";
import { w } from "../words.mjs";

/** What the moves of one kind say; `moves`: decoded. */
export const ofKind = (moves, kind) => moves.filter(({ move }) => move === kind).map((each) => each[kind]);

/** A move as its message has it. */
export const moveOf = (kind, fields = {}) => ({ move: kind, [kind]: fields });

/** A picture of an option with what it does not show. */
export const captioned = (picture, words) => h("span", { class: "captioned" }, picture, h("span", {}, words));

export const keyOf = ({ x, y }) => `${x},${y}`;

/** The board with marks for grid.mjs. `legal`: "x,y" of the cells where the move may go on; `chosen`: by "x,y" what is shown on a
 * chosen cell, {piece, label}, or null where the board stays as it is.
 */
export const marked = (model, legal, chosen = new Map()) => ({
  ...model,
  cell: (x, y) => {
    const key = `${x},${y}`;
    const { label, marks = [], ...shown } = { ...model.cell(x, y), ...chosen.get(key) };
    const isChosen = chosen.has(key);
    const isLegal = legal.has(key) && !isChosen;
    return {
      ...shown,
      label: [label, ...(isLegal ? [w("cell.legal")] : []), ...(isChosen ? [w("cell.chosen")] : [])].join(", "),
      marks: [...marks, ...(isLegal ? ["legal"] : []), ...(isChosen ? ["chosen"] : [])],
    };
  },
});
