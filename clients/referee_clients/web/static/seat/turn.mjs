// One turn: a move is chosen, explained if it may not be made, confirmed in words, and sent.

import { explained } from "../broken_rules.mjs";
import { h } from "../dom.mjs";
import { Refused, json, pause } from "../gateway.mjs";
import { post } from "../sending.mjs";
import { base64, fromBase64, hex } from "../verify/bytes.mjs";
import { decodeBody } from "../verify/wire.mjs";
import { w } from "../words.mjs";
import { encode } from "./encode.mjs";

const MOST_LISTED = 300;
/** A key that is held down confirms nothing. */
const unlessHeld = (event) => event.repeat && event.preventDefault();

const button = (label, onclick, more = {}) => h("button", { type: "button", onclick, ...more }, label);

/** Every rule that is broken, in words, with a way to its text. */
const brokenRules = (rulesId, violations) =>
  h(
    "ul",
    { class: "broken-rules" },
    violations.map((each) => h("li", {}, explained(each), " ", h("a", { href: `/rules/${rulesId}#${each.rule}`, target: "_blank", rel: "noopener" }, each.rule))),
  );

export class Turn {
  #game;
  #seat;
  #token;
  #chooser;
  #board;
  #enter;
  #hint = h("p", { class: "hint" });
  #groups = h("div", { class: "choices-of-turn" });
  #found = h("div", { class: "found" });
  #all = h("ol", { class: "all-moves" });
  #filter = h("input", { type: "search", oninput: () => this.#list() });
  #listed = h("details", { ontoggle: () => this.#list() });
  #head = "";
  #size = 0;
  #moves = [];
  #legal = new Set();
  #state = null;
  #refused = [];
  #sinceMs = null;
  /** The head for which a move is on its way, or null. */
  #sending = null;

  /**
   * `board`: the seat's grid, `{element, show(), focus()}`, which stays when the turn is over. `enter(move, size, thoughtMs)`:
   * signs the bytes for the place after so many entries, and sends them; null if another entry came first; throws NotEntered.
   */
  constructor(game, { seat, token }, chooser, board, enter) {
    [this.#game, this.#seat, this.#chooser, this.#board, this.#enter] = [game, seat, chooser, board, enter];
    this.#token = token; // whose requests are counted apart from those of others at the same address
    this.#listed.append(
      h("summary", {}, w("seat.all")),
      h("label", { class: "above" }, w("seat.filter"), this.#filter),
      this.#all,
    );
    this.element = h(
      "section",
      { class: "turn-panel", "aria-label": w("seat.turn") },
      this.#hint,
      this.#groups,
      h("div", { class: "scroll" }, board.element),
      this.#found,
      this.#listed,
    );
  }

  get isOn() {
    return this.#state !== null;
  }

  /** The move of this turn is on its way. */
  get #isBusy() {
    return this.#sending === this.#head;
  }

