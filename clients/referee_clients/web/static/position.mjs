// Judging a position: it is put together here, and judged by the gateway as `referee inspect` does.
//
// The position is in the link, and nowhere else.

import { h } from "./dom.mjs";
import { grid } from "./grid.mjs";
import { alhambra } from "./position/alhambra.mjs";
import { kingdomino } from "./position/kingdomino.mjs";
import { rollwrite } from "./position/rollwrite.mjs";
import { w } from "./words.mjs";

const components = await (await fetch("/static/components.json")).json();
const GAMES = {
  alhambra: alhambra(components.alhambra),
  kingdomino: kingdomino(components.kingdomino),
  rollwrite: rollwrite(components.rollwrite),
};

const app = document.getElementById("app");
const said = document.getElementById("said");
const say = (words) => (said.textContent = words);

let name = "alhambra";
let state = GAMES[name].empty();
let before = [];
let answer = null;
let asking = null;

const part = (className, ...children) => h("div", { class: className }, ...children);
const chooser = part("kinds");
const hand = h("p", { class: "hand" });
const handButtons = part("buttons");
const board = grid(w("position.board"), (x, y) => change(GAMES[name].choose(state, x, y, say)));
const summary = h("p", { class: "judged" });
const palette = part("palette");
const settings = part("settings");
const verdict = h("section", { class: "verdict", "aria-labelledby": "verdict-title" });

const button = (label, onclick, disabled = false) => h("button", { type: "button", onclick, disabled }, label);

/** Go on from the position that is shown; null changes nothing. */
const change = (next) => {
  if (next === null) return;
  before = [...before.slice(-99), [name, state]];
  state = next;
  moved();
};

const moved = () => {
  history.replaceState(null, "", `#${name};${GAMES[name].write(state)}`);
  answer = null;
  summary.textContent = w("position.judging");
  draw();
  judge();
};

/** The position of the link; false if there is one that cannot be read. */
const fromLink = () => {
  const [game, ...rest] = decodeURIComponent(location.hash.slice(1)).split(";");
  if (!game) return true;
  const found = Object.hasOwn(GAMES, game) ? (rest.join(";") ? GAMES[game].read(rest.join(";")) : GAMES[game].empty()) : null;
  if (found === null) return false;
  [name, state] = [game, found];
  return true;
};

const draw = () => {
  const game = GAMES[name];
  chooser.replaceChildren(
    ...Object.keys(GAMES).map((each) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(each === name), onclick: () => choose(each) },
        w(`game.${each}`),
      ),
    ),
  );
  drawBoard();
  const held = game.hand(state);
  if (held) hand.replaceChildren(game.handPicture(state), w(game.handKey?.(state) ?? "position.hand", { piece: held }));
  else hand.replaceChildren("hand" in state ? w("position.empty_hand") : w("position.sheet"));
  handButtons.replaceChildren(
    ...(held ? [button(w("position.put_away"), () => change({ ...state, hand: null, ...("first" in state ? { first: null } : {}) }))] : []),
    button(w("position.undo"), undo, before.length === 0),
    button(w("position.clear"), () => change(game.empty(state)), game.isEmpty(state) && !held),
    button(w("position.copy"), copy),
    button(w("position.print"), () => window.print()),
  );
  palette.replaceChildren(...game.palette(state, change, (then) => (then(), draw(), showVerdict())));
  settings.replaceChildren(...game.settings(state, change));
};

const drawBoard = () => board.show(GAMES[name].model(state, answer));

const choose = (game) => {
  if (game === name) return;
  before = [...before.slice(-99), [name, state]];
  name = game;
  state = GAMES[game].empty();
  moved();
};

const undo = () => {
  [name, state] = before.pop();
  moved();
};

const copy = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say(w("position.copied"));
  } catch {
    say(w("position.not_copied"));
  }
};

const title = () => h("h2", { id: "verdict-title" }, w("verdict"));

/** Ask what is to be said of the position; only the last question's answer counts. */
const judge = async () => {
  asking?.abort();
  const mine = (asking = new AbortController());
  let found;
  try {
    const response = await fetch("/api/v1/position", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(GAMES[name].question(state)),
      signal: mine.signal,
    });
    found = await response.json();
    if (!response.ok) found = { error: found.message };
  } catch (error) {
    if (mine.signal.aborted) return;
    found = { error: w("position.no_server") };
  }
  if (mine !== asking) return;
  answer = found;
  drawBoard();
  showVerdict();
};

const showVerdict = () => {
  const game = GAMES[name];
  if (answer === null) return;
  if (answer.error) {
    const message = w("position.unjudged", { message: answer.error });
    summary.textContent = "";
    verdict.replaceChildren(title(), h("p", { class: "problem" }, message), button(w("position.again"), judge));
    say(message);
    return;
  }
  const lines = [];
  if ("valid" in answer) {
    const n = answer.violations.length;
    const text = game.isEmpty(state)
      ? w("verdict.empty")
      : answer.valid
        ? w("verdict.legal")
        : w(n === 1 ? "verdict.illegal.one" : "verdict.illegal", { n });
    lines.push(h("p", { class: `judged ${answer.valid ? "good" : "bad"}` }, text));
    summary.className = `judged ${answer.valid ? "good" : "bad"}`;
    summary.textContent = text;
    say(text);
  } else summary.textContent = "";
  if (answer.violations?.length)
    lines.push(
      h(
        "ul",
        { class: "broken-rules" },
        answer.violations.map(({ rule, text }) => h("li", {}, h("a", { href: `/rules/${name}#${rule}` }, rule), text.slice(rule.length))),
      ),
    );
  const facts = game.facts(answer, state);
  if (facts.length) lines.push(h("dl", { class: "facts" }, facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])));
  if (answer.valid === false && !("wall" in answer) && !("score" in answer)) lines.push(h("p", {}, w("verdict.no_points")));
  verdict.replaceChildren(title(), ...lines, ...game.about(state, answer).filter(Boolean));
};

app.replaceChildren(
  h("div", { role: "group", "aria-label": w("position.game") }, chooser),
  part("editor", part("table", hand, part("scroll", board.element), summary, palette, handButtons, settings), verdict),
);
const isRead = fromLink();
draw();
if (!isRead) {
  app.prepend(h("p", { class: "problem", role: "alert" }, w("position.bad_link")));
}
summary.textContent = w("position.judging");
judge();
window.addEventListener("hashchange", () => {
  if (`#${name};${GAMES[name].write(state)}` === location.hash) return;
  if (fromLink()) moved();
});
