// What ends a page: it shows nothing more, says why, and lets the evidence be saved.

import { h } from "./dom.mjs";
import { OtherKey, evidenceOf, pinKey, problemWords } from "./game.mjs";
import { w } from "./words.mjs";

const save = (error, id) => {
  const url = URL.createObjectURL(new Blob([evidenceOf(error, id)], { type: "application/json" }));
  h("a", { href: url, download: `${id}-evidence.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

const trust = () => {
  pinKey(true);
  location.reload();
};

/** Shows the error of a game in the page's place for it; returns the headline. `isOpen`: something of the game is shown. */
export const showTrouble = (error, { id, isOpen }) => {
  const [headline, ...sentences] = problemWords(error, isOpen);
  const button = (label, onclick) => h("button", { type: "button", onclick }, w(label));
  const buttons = [
    error.evidence && button("watch.evidence", () => save(error, id)),
    error instanceof OtherKey && button("watch.trust", trust),
  ].filter(Boolean);
  document.getElementById("stopped").append(
    h(
      "div",
      { class: "verdict", role: "alert" },
      sentences.map((sentence) => h("p", {}, sentence)),
      buttons.length > 0 && h("div", { class: "buttons" }, buttons),
    ),
  );
  return headline;
};
