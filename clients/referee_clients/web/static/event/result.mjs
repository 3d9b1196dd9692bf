// A result: filled in for a table, shown as it would be entered, and then signed here, or saved to be entered elsewhere.

import { h, saveFile } from "../dom.mjs";
import { button, choice, number, numberOf, text } from "../desk/form.mjs";
import { browserKey } from "../desk/key.mjs";
import { post } from "../sending.mjs";
import { SubmitIntentRequest, encode } from "../seat/encode.mjs";
import { sign } from "../seat/keys.mjs";
import { keep, kept } from "../token.mjs";
import { base64, equal, fromHex } from "../verify/bytes.mjs";
import { brokenBy } from "../verify/event_rules.mjs";
import { EVENT_MESSAGES } from "../verify/event_schema.mjs";
import { Intent } from "../verify/schema.mjs";
import { decodeBody } from "../verify/wire.mjs";
import { w } from "../words.mjs";
import { resultWords, signerWords, tableWords } from "./words.mjs";

/** Places that follow from the points of a game: most first, equal points are a draw. */
const placesOf = (scores) => scores.map((score) => 1 + scores.filter((other) => other > score).length);

/** The result in an intent, in lines, from the very bytes that are signed. */
const linesOf = (body, event, called) => {
  const { act, [act]: said } = decodeBody(EVENT_MESSAGES.move, decodeBody(Intent, body).move);
  const lines = resultWords(said.result, event.roundOf(said.round).tables[said.table - 1], called);
  const headline = w(act === "amend" ? "event.entry.amends" : "event.entry.enters", { n: said.round, table: said.table });
  return [headline, ...lines, said.reason && w("event.act.why", { reason: said.reason })].filter(Boolean);
};

/**
 * The panel for one event. `view`: an EventView; `called(number)`: a player's name. It has its `element`, `draw()` after a
 * change, and `choose(round, table)`, for who comes with a slip.
 */
