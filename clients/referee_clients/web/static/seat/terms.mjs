// The terms that a player accepts by taking a seat: how the game is timed, and what an illegal move costs.

import { clockWords } from "../standing.mjs";
import { w } from "../words.mjs";

const clock = (terms) => {
  const control = terms?.clock?.control;
  if (!control) return w("terms.clock.none");
  const { move_ms: move, base_ms: base, increment_ms: increment, delay_ms: delay, days } = terms.clock[control];
  const [time, more] = [clockWords(move ?? base ?? 0), clockWords(increment ?? delay ?? 0)];
  return w(`terms.clock.${control}`, { time, more, days });
};

const illegal = (terms) => {
  if (!terms?.illegal_moves) return w("terms.illegal.refused");
  return terms.strikes ? w("terms.illegal.strikes", { n: terms.strikes }) : w("terms.illegal.recorded");
};

/** Pairs of what it is about and how it is. */
export const termsOf = (game) => {
  const { seats, terms } = game.opened;
  const joined = seats.filter((_, seat) => game.keysOf(seat).length).length;
  return [
    ...(game.where ? [[w("terms.where"), game.where]] : []),
    [w("terms.players"), w("terms.joined", { n: seats.length, joined })],
    [w("terms.clock"), clock(terms)],
    [w("terms.illegal"), illegal(terms)],
  ];
};
