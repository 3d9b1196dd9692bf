// The words of a ruling, from the very bytes that are going to be signed, and from nothing else.

import { standingsWords } from "../entry_words.mjs";
import { ENDINGS, clockWords } from "../standing.mjs";
import { equal, fromBase64, hex, sha256, utf8 } from "../verify/bytes.mjs";
import { Intent } from "../verify/schema.mjs";
import { decodeBody } from "../verify/wire.mjs";
import { w } from "../words.mjs";

const REMARK = "tile-referee/v1/remark\0";

/** What was prepared is not what it has to be: nobody signs it. */
export class NotARuling extends Error {}

const time = (ms) => w("says.time", { clock: clockWords(ms), s: ms / 1000 });

const seatOf = ({ seat }) => {
  if (seat === undefined) throw new NotARuling(w("says.incomplete"));
  return seat;
};

const penalty = (body) => {
  const { time_ms: ms, points, strikes } = body;
  const parts = [ms && w("says.off.time", { time: time(ms) }), points && w("says.off.points", { n: points }), strikes && w("says.off.strikes", { n: strikes })];
  return w("says.penalty", { player: seatOf(body), what: parts.filter(Boolean).join(", ") || w("says.warning") });
};

const forfeit = (body) => {
  const ending = ENDINGS[body.ending];
  if (!ending) throw new NotARuling(w("says.incomplete"));
  return w("says.forfeit", { player: seatOf(body), ending: w(`ending.${ending}`) });
};

const adjudicate = ({ places, scores }) =>
  w("says.adjudicate", { standings: standingsWords({ places, scores }) });

const accept = (body, game) => {
  const move = game.wordsOfMove(decodeBody(game.rules.move, body.move));
  return w("says.accept", { player: seatOf(body), move, rules: body.rule_ids.join(", ") || "–" });
};

const OF = {
  restore: ({ to_seq: to }) => w("says.restore", { to }),
  adjudicate,
  set_clock: (body) => w("says.set_clock", { player: seatOf(body), left: time(body.left_ms) }),
  penalty,
  forfeit,
  reinstate: (body) => w("says.reinstate", { player: seatOf(body) }),
  skip: (body) => w("says.skip", { player: seatOf(body) }),
  accept,
  void: () => w("says.void"),
  pause: () => w("says.pause"),
  resume: () => w("says.resume"),
  adjourn: () => w("says.adjourn"),
  dismiss: () => w("says.dismiss"),
};

const ruled = (rule, game) => [
  OF[rule.ruling](rule[rule.ruling], game),
  rule.rule_id && w("says.rule", { rule: rule.rule_id }),
  rule.decides !== undefined && w("says.decides", { n: rule.decides }),
];

/** The reason, if it is the one that the ruling commits to; empty if it commits to none. Throws NotARuling. */
const reasonOf = async (remark, words) => {
  if (!remark.length && words === undefined) return "";
  const salt = fromBase64(words?.salt ?? "");
  const fits = salt && typeof words?.text === "string" && equal(remark, await sha256(utf8(REMARK), salt, utf8(words.text)));
  if (!fits) throw new NotARuling(w("says.other_reason"));
  return words.text;
};

/**
 * `{bytes, intent, lines, words}` of what the gateway has prepared for a game whose history was checked: the exact bytes,
 * what they say, a line for each fact, and the salt and text of the reason. Throws NotARuling.
 */
export const readRuling = async ({ intent: text, words }, game) => {
  const bytes = fromBase64(text);
  if (!bytes) throw new NotARuling(w("says.incomplete"));
  const intent = decodeBody(Intent, bytes);
  const isRuling = intent.author === "arbiter" && (intent.act === "rule" || intent.act === "change_key");
  if (!isRuling) throw new NotARuling(w("says.no_ruling"));
  if (!equal(intent.game_id, game.gameId)) throw new NotARuling(w("says.other_game"));
  if (intent.seq !== game.head.size || !equal(intent.prev, game.head.leaf)) throw new NotARuling(w("says.moved"));
  const { rule, change_key: change } = intent;
  const reason = await reasonOf(rule?.remark ?? new Uint8Array(), words);
  const said = rule ? ruled(rule, game) : [w("says.change_key", { player: seatOf(change), key: hex(change.key) })];
  const who = w("says.who", { n: intent.arbiter, game: game.title, entry: intent.seq });
  return {
    bytes,
    intent,
    lines: [who, ...said, reason && w("says.reason", { text: reason })].filter(Boolean),
    words: reason ? { salt: fromBase64(words.salt), text: reason } : null,
  };
};
