// Fields of a form, each with its label, and what they say.

import { h } from "../dom.mjs";
import { w } from "../words.mjs";

const labelled = (key, input, places = {}) => ({ input, element: h("label", { class: "above" }, w(key, places), input) });

/** A field, `{input, element}`; `key`: its words. */
export const text = (key, attributes = {}) => labelled(key, h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes }));
export const number = (key, attributes = {}) => labelled(key, h("input", { type: "number", min: 0, step: 1, inputmode: "numeric", ...attributes }));
export const area = (key, attributes = {}) => labelled(key, h("textarea", { rows: 3, ...attributes }));
export const check = (key) => labelled(key, h("input", { type: "checkbox" }));

/** A choice: `options` as [[value, words]…]. */
export const choice = (key, options, attributes = {}) =>
  labelled(key, h("select", attributes, options.map(([value, words]) => h("option", { value }, words))));

/** What a number field says; undefined if it is empty. What is no number goes as it is, and is refused by name. */
export const numberOf = ({ input }) => {
  const typed = input.value.trim();
  return typed === "" ? undefined : Number.isSafeInteger(Number(typed)) ? Number(typed) : typed;
};

/** Numbers with commas or blanks between them. */
export const numbersOf = ({ input }) => input.value.split(/[\s,]+/).filter(Boolean).map(Number);

/** What a text field says; undefined if it is empty. */
export const textOf = ({ input }) => input.value.trim() || undefined;

export const button = (key, onclick, attributes = {}) => h("button", { type: "button", onclick, ...attributes }, w(key));
