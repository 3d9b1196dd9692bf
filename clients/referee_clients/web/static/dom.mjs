// Making elements. Text goes in as text: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

const append = (element, children) => {
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
};

/** An element with attributes; those named on… are listeners, false and null are left out. */
export const h = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  return append(element, children);
};

/** An element of SVG. */
export const s = (name, attributes, ...children) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return append(element, children);
};

/** Gives a text to be saved as a file. */
export const saveFile = (name, content, type) => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

const grown = (part) => (typeof part === "string" ? part : s(part[0], part[1], part.slice(2).map(grown)));

/** Makes the page hold pieces, each as the name of an element, its attributes, and what is in it. */
export const hold = (pieces) => {
  const holder = { class: "pieces", width: 0, height: 0, "aria-hidden": "true", focusable: "false" };
  document.body.append(s("svg", holder, pieces.map(grown)));
};

/** A drawing of pieces that the page holds, each in a cell of 100 by 100: [id, column, row, class]; `more`: drawn over them. */
export const drawing = (pieces, columns = 1, rows = 1, more = []) =>
  s(
    "svg",
    { viewBox: `0 0 ${columns * 100} ${rows * 100}`, "aria-hidden": "true" },
    pieces.map(([id, x, y, marks = ""]) => s("use", { href: `#${id}`, x: x * 100, y: y * 100, width: 100, height: 100, class: marks })),
    more,
  );

const EDGES = { N: [0, 0, 1, 0], E: [1, 0, 1, 1], S: [1, 1, 0, 1], W: [0, 1, 0, 0] };

/** A line along sides of a cell, N, E, S or W, so far from its edge; the class says what it looks like. */
export const edges = (sides, inset, className) => {
  const at = (part) => (part ? 100 - inset : inset);
  const d = sides.map((side) => {
    const [x1, y1, x2, y2] = EDGES[side];
    return `M${at(x1)} ${at(y1)}L${at(x2)} ${at(y2)}`;
  });
  return s("path", { d: d.join(""), class: className });
};
