// A rule that is broken, as the gateway explains it: in the page's language, and in English beside it, which decides.

import { h } from "./dom.mjs";

/** What is to be read of a violation. `without`: what it begins with and what the page has said of it already. */
export const explained = ({ text, english }, without = "") => {
  const [own, original] = [text, english].map((words) => words?.slice(words.startsWith(without) ? without.length : 0));
  return original === undefined ? own : [own, h("span", { class: "original", lang: "en" }, original.replace(/^:? /, ""))];
};