  /**
   * The turn is there, with the game as it stands; the same turn told again changes nothing. `sinceMs`: since when, by
   * `performance.now()`, or null if that is not known.
   */
  async begin(sinceMs) {
    const { size, leaf } = this.#game.head;
    const head = hex(leaf);
    if (this.#head === head) return;
    this.end();
    this.#head = head;
    this.#size = size;
    this.#sinceMs = sinceMs;
    const moves = await this.#fetched(head, size);
    if (!moves || this.#head !== head) return;
    this.#legal = new Set(moves);
    this.#moves = moves.map((each) => decodeBody(this.#game.rules.move, fromBase64(each)));
    const position = this.#game.positionAt(size - 1);
    this.#go(this.#chooser.begin({ position, seat: this.#seat, moves: this.#moves }));
  }

  /** The seat is not on turn, or its act is on its way. */
  end() {
    this.#head = "";
    this.#state = null;
    this.#refused = [];
    // The element that had the focus is gone; the board stays.
    if (this.element.contains(document.activeElement)) this.#board.focus();
    this.#groups.replaceChildren();
    this.#say();
    this.element.classList.remove("on");
  }

  /** A cell of the board was chosen. */
  choose(x, y, say) {
    if (!this.#state || this.#isBusy) return;
    const next = this.#chooser.choose(this.#state, x, y, say);
    if (next) this.#go(next);
  }

  /** What keys of the board do, by key. */
  get keys() {
    const act = (change) => () => this.#state && !this.#isBusy && this.#go(change(this.#state));
    return Object.fromEntries(Object.entries(this.#chooser.keys ?? {}).map(([key, change]) => [key, act(change)]));
  }

  /** The board as it is chosen on, or null if the turn has none. */
  model() {
    const model = this.#state && this.#chooser.board(this.#state);
    if (!model || !this.#refused.length) return model;
    const broken = new Map();
    for (const { rule, cells } of this.#refused) for (const [x, y] of cells) broken.set(`${x},${y}`, [...(broken.get(`${x},${y}`) ?? []), rule]);
    const cell = (x, y) => {
      const found = model.cell(x, y);
      const rules = broken.get(`${x},${y}`);
      if (!rules) return found;
      const label = `${found.label}, ${w("cell.broken", { rules: rules.join(", ") })}`;
      return { ...found, label, marks: [...(found.marks ?? []), "broken"] };
    };
    return { ...model, cell };
  }

  /** Every legal move, exact bytes in base64, or null if the game has gone on. */
  async #fetched(head, size) {
    const moves = [];
    for (let page = "", tries = 0; this.#head === head; ) {
      try {
        const found = await json(`/games/${this.#game.id}/moves?page=${encodeURIComponent(page)}`, this.#token);
        if (found.size !== size || found.head !== head) return null;
        moves.push(...found.moves);
        page = found.next_page;
        if (!page) return moves;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (error.status === 409) return null; // the next entry is on its way
        this.element.classList.add("on");
        this.#hint.textContent = w("seat.moves_failed", { message: error.message || w("seat.no_answer") });
        await pause(tries++, error.waitMs);
      }
    }
    return null;
  }

  /** `goesOn`: more may be chosen where the focus is, so it stays there. */
  #go(state, goesOn = false) {
    this.#state = state;
    this.#refused = [];
    this.#draw();
    const move = this.#chooser.move(state);
    if (move) this.#propose(move, goesOn);
  }

  #draw() {
    const isFocused = this.#groups.contains(document.activeElement) && document.activeElement.dataset.choice;
    this.element.classList.add("on");
    this.#hint.textContent = this.#chooser.hint(this.#state);
    this.#groups.replaceChildren(...this.#chooser.groups(this.#state).map((group) => this.#group(group)));
    this.#found.replaceChildren();
    this.#list();
    this.#board.show();
    if (isFocused) [...this.#groups.querySelectorAll("[data-choice]")].find(({ dataset }) => dataset.choice === isFocused)?.focus();
  }

  #group({ label, options }) {
    const option = ({ label: said, picture, chosen, legal, goesOn, next }, n) =>
      button(picture ?? said, () => this.#isBusy || this.#go(next, goesOn), {
        class: ["choice", legal ? "legal" : "", picture ? "pictured" : ""].join(" "),
        "aria-pressed": String(Boolean(chosen)),
        "aria-label": said,
        title: picture ? said : null,
        "data-choice": `${label},${n}`,
      });
    return h("div", { role: "group", "aria-label": label }, h("h3", {}, label), h("div", { class: "buttons" }, options.map(option)));
  }

  /** Every legal move in words, for who wants no board. */
  #list() {
    if (!this.#listed.open || !this.#state) return;
    const wanted = this.#filter.value.trim().toLowerCase().split(/\s+/);
    const words = this.#moves.map((move) => [move, this.#game.wordsOfMove(move)]);
    const found = words.filter(([, said]) => wanted.every((part) => said.toLowerCase().includes(part)));
    const shown = found.slice(0, MOST_LISTED).map(([move, said]) => h("li", {}, button(said, () => this.#isBusy || this.#propose(move))));
    if (found.length > MOST_LISTED) shown.push(h("li", {}, w("seat.more", { n: found.length - MOST_LISTED })));
    this.#all.replaceChildren(...shown);
  }

  /** A move is chosen in full: it is to be confirmed, or may not be made. */
  async #propose(move, goesOn = false) {
    const bytes = encode(this.#game.rules.move, move);
    const state = this.#state;
    if (!this.#legal.has(base64(bytes))) {
      this.#say(h("p", { role: "status" }, w("seat.checking")));
      const why = await this.#why(bytes);
      if (this.#state !== state) return;
      if (why.unknown !== undefined) return this.#warn(w("seat.unchecked", { message: why.unknown || w("seat.no_answer") }));
      if (why.violations.length) return this.#refuse(w("seat.illegal"), why.violations);
    }
    this.#confirm(bytes, goesOn);
  }

  #say(...children) {
    this.#found.replaceChildren(...children);
  }

  #warn(words) {
    this.#say(h("p", { class: "problem", role: "alert" }, words));
  }

  /** `{violations}` of a move, or why they are `{unknown}`. */
  async #why(bytes) {
    try {
      return await post(`/games/${this.#game.id}/why?size=${this.#size}`, bytes, this.#token);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { unknown: error.message };
    }
  }

  #refuse(words, violations) {
    this.#refused = violations;
    this.#board.show();
    this.#say(h("div", { class: "refused", role: "alert" }, h("p", { class: "judged" }, words), brokenRules(this.#game.opened.rules_id, violations)));
  }

  #confirm(bytes, goesOn) {
    const yes = button(w("seat.enter"), () => this.#send(bytes), { class: "primary", onkeydown: unlessHeld });
    const no = button(w("seat.again"), () => this.#go(this.#chooser.begin({ position: this.#game.positionAt(this.#game.last), seat: this.#seat, moves: this.#moves })));
    const words = this.#game.wordsOfMove(decodeBody(this.#game.rules.move, bytes)); // of what is signed, and of nothing else
    this.#say(
      h("div", { class: "confirm", role: "group", "aria-label": w("seat.confirm") }, h("p", { class: "judged", id: "chosen-move" }, words), h("div", { class: "buttons" }, yes, no)),
    );
    yes.setAttribute("aria-describedby", "chosen-move");
    if (!goesOn) yes.focus({ preventScroll: true });
  }

  async #send(bytes) {
    if (this.#isBusy) return;
    const head = this.#head;
    this.#sending = head;
    this.#say(h("p", { role: "status" }, w("seat.sending")));
    try {
      const entered = await this.#enter(bytes, this.#size, this.#sinceMs === null ? null : performance.now() - this.#sinceMs);
      if (this.#head === head && entered) this.end(); // another turn may be there already
      else if (this.#head === head) this.#say(h("p", { role: "status" }, w("seat.void")));
    } catch (error) {
      if (error.name !== "NotEntered") throw error;
      if (this.#head !== head) return;
      // Two moves that are signed for one place leave it to the gateway which one counts.
      if (error.violations.length && !error.recorded && this.#legal.has(base64(bytes))) this.#refuse(w("seat.doubt"), error.violations);
      else if (error.violations.length) this.#refuse(w("seat.refused"), error.violations);
      else this.#warn(w("seat.not_entered", { message: error.message || w("seat.no_answer") }));
    } finally {
      if (this.#sending === head) this.#sending = null;
    }
  }
}