export const resultEntry = async (view, called) => {
  const own = await browserKey(() => forget());
  const table = choice("event.entry.table", []);
  const reason = text("event.entry.reason", { maxlength: 200 });
  const seats = h("div", {});
  const problem = h("p", { class: "problem", role: "alert" });
  const shown = h("div", { role: "status" });
  const said = h("p", { role: "status" });
  let rows = [];
  let offered = "";
  let isAmending = false; // as the fields were drawn

  /** Which scribe of the log this browser's key is: 0 the organiser, then arbiters; or -1. */
  const scribe = () => (own.key() ? view.opened.scribe_keys.findIndex((key) => equal(key, own.key().publicKey)) : -1);
  const round = () => view.state.newest;
  const isPlayed = () => Boolean(round()?.isPublished && !round().isClosed);
  const chosen = () => Number(table.input.value);
  const isDecided = () => round().results.has(chosen());

  const forget = () => {
    shown.replaceChildren();
    problem.textContent = "";
  };

  const drawReason = () => {
    isAmending = isDecided();
    reason.element.hidden = !isAmending;
  };

  const drawSeats = () => {
    forget();
    const players = round().tables[chosen() - 1] ?? [];
    const places = [["", "–"], ...players.map((_, at) => [at + 1, at + 1]), [0, w("event.away")]];
    rows = players.map((who) => {
      const label = { who: called(who) };
      const field = { place: choice("event.entry.place", places), score: number("event.entry.score", { min: -999 }), out: h("input", { type: "checkbox" }) };
      const out = h("label", {}, field.out, w("event.entry.forfeits"));
      return { ...field, element: h("fieldset", { class: "seat-result" }, h("legend", {}, label.who), field.place.element, field.score.element, out) };
    });
    seats.replaceChildren(...rows.map(({ element }) => element));
    drawReason();
  };

  /** The act as the fields have it; what is missing is refused by the rules, in words. */
  const filled = () => {
    const scores = rows.map(({ score }) => numberOf(score));
    const hasScores = scores.length > 0 && scores.every(Number.isInteger);
    const typed = rows.map(({ place }) => (place.input.value === "" ? undefined : Number(place.input.value)));
    const isTyped = typed.every((place) => place !== undefined);
    if (!isTyped && !(hasScores && typed.every((place) => place === undefined))) throw new Error(w("event.entry.incomplete"));
    if (!hasScores && scores.some((score) => score !== undefined)) throw new Error(w("event.entry.scores"));
    const forfeited = rows.flatMap(({ out }, seat) => (out.checked ? [seat] : []));
    const result = { places: isTyped ? typed : placesOf(scores), scores: hasScores ? scores : [], forfeited };
    const where = { round: round().number, table: chosen(), result };
    return encode(EVENT_MESSAGES.move, isDecided() ? { amend: { ...where, reason: reason.input.value.trim() } } : { enter_result: where });
  };

  const failed = ({ message }) => w("event.entry.failed", { message: message || w("home.away") });

  /** Does what may fail, and says why it did. */
  const trying = (work, words = failed) => async () => {
    problem.textContent = "";
    try {
      await work();
    } catch (error) {
      problem.textContent = words(error);
    }
  };

  const prepare = trying(async () => {
    forget();
    said.textContent = "";
    const move = filled();
    const broken = await brokenBy(view.state, decodeBody(EVENT_MESSAGES.move, move));
    if (broken.length) throw new Error(broken.map(([rule, what]) => w("event.entry.broken", { what, rule })).join(" "));
    const { size: seq, leaf: prev, gameId } = view.head;
    const at = scribe();
    const body = encode(Intent, { game_id: fromHex(gameId), seq, prev, scribe: Math.max(at, 0), move });
    show(body, move, at);
  });

  const show = (body, move, at) => {
    const [headline, ...lines] = linesOf(body, view.state, called);
    const name = `result-${round().number}-${chosen()}.json`;
    // The act names seats: who is at them when it is entered has to be the same.
    const players = round().tables[chosen() - 1];
    const save = () => saveFile(name, `${JSON.stringify({ event: view.id, players, act: base64(move) })}\n`, "application/json");
    const enter = button("event.entry.sign", () => submit(), { class: "primary" });
    let request = null; // the same bytes are sent again after a break: they get the first answer again
    const unanswered = (error) => {
      if (!error.isInDoubt) return failed(error);
      // Without the button the table has a result by now, which the page shows.
      return enter.isConnected ? w("event.entry.in_doubt", { message: error.message }) : "";
    };
    const submit = trying(async () => {
      enter.disabled = true;
      try {
        request ??= encode(SubmitIntentRequest, { game_id: view.id, intent: body, signature: await sign(own.key(), body) });
        const { accepted, refused } = await post(`/games/${view.id}/acts`, request, kept());
        if (refused) throw new Error(refused.violations.map(({ text: own, english }) => own || english).join(" "));
        forget();
        said.textContent = w("event.entry.entered", { n: accepted.seq });
      } finally {
        enter.disabled = false;
      }
    }, unanswered);
    shown.replaceChildren(
      h(
        "div",
        { class: "verdict prepared", role: "group", "aria-label": w("event.entry.shown") },
        h("p", { class: "judged" }, headline),
        lines.map((line) => h("p", { class: "line" }, line)),
        h("p", { class: "source" }, at < 0 ? w("event.entry.save.about", { name }) : w("event.entry.sign.about", { who: signerWords(at) })),
        h("div", { class: "buttons" }, at >= 0 && enter, button("event.entry.save", save), button("event.entry.drop", forget)),
      ),
    );
    shown.querySelector("button").focus();
  };

  const token = h("input", { type: "password", autocomplete: "off", spellcheck: "false", value: kept() });
  token.addEventListener("change", () => keep(token.value.trim()));
  table.input.addEventListener("change", drawSeats);
  seats.addEventListener("input", forget);
  reason.element.addEventListener("input", forget);

  const form = h(
    "form",
    { class: "entry", onsubmit: (event) => (event.preventDefault(), prepare()) },
    table.element,
    seats,
    reason.element,
    h("div", { class: "buttons" }, h("button", { type: "submit" }, w("event.entry.prepare"))),
    problem,
    shown,
  );
  const nothing = h("p", {}, w("event.entry.closed"));
  const access = h("details", {}, h("summary", {}, w("event.entry.access")), h("p", {}, w("event.entry.access.about")), h("label", { class: "above" }, w("event.entry.token"), token), own.element);

  /** Offers the tables of the round that is played; what is being filled in stays, if its table does. */
  const draw = () => {
    form.hidden = !isPlayed();
    nothing.hidden = isPlayed();
    if (!isPlayed()) return;
    const { number: n, tables, results } = round();
    const now = JSON.stringify([n, tables, [...results.keys()]]);
    if (now === offered) return;
    const before = table.input.value;
    const isOther = !offered.startsWith(JSON.stringify([n, tables]).slice(0, -1));
    offered = now;
    const options = tables.map((_, at) => [at + 1, w("event.entry.option", { n: at + 1, note: results.has(at + 1) ? w("event.entry.has") : tableWords(round(), at + 1) })]);
    table.input.replaceChildren(...options.map(([value, words]) => h("option", { value }, words)));
    const open = tables.findIndex((_, at) => !results.has(at + 1)) + 1 || 1;
    table.input.value = !isOther && before && results.has(Number(before)) === isAmending ? before : open;
    if (isOther || table.input.value !== before) drawSeats();
    else drawReason();
  };
  const element = h("details", { class: "verdict" }, h("summary", {}, w("event.entry")), nothing, form, said, access);
  const choose = (n, at) => {
    element.open = true;
    element.scrollIntoView();
    const isHere = isPlayed() && round().number === n && at >= 1 && at <= round().tables.length;
    if (!isHere) return void (said.textContent = w("event.entry.other_slip", { n, table: at }));
    table.input.value = at;
    drawSeats();
    return table.input.focus();
  };
  draw();
  return { element, draw, choose };
};
