// The words of a log's entry, from the entry itself: nothing here comes from the server that delivered it.

import { decodeBody } from "./verify/wire.mjs";
import { firstPlayer, w } from "./words.mjs";

const NO_SEAT = "";

const author = ({ author: kind, seat, scribe, arbiter }) => {
  if (kind === "seat") return firstPlayer(seat);
  if (kind === "scribe") return w("entry.scribe", { n: scribe });
  return w("entry.arbiter", { n: arbiter });
};

/** Places and points of a result, the winner first; why there are no points. */
export const standingsWords = ({ places, scores }) => {
  const order = places.map((_, seat) => seat).sort((one, other) => places[one] - places[other]);
  const standings = order.map((seat) =>
    scores.length ? w("entry.standing", { player: seat, n: scores[seat], place: places[seat] }) : w("entry.standing.place", { player: seat, place: places[seat] }),
  );
  return [...(places.length ? standings : [w("result.none")]), ...(places.length && !scores.length ? [w("entry.no_points")] : [])].join(" ");
};

/** `{who, what}` of an entry; `rules` are the game's messages, `game` its words. */
export const entryWords = (entry, rules, game) => {
  const { event } = entry;
  if (event === "chance") return { who: "", what: game.outcome(decodeBody(rules.outcome, entry.chance.outcome)) };
  if (event === "signed" || event === "refused") {
    const { intent } = entry;
    const refused = event === "refused";
    const act = intent.act;
    let what;
    if (act === "move") what = game.move(decodeBody(rules.move, intent.move));
    else if (act === "declare") what = game.outcome(decodeBody(rules.outcome, intent.declare));
    else if (act === "rule") what = w("entry.act.rule", { ruling: w(`entry.ruling.${intent.rule.ruling}`) });
    else what = w(`entry.act.${act}`, { n: intent[act].to_seq ?? intent[act].against_seq ?? NO_SEAT });
    return { who: author(intent), what: refused ? w("entry.refused", { what, rules: entry.refused.rule_ids.join(", ") }) : what };
  }
  if (event === "stand_in") {
    const { seat, move } = entry.stand_in;
    const what = move.length ? game.move(decodeBody(rules.move, move)) : w("entry.passes");
    return { who: firstPlayer(seat), what: w("entry.stand_in", { what }) };
  }
  if (event === "end") return { who: "", what: w("entry.end", { standings: standingsWords(entry.end) }) };
  const body = entry[event];
  return { who: body?.seat === undefined ? "" : firstPlayer(body.seat), what: w(`entry.${event}`) };
};
