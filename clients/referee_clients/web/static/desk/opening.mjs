// A new game: what an organiser wishes, and the links of its seats, which are shown once and kept nowhere.

import { h, s } from "../dom.mjs";
import { post } from "../sending.mjs";
import { kept } from "../token.mjs";
import { hex } from "../verify/bytes.mjs";
import { firstPlayer, w } from "../words.mjs";
import { area, button, check, choice, number, numberOf, text, textOf } from "./form.mjs";

const QUIET = 4;

/** A code of dark modules on a white ground, whatever the theme: phones look for that. */
const drawn = (rows) => {
  const size = rows.length + 2 * QUIET;
  const d = rows.flatMap((row, y) => Array.from(row, (module, x) => (module === "1" ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")));
  return s("svg", { viewBox: `0 0 ${size} ${size}`, class: "code", "aria-hidden": "true" }, s("path", { d: d.join("") }));
};

const option = ({ name, choices, is_flag: isFlag, is_list: isList }) => {
  const label = (input) => h("label", { class: "above" }, h("code", {}, name), input);
  const plain = (word) => (/^\d+$/.test(word) ? Number(word) : word);
  const input = choices.length
    ? h("select", {}, h("option", { value: "" }, w("opening.default")), choices.map((each) => h("option", {}, each)))
    : h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const value = () => {
    const typed = input.value.trim();
    if (!typed) return undefined;
    if (isList) return typed.split(/[\s,]+/).map(plain);
    return isFlag ? typed === "true" : plain(typed);
  };
  return { name, value, element: label(input) };
};

/** The form. `games`: what there is to choose, by name: `{seats: [least, most], options}`. `opened()`: there is a new game. */
export const opening = (games, { browserKey, opened }) => {
  const names = Object.keys(games);
  const rules = choice("opening.rules", names.map((name) => [name, w(`game.${name}`)]));
  const seats = number("opening.seats", { min: 1, max: 9 });
  const clock = text("opening.clock", { placeholder: "10m+5s" });
  const illegal = text("opening.illegal", { placeholder: "strikes:3" });
  const absence = text("opening.absence", { placeholder: "2m" });
  const protest = text("opening.protest_time", { placeholder: "10m" });
  const takeBacks = check("opening.take_backs");
  const keys = area("opening.arbiter_keys", { spellcheck: "false" });
  const [event, round, table] = [number("opening.event"), number("opening.round"), number("opening.table")];
  const options = h("div", { class: "options" });
  const problem = h("p", { class: "problem", role: "alert" });
  const shown = h("div", { role: "status" });
  let chosen = [];

  const drawOptions = () => {
    const { seats: [least, most], options: known } = games[rules.input.value];
    Object.assign(seats.input, { min: least, max: most, value: least });
    chosen = known.map(option);
    options.replaceChildren(...chosen.map(({ element }) => element));
  };
  const useKey = () => {
    const own = browserKey();
    if (own) keys.input.value = [...keys.input.value.split(/\s+/).filter(Boolean), hex(own.publicKey)].join("\n");
    else problem.textContent = w("opening.no_key");
  };

  const wishes = () => ({
    rules: rules.input.value,
    seats: numberOf(seats),
    options: Object.fromEntries(chosen.map(({ name, value }) => [name, value()]).filter(([, value]) => value !== undefined)),
    clock: textOf(clock),
    illegal: textOf(illegal)?.split(/\s+/),
    absence: textOf(absence),
    "protest-time": textOf(protest),
    "take-backs": takeBacks.input.checked,
    "arbiter-key": keys.input.value.split(/\s+/).filter(Boolean),
    event: numberOf(event),
    round: numberOf(round),
    table: numberOf(table),
  });

  const seat = ({ link, code }, n) =>
    h(
      "li",
      { class: "card" },
      h("h3", {}, firstPlayer(n)),
      link ? h("code", { class: "key" }, link) : h("p", {}, w("opening.no_link")),
      code.length > 0 && drawn(code),
    );
  const secret = (key, token) => token && h("p", {}, w(key), h("code", { class: "key" }, token));

  const show = (made) =>
    shown.replaceChildren(
      h(
        "div",
        { class: "verdict" },
        h("h2", { tabindex: -1 }, w("opening.opened", { id: made.game })),
        h("p", {}, w("opening.once", { origin: location.origin })),
        h("ul", { class: "links" }, made.seats.map(seat)),
        secret("opening.arbiter_token", made.arbiter_token),
        secret("opening.scribe_token", made.scribe_token),
        h("div", { class: "buttons" }, button("opening.print", () => window.print()), button("opening.hide", () => shown.replaceChildren())),
      ),
    );

  const submit = async (event_) => {
    event_.preventDefault();
    problem.textContent = "";
    go.disabled = true; // a second click would open a second game
    try {
      show(await post("/games", wishes(), kept()));
      shown.querySelector("h2").focus();
      opened();
    } catch (error) {
      problem.textContent = w("opening.failed", { message: error.message || w("home.away") });
    } finally {
      go.disabled = false;
    }
  };

  const go = h("button", { type: "submit" }, w("opening.go"));
  rules.input.addEventListener("change", drawOptions);
  drawOptions();
  const fields = [rules, seats, clock, illegal, absence, protest, takeBacks, event, round, table].map(({ element }) => element);
  return h(
    "form",
    { class: "opening", onsubmit: submit },
    h("div", { class: "stacked" }, fields, keys.element),
    h("div", { class: "buttons" }, button("opening.use_key", useKey)),
    h("details", {}, h("summary", {}, w("opening.options")), options),
    h("div", { class: "buttons" }, go),
    problem,
    shown,
  );
};
