// Acts of a seat at the table beside its moves: each is confirmed in words, and signed.

import { h } from "../dom.mjs";
import { post } from "../sending.mjs";
import { equal, hex } from "../verify/bytes.mjs";
import { w } from "../words.mjs";
import { locked, made, pemOf } from "./keys.mjs";
import { keyFile } from "./taking.mjs";

const MOST_TEXT = 4000;
const MOST_CALL = 200;
const BEFORE = new Set(["joining", "revealing"]);
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
  #isPlayed = false;
  #offered = null;
  /** The proposal for which this was opened. */
  #told = null;
  #isDoing = false;

  constructor(game, player, page) {
    [this.#game, this.#player, this.#page] = [game, player, page];
    this.element = h("details", { class: "verdict beside" }, h("summary", {}, w("beside.title")), this.#buttons, this.#asked, this.#said);
    this.draw();
  }

  get #hasRules() {
    return (this.#game.opened.terms?.table_rules ?? 0) > 0;
  }

  /** What can be done as the game stands; `standing`: as `standing` of standing.mjs. */
  draw(standing) {
    this.#isPlayed = !BEFORE.has(standing?.is ?? "joining");
    const proposal = this.#proposal();
    if (proposal && proposal.seq !== this.#told) {
      this.#told = proposal.seq;
      this.element.open = true;
    }
    const all = [
      proposal && ["agree", () => this.#agree(proposal)],
      ["call", () => this.#call()],
      ["take_back", () => this.#takeBack()],
      ["protest", () => this.#dispute("protest")],
      ["appeal", () => this.#dispute("appeal")],
      ["change_key", () => this.#changeKey()],
      ["resign", () => this.#ask("resign", {}, [], () => this.#player.act("resign", {}))],
    ].filter(Boolean);
    const offered = this.#game.isOver ? [] : all.filter(([name]) => this.#isOffered(name));
    const names = offered.map(([name]) => name).join(" ") + (proposal?.seq ?? "");
    if (names === this.#offered) return; // who stands on a button stays there
    this.#offered = names;
    this.element.hidden = !offered.length;
    const button = ([name, onclick]) => h("button", { type: "button", onclick, disabled: this.#isDoing }, w(`beside.${name}`));
    this.#buttons.replaceChildren(...offered.map(button));
  }

  /** The take-back that waits for this seat, `{seq, to}`, as the signed entries have it; or null. It ends with the next move. */
  #proposal() {
    const { entries } = this.#game;
    const seq = entries.findLastIndex(({ signed, intent }) => signed && intent.act === "take_back");
    if (seq < 0 || this.#game.isOver) return null;
    const after = entries.slice(seq);
    const isOpen = after.every(({ state_digest: digest }) => equal(digest, entries[seq].state_digest));
    const { seat } = this.#player;
    const hasAgreed = after.some(({ signed, intent }) => signed && intent.author === "seat" && intent.seat === seat && (intent.act === "take_back" || intent.consent?.to_seq === seq));
    return isOpen && !hasAgreed ? { seq, to: entries[seq].intent.take_back.to_seq } : null;
  }

  /** Shows what would be taken back, from the entries themselves. */
  #agree({ seq, to }) {
    const gone = Array.from({ length: seq - to - 1 }, (_, at) => h("li", {}, this.#game.wordsOf(to + 1 + at)));
    this.#ask("agree", { n: to }, [h("ol", { start: to + 1 }, gone)], () => this.#player.act("consent", { to_seq: seq }));
  }

  #isOffered(name) {
    if (name === "call") return this.#game.opened.arbiter_keys.length > 0;
    if (name === "change_key") return this.#isPlayed && (this.#game.opened.terms?.table_rules ?? 0) > 1;
    if (name === "appeal") return this.#hasRules && this.#game.entries.some(({ intent }) => intent?.act === "rule");
    if (name === "take_back") return this.#hasRules && Boolean(this.#game.opened.terms?.take_backs);
    return this.#hasRules;
  }

  /** Asks before anything is signed; returns the button that says yes. `act()`: does it. */
  #ask(name, places, fields, act) {
    if (this.#isDoing) return null;
    this.#said.textContent = "";
    const yes = h("button", { type: "button", class: "primary", onclick: () => this.#do(name, act) }, w(`beside.${name}.yes`));
    const no = h("button", { type: "button", onclick: () => this.#asked.replaceChildren() }, w("beside.no"));
    const question = h("p", { class: "judged" }, w(`beside.${name}.ask`, places));
    this.#asked.replaceChildren(h("div", { role: "group", "aria-label": w(`beside.${name}`) }, question, ...fields, h("div", { class: "buttons" }, yes, no)));
    (this.#asked.querySelector("input, textarea, select") ?? no).focus();
    return yes;
  }

  async #do(name, act) {
    this.#busy(true);
    try {
      await act();
      this.#asked.replaceChildren();
      this.#said.textContent = w(`beside.${name}.done`);
    } catch (error) {
      if (!EXPECTED.has(error.name)) return this.#page.failed(error);
      this.#said.textContent = w("beside.failed", { message: error.message || w("seat.no_answer") });
    } finally {
      this.#busy(false);
    }
  }

  /** One thing at a time: while it is done, nothing else can be begun. */
  #busy(isDoing) {
    this.#isDoing = isDoing;
    for (const each of this.element.querySelectorAll("button")) each.disabled = isDoing;
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
    const { entries } = this.#game;
    // Later draws stay drawn (TBL-22), and to go back to the same position is no take-back.
    const first = Math.max(0, entries.findLastIndex(({ event }) => event === "chance"));
    const isBack = ({ seq, state_digest: digest }) => seq >= first && !equal(digest, entries.at(-1).state_digest);
    const [entry, label] = this.#entries("beside.take_back.entry", isBack);
    const yes = this.#ask("take_back", {}, [label], () => this.#player.act("take_back", { to_seq: Number(entry.value) }));
    if (yes && !entry.options.length) {
      yes.disabled = true;
      this.#said.textContent = w("beside.take_back.none");
    }
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

  /** The new key's file is saved first, and opened again where days may pass: then only is the key named. */
  #changeKey() {
    const isLong = this.#game.opened.terms?.clock?.control === "correspondence";
    let pkcs8 = null;
    let yes = null;
    const saved = async () => {
      pkcs8 ??= await made();
      const { publicKey } = await locked(pkcs8);
      this.#page.saveFile(`seat-${this.#game.id.slice(0, 8)}-${this.#player.seat}-${hex(publicKey).slice(0, 8)}.pem`, pemOf(pkcs8));
      proof.hidden = !isLong;
      yes.disabled = isLong;
    };
    const save = h("button", { type: "button", onclick: () => saved().catch((error) => this.#page.failed(error)) }, w("beside.change_key.save"));
    const proof = keyFile("seat.prove", (found) => {
      const isSame = pkcs8 !== null && found !== null && equal(found, pkcs8);
      this.#said.textContent = w(isSame ? "seat.proven" : "seat.key.other");
      yes.disabled = !isSame;
    });
    proof.hidden = true;
    yes = this.#ask("change_key", {}, [h("p", {}, save), proof], async () => this.#player.changeKey(await locked(pkcs8)));
    if (yes) yes.disabled = true;
  }
}
