// What a seat does at the table beside its moves: each is confirmed in words, and signed.

import { h } from "../dom.mjs";
import { json } from "../gateway.mjs";
import { post } from "../sending.mjs";
import { hex } from "../verify/bytes.mjs";
import { w } from "../words.mjs";
import { locked, made, pemOf } from "./keys.mjs";

const MOST_TEXT = 4000;
const MOST_CALL = 200;
/** An act that is no entry, a call that did not arrive. */
const EXPECTED = new Set(["NotEntered", "Refused"]);

const field = (key, attributes) => {
  const input = h(attributes.rows ? "textarea" : "input", attributes);
  return [input, h("label", { class: "above" }, w(key), input)];
};

/** The part of the page; `player` acts; `page`: `saveFile(name, text)`, `failed(error)`. */
export class Beside {
  #game;
  #player;
  #page;
  #said = h("p", { role: "status" });
  #asked = h("div", { class: "found" });
  #buttons = h("div", { class: "buttons" });
  #proposal = null;

  constructor(game, player, page) {
    [this.#game, this.#player, this.#page] = [game, player, page];
    this.element = h("details", { class: "verdict beside" }, h("summary", {}, w("beside.title")), this.#buttons, this.#asked, this.#said);
    this.draw();
  }

  get #hasRules() {
    return (this.#game.opened.terms?.table_rules ?? 0) > 0;
  }

  /** Follows the game: a take-back may be proposed, or agreed to. */
  async take() {
    if (!this.#hasRules || this.#game.isOver) return this.draw();
    const proposed = this.#game.entries.findLastIndex(({ intent }) => intent?.act === "take_back");
    if (proposed < 0) return this.draw();
    const { proposal } = await json(`/games/${this.#game.id}/docket`).catch(() => ({}));
    const isMine = proposal?.missing.includes(this.#player.seat);
    this.#proposal = isMine ? { seq: Number(proposal.seq), to: Number(proposal.to_seq) } : null;
    if (this.#proposal) this.element.open = true;
    return this.draw();
  }

  draw() {
    const all = [
      this.#proposal && ["agree", () => this.#ask("agree", { n: this.#proposal.to }, [], () => this.#player.act("consent", { to_seq: this.#proposal.seq }))],
      ["call", () => this.#call()],
      ["take_back", () => this.#takeBack()],
      ["protest", () => this.#dispute("protest")],
      ["appeal", () => this.#dispute("appeal")],
      ["change_key", () => this.#changeKey()],
      ["resign", () => this.#ask("resign", {}, [], () => this.#player.act("resign", {}))],
    ].filter(Boolean);
    const offered = this.#game.isOver ? [] : all.filter(([name]) => this.#isOffered(name));
    this.element.hidden = !offered.length;
    this.#buttons.replaceChildren(...offered.map(([name, onclick]) => h("button", { type: "button", onclick }, w(`beside.${name}`))));
  }

  #isOffered(name) {
    if (name === "call") return this.#game.opened.arbiter_keys.length > 0;
    if (name === "change_key") return (this.#game.opened.terms?.table_rules ?? 0) > 1;
    if (name === "appeal") return this.#hasRules && this.#game.entries.some(({ intent }) => intent?.act === "rule");
    if (name === "take_back") return this.#hasRules && Boolean(this.#game.opened.terms?.take_backs);
    return this.#hasRules;
  }

  /** Asks before anything is signed. `act()`: does it. */
  #ask(name, places, fields, act) {
    this.#said.textContent = "";
    const yes = h("button", { type: "button", class: "primary", onclick: () => this.#do(name, act) }, w(`beside.${name}.yes`));
    const no = h("button", { type: "button", onclick: () => this.#asked.replaceChildren() }, w("beside.no"));
    const question = h("p", { class: "judged" }, w(`beside.${name}.ask`, places));
    this.#asked.replaceChildren(h("div", { role: "group", "aria-label": w(`beside.${name}`) }, question, ...fields, h("div", { class: "buttons" }, yes, no)));
    (this.#asked.querySelector("input, textarea, select") ?? no).focus();
  }

  async #do(name, act) {
    for (const each of this.#asked.querySelectorAll("button")) each.disabled = true;
    try {
      await act();
      this.#asked.replaceChildren();
      this.#said.textContent = w(`beside.${name}.done`);
    } catch (error) {
      if (!EXPECTED.has(error.name)) return this.#page.failed(error);
      this.#said.textContent = w("beside.failed", { message: error.message });
      for (const each of this.#asked.querySelectorAll("button")) each.disabled = false;
    }
  }

  #call() {
    const [text, label] = field("beside.call.text", { type: "text", maxlength: MOST_CALL });
    this.#ask("call", {}, [label], () => post(`/games/${this.#game.id}/call`, { text: text.value.trim() }, this.#player.kept.token));
  }

  /** A choice of an entry, the newest first. */
  #entries(key, wanted) {
    const options = this.#game.entries.flatMap((entry, n) => (wanted(entry) ? [h("option", { value: n }, `${n}: ${this.#game.wordsOf(n)}`)] : []));
    const select = h("select", {}, options.reverse());
    return [select, h("label", { class: "above" }, w(key), select)];
  }

  #takeBack() {
    const [entry, label] = this.#entries("beside.take_back.entry", ({ state_digest: digest }) => digest.length > 0);
    this.#ask("take_back", {}, [label], () => this.#player.act("take_back", { to_seq: Number(entry.value) }));
  }

  #dispute(name) {
    const isRuling = ({ intent }) => intent?.act === "rule";
    const [entry, entryLabel] = this.#entries(`beside.${name}.entry`, (each) => (name === "appeal" ? isRuling(each) : true));
    const [rule, ruleLabel] = field("beside.rule", { type: "text", maxlength: 64, autocapitalize: "characters", spellcheck: "false" });
    const [text, textLabel] = field("beside.text", { rows: 3, maxlength: MOST_TEXT });
    this.#ask(name, {}, [entryLabel, ruleLabel, textLabel], () =>
      this.#player.act(name, { against_seq: Number(entry.value), rule_id: rule.value.trim() }, text.value.trim()),
    );
  }

  #changeKey() {
    this.#ask("change_key", {}, [], async () => {
      const pkcs8 = await made();
      const next = await locked(pkcs8);
      this.#page.saveFile(`seat-${this.#game.id.slice(0, 8)}-${this.#player.seat}-${hex(next.publicKey).slice(0, 8)}.pem`, pemOf(pkcs8));
      await this.#player.changeKey(next);
    });
  }
}
