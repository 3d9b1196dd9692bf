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

/** A drawing of pieces that the page holds, each in a cell of 100 by 100: [id, column, row]. */
export const drawing = (pieces, columns = 1, rows = 1) => {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${columns * 100} ${rows * 100}`);
  svg.setAttribute("aria-hidden", "true");
  for (const [id, x, y] of pieces) {
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", `#${id}`);
    for (const [key, value] of Object.entries({ x: x * 100, y: y * 100, width: 100, height: 100 })) use.setAttribute(key, value);
    svg.append(use);
  }
  return svg;
};
