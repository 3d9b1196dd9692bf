// How the table of one game stands: who calls, what is disputed, what was ruled. The gateway's word; entries are in the log.

import { h } from "../dom.mjs";
import { w } from "../words.mjs";
import { button } from "./form.mjs";

const when = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short" });

const RULINGS = ["restore", "adjudicate", "void", "pause", "resume", "adjourn", "set_clock", "penalty", "forfeit", "reinstate", "skip", "accept", "dismiss"];
const CALLERS = { CALLER_SEAT: "seat", CALLER_SCRIBE: "scribe", CALLER_ORGANISER: "organiser" };
const isSet = (value) => value !== undefined && value !== null;
const quoted = (text) => (text ? w("docket.words", { text }) : "");
const sentence = (...parts) => parts.filter(Boolean).join(" ");

const callWords = ({ caller, seat, text, since_ms: since }) => {
  const who = w(`docket.caller.${CALLERS[caller] ?? "organiser"}`, { player: seat ?? 0 });
  return w("docket.call", { who, text, when: when.format(Number(since)) });
};

const disputeWords = ({ seq, seat, against, rule_id: rule, is_appeal: isAppeal, ruled, text }) =>
  sentence(w(isAppeal ? "docket.appeal" : "docket.protest", { seq, player: seat, against, rule }), quoted(text), isSet(ruled) ? w("docket.ruled", { n: ruled }) : w("docket.open"));

const rulingWords = ({ seq, arbiter, rule, text }) => {
  const kind = RULINGS.find((name) => isSet(rule[name]));
  const what = kind ? w(`entry.ruling.${kind}`) : w("docket.unknown");
  return sentence(w("docket.ruling", { seq, n: arbiter, what, rule: rule.rule_id || "–" }), quoted(text));
};

const seatWords = ({ out, strikes, points_off: points }, n) => {
  const ending = out.replace("ENDING_", "").toLowerCase();
  const parts = [ending !== "unspecified" && w(`ending.${ending}`), strikes && w("docket.strikes", { n: strikes }), points && w("docket.points", { n: points })];
  return parts.some(Boolean) && w("docket.seat", { player: n, what: parts.filter(Boolean).join(" ") });
};

/** The elements; `answer(number)`: answers a call, or null where nobody here may. */
export const docket = (found, answer) => {
  const calls = found.calls.map((call) =>
    h("li", { class: "calls" }, h("span", {}, callWords(call)), answer && button("docket.answer", () => answer(call.number))),
  );
  const bySeq = [
    ...found.disputes.map((each) => [each.seq, disputeWords(each)]),
    ...found.rulings.map((each) => [each.seq, rulingWords(each)]),
    ...found.key_changes.map(({ seq, seat }) => [seq, w("docket.key", { seq, player: seat })]),
    ...found.delays.map(({ seq, seat, ms }) => [seq, w("docket.delay", { seq, player: seat, s: Number(ms) / 1000 })]),
  ].sort(([one], [other]) => Number(one) - Number(other));
  const { proposal, until_ms: until } = found;
  const lines = [
    ...found.seats.map(seatWords).filter(Boolean),
    ...bySeq.map(([, words]) => words),
    ...(proposal ? [w("docket.proposal", { seq: proposal.seq, to: proposal.to_seq, players: proposal.missing })] : []),
    ...(Number(until) ? [w("docket.until", { when: when.format(Number(until)) })] : []),
  ];
  return [
    calls.length > 0 && h("ul", { class: "docket" }, calls),
    lines.length > 0 && h("ul", { class: "docket" }, lines.map((line) => h("li", {}, line))),
    !calls.length && !lines.length && h("p", {}, w(found.table_rules ? "docket.nothing" : "docket.none")),
  ].filter(Boolean);
};
