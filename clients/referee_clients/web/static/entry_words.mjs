// What an entry of the log says, in words, from the entry itself: nothing here comes from whoever delivered it.

import { decodeBody } from "./verify/wire.mjs";
import { seatWords } from "./standing.mjs";
import { w } from "./words.mjs";

const NO_SEAT = "";

const author = ({ author: kind, seat, scribe, arbiter }) => {
  if (kind === "seat") return seatWords(seat);
  if (kind === "scribe") return w("entry.scribe", { n: scribe });
  return w("entry.arbiter", { n: arbiter });
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
    return { who: seatWords(seat), what: w("entry.stand_in", { what }) };
  }
  if (event === "end") return { who: "", what: w("entry.end", { places: entry.end.places.join(", ") || "–", scores: entry.end.scores.join(", ") || "–" }) };
  const body = entry[event];
  return { who: body?.seat === undefined ? "" : seatWords(body.seat), what: w(`entry.${event}`) };
};
