// The worker that checks the rules as well: Python is loaded once, then files come in and reports go out.

import { auditorIn } from "./rules_audit.mjs";
import { verifierKey } from "./verify/note.mjs";
import { pinnedKeys } from "./verify/report.mjs";

const PYTHON = "/static/pyodide/";

const bytesOf = async (url) => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};

const start = async () => {
  const { loadPyodide } = await import(`${PYTHON}pyodide.mjs`);
  const [pyodide, archive] = await Promise.all([loadPyodide({ indexURL: PYTHON }), bytesOf("/static/auditor.zip")]);
  return auditorIn(pyodide, archive);
};

let auditor = null;

self.onmessage = async ({ data: { file, key, seats, receipts } }) => {
  try {
    auditor ??= start();
    const audit = await auditor;
    self.postMessage({ isLoaded: true });
    const pins = { key, seatKeys: pinnedKeys(seats.split(/\s+/).filter(Boolean)), receipts };
    self.postMessage({ found: await audit(file, pins, key ? await verifierKey(key) : null) });
  } catch (error) {
    auditor = null;
    self.postMessage({ error: error.message, isOld: error.name === "NotSupportedError" });
  }
};
