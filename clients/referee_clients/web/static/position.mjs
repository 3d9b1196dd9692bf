// Judging a position: it is put together here, and judged by the gateway as `referee inspect` does.
//
// The position is in the link, and nowhere else.

import { h } from "./dom.mjs";
import { grid } from "./grid.mjs";
import { alhambra } from "./editors/alhambra.mjs";
import { kingdomino } from "./editors/kingdomino.mjs";
import { rollwrite } from "./editors/rollwrite.mjs";
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
let boards = [GAMES[name].empty()];
let current = 0;
let before = [];
let answer = null;
let asking = null;

const part = (className, ...children) => h("div", { class: className }, ...children);
const chooser = part("kinds");
const hand = h("p", { class: "hand" });
const handButtons = part("buttons");
const board = grid(w("position.board"), (x, y) => change(GAMES[name].choose(boards[current], x, y, say)));
const summary = h("p", { class: "judged" });
const palette = part("palette");
const settings = part("settings");
const seats = part("kinds");
const sheet = h("section", { class: "sheet-of-all", "aria-labelledby": "sheet-title" });
const verdict = h("section", { class: "verdict", "aria-labelledby": "verdict-title" });

const button = (label, onclick, disabled = false) => h("button", { type: "button", onclick, disabled }, label);

/** Go on from the position that is shown; null changes nothing. */
const change = (next) => {
  if (next !== null) changeAll(name, boards.with(current, next), current);
};

/** The same with all boards: what is said of the game is said on the first one. */
const changeAll = (game, all, at) => {
  before = [...before.slice(-99), [name, boards, current]];
  [name, boards, current] = [game, all, at];
  moved();
};

/** The neutral player's tiles are the last board, in games that have one. */
const players = () => boards.filter(({ neutral }) => !neutral);

const moved = () => {
  history.replaceState(null, "", linkNow());
  answer = null;
  summary.textContent = w("position.judging");
  draw();
  judge();
};

const linkNow = () => `#${name};${boards.map((board) => GAMES[name].write(board)).join("|")}`;

/** The position of the link; false if there is one that cannot be read. */
const fromLink = () => {
  let text;
  try {
    text = decodeURIComponent(location.hash.slice(1));
  } catch {
    return false;
  }
  const [game, ...rest] = text.split(";");
  if (!game) return true;
  if (!Object.hasOwn(GAMES, game)) return false;
  const [, most] = GAMES[game].seats ?? [1, 1];
  const parts = rest.join(";").split("|");
  const found = parts.map((each) => (each ? GAMES[game].read(each) : GAMES[game].empty()));
  if (found.includes(null) || found.length > most) return false;
  const neutral = found.findIndex((each) => each.neutral);
  const expected = GAMES[game].neutral === (neutral < 0 ? found.length : found.length - 1) ? found.length - 1 : -1;
  if (neutral !== expected) return false;
  const pieces = found.flatMap(GAMES[game].pieces);
  if (new Set(pieces).size !== pieces.length) return false;
  [name, boards, current] = [game, found, 0];
  return true;
};

const draw = () => {
  const game = GAMES[name];
  const state = boards[current];
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
  const elsewhere = boards.filter((_, at) => at !== current).flatMap(game.pieces);
  palette.replaceChildren(...game.palette(state, change, (then) => (then(), draw(), showVerdict()), elsewhere));
  const ofGame = boards.length > 1 && current > 0 ? [] : game.settings(state, change);
  const ofSeat = boards.length > 1 && !state.neutral && (name === "alhambra" || current === 0) ? game.seatSettings(state, change) : [];
  settings.replaceChildren(...ofGame, ...ofSeat);
  drawSeats();
};

const drawBoard = () => board.show(GAMES[name].model(boards[current], answer));

