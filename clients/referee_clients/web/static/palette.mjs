// Pieces to choose from: by kind, or by what is typed.

import { h } from "./dom.mjs";
import { w } from "./words.mjs";

const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** Words and numbers that are looked for: "t8" is "t" and 8. A number is meant whole, a word by its beginning. */
const isFound = (words, looked) => {
  const parts = words.toLowerCase().match(/\d+|\p{L}+/gu) ?? [];
  return looked.every((part) => parts.some((each) => (/\d/.test(part) ? each === part : each.startsWith(part))));
};

/** The element, with `show(used, held, take)`.
 *
 * `like`: what a reader might look for; `kinds`: [{key, label, picture}]; `pieces`: [{id, words, kinds, picture, caption}]; `atOnce`: how many kinds can be
 * chosen together; `chosen`: those at the beginning.
 */
export const palette = ({ label, like, kinds, pieces, atOnce, chosen }) => {
  let last = null;
  const pressed = [...chosen];
  const find = h("input", {
    type: "search",
    class: "find",
    "aria-label": w("palette.find"),
    placeholder: w("palette.find.like", { like }),
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => show(...last),
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      list.querySelector("button")?.click();
    },
  });
  const chips = kinds.map((kind) =>
    h("button", { type: "button", class: "kind", onclick: () => toggle(kind.key) }, kind.picture(), h("span", {}, kind.label)),
  );
  const list = h("div", { role: "group", "aria-label": label, class: "pieces-to-choose", onkeydown: step });
  const element = h("div", { class: "palette" }, h("div", { role: "group", "aria-label": w("palette.kinds"), class: "of-kind" }, chips), find, list);

  const toggle = (key) => {
    const at = pressed.indexOf(key);
    if (at >= 0) pressed.splice(at, 1);
    else pressed.push(key);
    if (pressed.length > atOnce) pressed.shift();
    find.value = "";
    show(...last);
  };

  /** The list is one stop of the tab key; arrows go along it. */
  function step(event) {
    const all = [...list.children];
    const at = all.indexOf(event.target);
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : at + (STEPS[event.key] ?? 0);
    if (at < 0 || to === at || !all[to]) return;
    event.preventDefault();
    all[at].tabIndex = -1;
    all[to].tabIndex = 0;
    all[to].focus();
  }

  const show = (used, held, take) => {
    last = [used, held, take];
    const looked = find.value.toLowerCase().match(/\d+|\p{L}+/gu) ?? [];
    const fits = ({ id, words, kinds: own }) =>
      !used.has(id) && (looked.length ? isFound(`${words} ${id}`, looked) : pressed.every((key) => own.includes(key)));
    const isFocused = list.contains(document.activeElement);
    kinds.forEach(({ key }, at) => chips[at].setAttribute("aria-pressed", String(!looked.length && pressed.includes(key))));
    const found = pieces.filter(fits);
    list.replaceChildren(
      ...found.map(({ id, words, picture, caption, isWide }, at) =>
        h(
          "button",
          {
            type: "button",
            class: isWide ? "piece wide" : "piece",
            "aria-label": words,
            "aria-pressed": String(id === held),
            tabindex: at === Math.max(0, found.findIndex((each) => each.id === held)) ? "0" : "-1",
            onclick: () => take(id),
          },
          picture(),
          caption && h("span", {}, caption),
        ),
      ),
    );
    if (!found.length) list.append(h("p", {}, w("palette.none")));
    if (isFocused) list.querySelector('[tabindex="0"]')?.focus();
  };

  return { element, show };
};
