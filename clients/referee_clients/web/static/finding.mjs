// Faults of a file or stream that was read, by kind and facts, in the page's language. The verifier's own words for it are English.

import { w } from "./words.mjs";

/** What is said of them more closely is the verdict. */
const OF_EVENTS = new Set(["PAIRING", "STANDINGS"]);
export const isEnglish = document.documentElement.lang === "en";

/** A line that is there in English alone. */
export const inEnglish = (text) => (isEnglish ? text : { english: text });

/** What is wrong: of what kind, and with what; in English the verifier's `message`. */
export const findingWords = ({ code, facts = {} }, message) => {
  if (isEnglish || !code) return message;
  const found = Object.entries(facts).map(([name, value]) => w(`found.${name}`, { value, player: Number(value) }));
  return w(`finding.${OF_EVENTS.has(code) ? "RULES" : code}`) + (found.length ? ` (${found.join(", ")})` : "");
};

/** A line as a page shows it. */
export const paragraph = (line, className = "") => {
  const element = document.createElement("p");
  if (line.english === undefined) return Object.assign(element, { textContent: line, className });
  return Object.assign(element, { textContent: line.english, lang: "en", className: "original" });
};
