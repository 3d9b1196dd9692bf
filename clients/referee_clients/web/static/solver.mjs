// Best turns and proofs, from the referee's solver, with the reader's token.

import { ask } from "./asking.mjs";
import { explained } from "./broken_rules.mjs";
import { h } from "./dom.mjs";
import { keep, kept } from "./token.mjs";
import { w } from "./words.mjs";

const OWN_WORDS = ["UNAUTHENTICATED", "PERMISSION_DENIED", "LIMIT", "SOLVER_FAILED", "DEADLINE", "UNAVAILABLE", "NO_SOLVER"];

const problemOf = ({ error, reason, again }) => {
  const own = reason ?? "UNAVAILABLE"; // nobody answered
  if (OWN_WORDS.includes(own)) return w(`solver.error.${own}`, { s: again ?? 1 });
  return w("solver.refused", { message: error });
};

/** The panel: its element, `show(game, state, answer)`, and `prove(claim)`. `change` goes on to another position. */
export const solver = (change) => {
  const token = h("input", {
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    oninput: ({ target }) => keep(target.value.trim()),
  });
  const found = h("div", { class: "found", role: "group", "aria-label": w("solver.answer") });
  const tools = h("div", {});
  const element = h(
    "details",
    { class: "verdict solver" },
    h("summary", {}, w("solver.title")),
    h("p", {}, w("solver.about")),
    h("label", { class: "above" }, w("solver.token"), token),
    h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => (keep(""), (token.value = "")) }, w("solver.forget"))),
    tools,
    found,
  );
  element.addEventListener("toggle", () => (token.value = kept()));
  let asking = null;

  const say = (...children) => found.replaceChildren(...children);

  /** Ask, and show what comes. */
  const put = async (where, question, shown) => {
    asking?.abort();
    if (!window.isSecureContext) return say(h("p", { class: "problem", role: "alert" }, w("solver.insecure")));
    if (!kept()) {
      token.focus();
      return say(h("p", { class: "problem", role: "alert" }, w("solver.no_token")));
    }
    const mine = (asking = new AbortController());
    say(
      h("p", { role: "status" }, w("solver.asking")),
      h("button", { type: "button", onclick: () => (mine.abort(), say()) }, w("solver.stop")),
    );
    const answer = await ask(where, question, { signal: mine.signal, headers: { Authorization: `Bearer ${kept()}` } });
    if (mine !== asking || mine.signal.aborted) return;
    if (answer.error !== undefined) say(h("p", { class: "problem", role: "alert" }, problemOf(answer)));
    else say(...shown(answer));
  };

  const proven = ({ verdict, violations, core, certificate }) => {
    const bytes = Uint8Array.from(atob(certificate), (letter) => letter.charCodeAt(0));
    const file = bytes.length && URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    return [
      h("p", { class: "judged", role: "status" }, w(`solver.verdict.${verdict}`)),
      violations.length > 0 && h("ul", { class: "broken-rules" }, violations.map((each) => h("li", {}, explained(each)))),
      core.length > 0 && h("p", {}, w("solver.core", { core: core.join("; ") })),
      file && h("p", {}, w("solver.certificate", { n: bytes.length }), " ", h("a", { href: file, download: "certificate" }, w("solver.save"))),
    ].filter(Boolean);
  };

  const best = (game, state) => ({ moves, words, wall, tiles, bound, proven: isProven }) => [
    h("p", { class: "judged", role: "status" }, w("solver.best", { wall, tiles })),
    words.length ? h("ol", {}, words.map((each) => h("li", {}, each))) : h("p", {}, w("solver.no_move")),
    h("p", {}, isProven ? w("solver.proven") : w("solver.not_proven", { bound })),
    moves.length > 0 && h("button", { type: "button", onclick: () => change(game.after(state, moves)) }, w("solver.lay")),
  ].filter(Boolean);

  const prove = (claim) => put("prove", claim, proven);
  const button = (label, onclick, disabled = false) => h("button", { type: "button", onclick, disabled }, label);

  /** `target`: whether the next tap names what is to be proved; `aim` changes that. */
  const show = (game, state, answer, isAiming, aim) => {
    element.hidden = !game.claimAt;
    if (!game.claimAt) return;
    const nowhere = state.hand && game.claimNowhere(state, answer);
    const turn = game.turnOf?.(state);
    tools.replaceChildren(
      ...(game.beside?.(state, change) ?? []),
      h(
        "div",
        { class: "buttons" },
        ...(turn ? [button(w("solver.find"), () => put("best-turn", turn, best(game, state)))] : []),
        h("button", { type: "button", "aria-pressed": String(isAiming), onclick: () => aim(!isAiming) }, w("solver.aim")),
        ...(nowhere ? [button(w("solver.nowhere"), () => prove(nowhere))] : []),
      ),
    );
  };

  return { element, show, prove };
};