/** Who has a board: a button each, and one to go on to a final scoring with one player more. */
const drawSeats = () => {
  const game = GAMES[name];
  if (!game.seats) return seats.replaceChildren();
  const [, most] = game.seats;
  const show = (at) => {
    current = at;
    answer = null;
    draw();
    judge();
  };
  const named = (at) => (boards[at].neutral ? w("position.neutral") : w("position.player", { n: at }));
  const count = players().length;
  const shown = boards.length > 1
    ? boards.map((_, at) => h("button", { type: "button", "aria-pressed": String(at === current), onclick: () => show(at) }, named(at)))
    : [];
  const first = players();
  const extra = (n) => (n === game.neutral ? [{ ...game.empty(first[0]), neutral: true }] : []);
  const more = () => changeAll(name, [...first, game.empty(first[0]), ...extra(count + 1)], count);
  const fewer = () => changeAll(name, [...first.slice(0, -1), ...(count - 1 > 1 ? extra(count - 1) : [])], 0);
  seats.replaceChildren(
    ...shown,
    ...(count < most ? [button(w(count === 1 ? "position.score_all" : "position.more"), more)] : []),
    ...(count > 1 ? [button(w("position.fewer", { n: count - 1 }), fewer)] : []),
  );
};

const choose = (game) => {
  if (game !== name) changeAll(game, [GAMES[game].empty()], 0);
};

const undo = () => {
  [name, boards, current] = before.pop();
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

/** The answer to a question, or `{error}`. */
const ask = async (where, question, signal) => {
  try {
    const response = await fetch(`/api/v1/${where}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
      signal,
    });
    const found = await response.json();
    return response.ok ? found : { error: found.message };
  } catch {
    return { error: w("position.no_server") };
  }
};

/** Ask what is to be said of the position; only the last question's answer counts. */
const judge = async () => {
  asking?.abort();
  const mine = (asking = new AbortController());
  const found = await ask("position", GAMES[name].question(boards[current]), mine.signal);
  if (mine !== asking) return;
  answer = found;
  drawBoard();
  showVerdict();
  if (boards.length === 1) return sheet.replaceChildren();
  const scored = await scoreAll(mine.signal);
  if (mine === asking) showSheet(scored);
};

/** The final scoring of all boards, as `referee score` has it. */
const scoreAll = async (signal) => {
  const game = GAMES[name];
  const own = players();
  const found = await Promise.all(own.map((each) => ask("position", game.question({ ...each, hand: null }), signal)));
  const problem = found.find(({ error }) => error);
  if (problem) return problem;
  const parts = own.map((each, at) => game.board(each, found[at]));
  if (boards.length > own.length) parts.push(game.neutralBoard(boards.at(-1)));
  const { version, ...options } = game.headers(own);
  const headers = { Game: name, Version: version, Seats: own.length, ...options, Boards: parts.join(" | ") };
  return ask("score", { text: Object.entries(headers).map(([key, value]) => `[${key} "${value}"]\n`).join("") }, signal);
};

const showSheet = (found) => {
  const heading = h("h2", { id: "sheet-title" }, w("sheet"));
  if (found.error) return sheet.replaceChildren(heading, h("p", { class: "problem" }, w("sheet.none", { message: found.error })));
  const rows = found.players
    .map((player, at) => ({ ...player, label: w("position.player", { n: at }) }))
    .sort((one, other) => one.place - other.place);
  const cells = (tag, each) => each.map((value) => h(tag, tag === "th" ? { scope: "col" } : {}, value));
  sheet.replaceChildren(
    heading,
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, cells("th", [w("sheet.place"), w("sheet.player"), w("sheet.points")]))),
      h("tbody", {}, rows.map(({ place, label, total }) => h("tr", {}, cells("td", [place, label, total])))),
    ),
    ...found.ties.map(({ words }) => h("p", {}, words)),
    ...rows.map(({ label, items }) =>
      h(
        "details",
        {},
        h("summary", {}, w("sheet.items", { player: label })),
        h("ul", {}, items.map(({ what, how, points }) => h("li", {}, w("sheet.item", { what, how, points })))),
      ),
    ),
    ...found.remarks.map((words) => h("p", { class: "source" }, words)),
  );
};

const showVerdict = () => {
  const game = GAMES[name];
  const state = boards[current];
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
  seats,
  part("editor", part("table", hand, part("scroll", board.element), summary, palette, handButtons, settings), part("judgement", verdict, sheet)),
);
const isRead = fromLink();
draw();
if (!isRead) {
  app.prepend(h("p", { class: "problem", role: "alert" }, w("position.bad_link")));
}
summary.textContent = w("position.judging");
judge();
window.addEventListener("hashchange", () => {
  if (linkNow() === location.hash) return;
  if (fromLink()) moved();
});
