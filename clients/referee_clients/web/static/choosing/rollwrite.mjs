// Choosing a move of Roll & Write: what the dice show, a building, coins, the pair that is kept.

import { h } from "../dom.mjs";
import { axes, die, rollwrite as watched } from "../games/rollwrite.mjs";
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
    label: w("rollwrite.choosing.act"),
    options: [
      ...plain(state, "get_coins", "rollwrite.choosing.get_coins"),
      ...plain(state, "build_second", "rollwrite.choosing.build_second"),
      ...plain(state, "end_building", "rollwrite.choosing.end_building"),
    ],
  });

  const pairs = (state) => ({
    label: w("rollwrite.choosing.keep"),
    options: ofKind(state.moves, "keep_pair").map((pair) =>
      option(state, moveOf("keep_pair", pair), w("rollwrite.cell", pair), h("span", { class: "pair" }, COLOURS.map((colour) => die(colour, pair[colour])))),
    ),
  });

  /** For each die the values that it can be turned to. */
  const turned = (state) => {
    const changes = ofKind(state.moves, "change_dice");
    if (!changes.length) return [];
    const own = begin(state).dice;
    return COLOURS.flatMap((colour) =>
      own[colour].map((value, at) => ({
        label: w("rollwrite.choosing.die", { colour: w(`rollwrite.${colour}`), value }),
        options: Array.from({ length: FACES }, (_, n) => {
          const dice = { ...state.dice, [colour]: state.dice[colour].with(at, n + 1) };
          const change = { blue: sorted(dice.blue), yellow: sorted(dice.yellow) };
          const isChange = !isSame(change, own);
          return {
            label: String(n + 1),
            picture: die(colour, n + 1),
            chosen: state.dice[colour][at] === n + 1,
            legal: !isChange || changes.some((each) => isSame([each.blue, each.yellow], [change.blue, change.yellow])),
            next: { ...state, dice, chosen: isChange ? moveOf("change_dice", change) : null },
          };
        }),
      })),
    );
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

    groups: (state) => [act(state), pairs(state), ...turned(state)].filter(({ options }) => options.length),

    board: (state) => {
      const { position, seat, chosen } = state;
      if (position.phase === "KEEP") return null;
      const legal = buildings(state);
      const at = chosen?.build ? keyOf(chosen.build) : chosen?.build_second ? keyOf(second(state)) : null;
      return { ...marked(modelOf(game.board(position, seat), 0), legal, new Map(at ? [[at, null]] : [])), axes };
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
