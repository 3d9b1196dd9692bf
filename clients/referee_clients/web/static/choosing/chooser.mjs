// The way in which a seat chooses its moves: a module for each game, fetched when it is needed.

import { decodeBody } from "../verify/wire.mjs";

/** The chooser of a game that is open (game.mjs). It goes from state to state and keeps nothing:
 *
 * - `begin({position, seat, moves})`: the state in which nothing is chosen; `position` and legal `moves` decoded
 * - `groups(state)`: what can be chosen beside the board, `[{label, options}]`; an option is `{label, picture, chosen, legal,
 *   next}`, with `next` the state that it leads to, and `goesOn` if more of its group may be chosen then
 * - `board(state)`: the seat's board for grid.mjs, or null where it takes no part
 * - `choose(state, x, y, say)`: the state after a tap on a cell; null if nothing happens, and `say(words)` is told why
 * - `move(state)`: the move, if it is chosen in full, or null; it may be illegal
 * - `hint(state)`: what to do next, in words
 * - `keys`: to which state keys lead, by key
 */
export const chooserOf = async ({ opened, rules, components }) => {
  const { rules_id: name, tables, options } = opened;
  const module = await import(`./${name}.mjs`);
  return module[name](decodeBody(rules.tables, tables), components, decodeBody(rules.options, options));
};
