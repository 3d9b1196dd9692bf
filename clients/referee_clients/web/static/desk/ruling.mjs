// A ruling: filled in, prepared for the game as it stands, shown as it is going to be signed; then saved, or signed here.

import { h, saveFile } from "../dom.mjs";
import { Lie } from "../feed.mjs";
import { Game } from "../game.mjs";
import { post } from "../sending.mjs";
import { SubmitActRequest, encode } from "../seat/encode.mjs";
import { sign } from "../seat/keys.mjs";
import { kept } from "../token.mjs";
import { equal } from "../verify/bytes.mjs";
import { firstPlayer, w } from "../words.mjs";
import { area, button, choice, number, numberOf, numbersOf, text, textOf } from "./form.mjs";
import { readRuling } from "./ruling_words.mjs";

const MOST_TEXT = 4000;
/** How a seat can be put out, as the command names it. */
const ENDINGS = ["adjudicated", "resigned", "flag", "disconnected", "crashed", "stalled", "illegal-moves"];

/** What a kind of ruling asks for beside the reason: fields of the question, by their names. */
const ASKS = {
  pause: [],
  resume: [],
  adjourn: [],
  dismiss: [],
  restore: ["to"],
  "set-clock": ["seat", "left"],
  penalty: ["seat", "points", "strikes", "time"],
  forfeit: ["seat", "ending"],
  reinstate: ["seat"],
  skip: ["seat"],
  accept: ["seat", "move"],
  adjudicate: ["places", "scores"],
  void: [],
  "change-key": ["seat", "new-key"],
};

const range = (n, words) => Array.from({ length: n }, (_, each) => [each, words(each)]);

/** Every field that there may be, with what it says. */
const fieldsOf = ({ seats }) => ({
  seat: [choice("ruling.seat", range(seats, (n) => firstPlayer(n))), numberOf],
  to: [number("ruling.to"), numberOf],
  left: [text("ruling.left"), textOf],
  points: [number("ruling.points"), numberOf],
  strikes: [number("ruling.strikes"), numberOf],
  time: [text("ruling.time"), textOf],
  ending: [choice("ruling.ending", ENDINGS.map((name) => [name, w(`ending.${name.replace("-", "_")}`)])), textOf],
  move: [text("ruling.move"), textOf],
  places: [text("ruling.places"), numbersOf],
  scores: [text("ruling.scores"), numbersOf],
  "new-key": [text("ruling.new_key", { maxlength: 64 }), textOf],
});

const disputesOf = ({ disputes }) => disputes.filter(({ ruled }) => ruled === undefined || ruled === null);

/**
 * The form for one game. `about`: `{id, seats, arbiters}`, how many there are. `docket`: of the game. `browserKey()`: this
 * browser's, or null. `entered(seq)`: the ruling became an entry. `lied(error)`: the gateway delivered what nobody signed.
 */
export const ruling = (about, docket, { browserKey, entered, lied }) => {
  const kind = choice("ruling.kind", Object.keys(ASKS).map((name) => [name, w(`ruling.kind.${name.replace("-", "_")}`)]));
  const fields = fieldsOf(about);
  const arbiter = choice("ruling.arbiter", range(about.arbiters, (n) => w("entry.arbiter", { n })));
  const decides = choice("ruling.decides", [["", w("ruling.nothing")], ...disputesOf(docket).map(({ seq }) => [seq, w("verify.entry", { n: seq })])]);
  const rule = text("ruling.rule", { maxlength: 64 });
  const reason = area("ruling.reason", { maxlength: MOST_TEXT });
  const asked = h("div", { class: "stacked" });
  const problem = h("p", { class: "problem", role: "alert" });
  const shown = h("div", { role: "status" });
  let attempt = 0;

  const forget = () => {
    attempt++;
    shown.replaceChildren();
    problem.textContent = "";
  };
  const drawFields = () => {
    forget();
    const own = ASKS[kind.input.value].map((name) => fields[name][0].element);
    const hasReason = kind.input.value !== "change-key";
    asked.replaceChildren(...own, ...(hasReason ? [decides.element, rule.element, reason.element] : []));
  };

  const question = () => {
    const name = kind.input.value;
    const found = { ruling: name, arbiter: numberOf(arbiter) };
    for (const each of ASKS[name]) found[each] = fields[each][1](fields[each][0]);
    if (name !== "change-key") Object.assign(found, { decides: numberOf(decides), rule: textOf(rule), reason: textOf(reason) });
    return found;
  };

  /** Does what may fail, and says why it did. */
  const trying = (work) => async () => {
    problem.textContent = "";
    try {
      await work();
    } catch (error) {
      if (error instanceof Lie) lied(error);
      problem.textContent = w("ruling.failed", { message: error.message || w("home.away") });
    }
  };

  const prepare = trying(async () => {
    forget();
    const mine = attempt;
    shown.replaceChildren(h("p", {}, w("ruling.preparing")));
    try {
      const game = new Game(about.id);
      await game.open();
      const file = await post(`/games/${about.id}/ruling`, question());
      const found = await readRuling(file, game);
      if (mine === attempt) show(found, file, game);
    } catch (error) {
      if (mine === attempt) shown.replaceChildren();
      throw error;
    }
  });

  const show = (found, file, game) => {
    const key = browserKey();
    const own = game.opened.arbiter_keys[found.intent.arbiter];
    const canSign = key && own && equal(own, key.publicKey);
    const name = `ruling-${about.id.slice(0, 8)}-${found.intent.seq}.json`;
    const save = () => saveFile(name, `${JSON.stringify(file)}\n`, "application/json");
    const [headline, ...lines] = found.lines;
    const enter = button("ruling.sign", () => submit(), { class: "primary" });
    let body = null; // the same bytes are sent again after a break: they get the first answer again
    const submit = trying(async () => {
      enter.disabled = true;
      try {
        const signature = async () => ({ game_id: about.id, intent: found.bytes, signature: await sign(key, found.bytes), words: found.words });
        body ??= encode(SubmitActRequest, await signature());
        const { accepted } = await post(`/games/${about.id}/table`, body, kept());
        forget();
        entered(accepted.seq);
      } finally {
        enter.disabled = false;
      }
    });
    shown.replaceChildren(
      h(
        "div",
        { class: "verdict prepared", role: "group", "aria-label": w("ruling.shown") },
        h("p", { class: "judged" }, headline),
        lines.map((line) => h("p", { class: "line" }, line)),
        h("p", { class: "source" }, w(canSign ? "ruling.sign.about" : "ruling.save.about", { name })),
        h("div", { class: "buttons" }, canSign && enter, button("ruling.save", save), button("ruling.drop", forget)),
      ),
    );
    shown.querySelector("button").focus();
  };

  kind.input.addEventListener("change", drawFields);
  asked.addEventListener("input", forget);
  arbiter.input.addEventListener("change", forget);
  drawFields();
  return h(
    "form",
    { class: "ruling", onsubmit: (event) => (event.preventDefault(), prepare()) },
    h("div", { class: "stacked" }, about.arbiters > 1 && arbiter.element, kind.element),
    asked,
    h("div", { class: "buttons" }, h("button", { type: "submit" }, w("ruling.prepare"))),
    problem,
    shown,
  );
};
