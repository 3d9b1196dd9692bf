// Choosing a move of Roll & Write: what the dice show, a building, coins, the pair that is kept.

import { h } from "../dom.mjs";
import { die, rollwrite as watched } from "../games/rollwrite.mjs";
import { modelOf } from "../grid.mjs";
import { w } from "../words.mjs";
import { marked, moveOf, ofKind } from "./cells.mjs";

const COLOURS = ["blue", "yellow"];
const FACES = 6;

const sorted = (values) => values.toSorted((one, other) => one - other);
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
/** A building's place on the sheet, "x,y". */
const keyOf = ({ blue, yellow }) => `${yellow - 1},${blue - 1}`;

/** A state: the turn, the move that is `chosen`, and what the `dice` are to show, { blue, yellow }. */
export const rollwrite = (tables) => {
  const game = watched(tables);

  const begin = ({ position, seat, moves }) => {
    const { blue, yellow } = position.seats[seat];
    return { position, seat, moves, chosen: null, dice: { blue, yellow } };
  };

  const option = (state, move, label, picture = null) => {
    const isChosen = isSame(state.chosen, move);
    return { label, picture, chosen: isChosen, legal: true, next: { ...begin(state), chosen: isChosen ? null : move } };
  };
  /** One option for a move that says nothing more, if the list has it. */
  const plain = (state, kind, label) => ofKind(state.moves, kind).map((fields) => option(state, moveOf(kind, fields), w(label)));

  const act = (state) => ({
    label: w(state.position.phase === "SECOND" ? "rollwrite.choosing.more" : "rollwrite.choosing.instead"),
    options: [
      ...plain(state, "get_coins", "rollwrite.choosing.get_coins"),
      ...plain(state, "build_second", "rollwrite.choosing.build_second"),
      ...plain(state, "end_building", "rollwrite.choosing.end_building"),
    ],
  });

  const pairs = (state) => ({
    label: w("rollwrite.choosing.keep"),
    options: ofKind(state.moves, "keep_pair").map((pair) =>
      option(state, moveOf("keep_pair", pair), w("rollwrite.cell", pair), h("span", { class: "choice-dice" }, COLOURS.map((colour) => die(colour, pair[colour])))),
    ),
  });

  /** Every die turned by one step, down or up. */
  const steps = (state, colour) => {
    const changes = ofKind(state.moves, "change_dice");
    const own = begin(state).dice;
    const step = (value, at, by, arrow) => {
      const dice = { ...state.dice, [colour]: state.dice[colour].with(at, value + by) };
      const change = { blue: sorted(dice.blue), yellow: sorted(dice.yellow) };
      const isChange = !isSame(change, own);
      return {
        label: w("rollwrite.choosing.step", { colour: w(`rollwrite.${colour}`), from: value, to: value + by }),
        picture: h("span", { class: "choice-dice" }, die(colour, value), arrow),
        chosen: false,
        legal: !isChange || changes.some(({ blue, yellow }) => isSame({ blue, yellow }, change)),
        goesOn: true,
        next: { ...state, dice, chosen: isChange ? moveOf("change_dice", change) : null },
      };
    };
    return {
      label: w(`rollwrite.choosing.${colour}`),
      options: changes.length
        ? state.dice[colour].flatMap((value, at) => [
            ...(value > 1 ? [step(value, at, -1, "▾")] : []),
            ...(value < FACES ? [step(value, at, 1, "▴")] : []),
          ])
        : [],
    };
  };

  /** Where the dice meet that the first building did not use. */
  const second = ({ position, seat }) => {
    const left = (colour) => position.seats[seat][colour].toSpliced(position.seats[seat][colour].indexOf(position.first[colour]), 1)[0];
    return { blue: left("blue"), yellow: left("yellow") };
  };

  /** By cell the moves that build there. */
  const buildings = (state) => {
    const { moves } = state;
    return new Map([
      ...ofKind(moves, "build").map((pair) => [keyOf(pair), moveOf("build", pair)]),
      ...ofKind(moves, "build_second").map((fields) => [keyOf(second(state)), moveOf("build_second", fields)]),
    ]);
  };

  return {
    begin,

    groups: (state) => [act(state), pairs(state), ...COLOURS.map((colour) => steps(state, colour))].filter(({ options }) => options.length),

    board: (state) => {
      const { position, seat, chosen } = state;
      if (position.phase === "KEEP") return null;
      const legal = buildings(state);
      const at = chosen?.build ? keyOf(chosen.build) : chosen?.build_second ? keyOf(second(state)) : null;
      return marked(modelOf(game.board(position, seat), 0), legal, new Map(at ? [[at, null]] : []));
    },

    choose: (state, x, y, say) => {
      const pair = { blue: y + 1, yellow: x + 1 };
      const move = buildings(state).get(keyOf(pair)) ?? (state.position.phase === "ACTION" ? moveOf("build", pair) : null);
      if (!move) say(w("rollwrite.choosing.second"));
      return move && { ...begin(state), chosen: isSame(state.chosen, move) ? null : move };
    },

    move: ({ chosen }) => chosen,

    hint: ({ position, dice, seat }) => {
      const { blue, yellow } = position.seats[seat];
      if (position.phase === "KEEP") return w("rollwrite.choosing.keep.how");
      if (position.phase === "SECOND") return w("rollwrite.choosing.second");
      return w(isSame(dice, { blue, yellow }) ? "rollwrite.choosing.action" : "rollwrite.choosing.turned");
    },

    keys: { Escape: begin },
  };
};
