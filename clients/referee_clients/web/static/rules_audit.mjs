// The whole audit of a file: by this program's own auditor, in a Python for browsers, with every signature checked here.
// Used by the worker of the page, and by tests.

import { isKey, tellSignatures, verifies } from "./verify/ed25519.mjs";
import { auditAny } from "./verify/event_audit.mjs";

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Far more than any file has needed: an audit is made again only if it came upon signatures that nobody had looked at. */
const MOST_ROUNDS = 100;

const joined = (...parts) => {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
};

/** Whether the question's answer is yes: of a key alone, or of key, signature and message. */
const answered = async (question) => {
  if (question.length === KEY_BYTES) return isKey(question);
  const signed = KEY_BYTES + SIGNATURE_BYTES;
  return verifies(question.subarray(0, KEY_BYTES), question.subarray(signed), question.subarray(KEY_BYTES, signed));
};

/** The auditor, of a Pyodide that was loaded and the archive's bytes. */
export const auditorIn = (pyodide, archive) => {
  const folder = "/auditor";
  pyodide.FS.mkdirTree(folder);
  pyodide.unpackArchive(archive, "zip", { extractDir: folder });
  pyodide.runPython(`import sys; sys.path.insert(0, "${folder}")`);
  const python = pyodide.runPython("from referee_clients.web.in_browser import audit; audit");

  const told = (holding, failing, keys, weak) => {
    const lists = [holding, failing, keys, weak].map((list) => pyodide.toPy(list));
    python.answer(...lists);
    for (const list of lists) list.destroy();
  };

  /** `{verdict, exit_code, lines, report}` as of the command line, or `{error}`. `key`: text; `seatKeys`: bytes by number. */
  return async (file, { key = "", seatKeys = {}, receipts = [] }, verifierKey = null) => {
    python.forget();
    const holding = [];
    tellSignatures((by, message, signature) => holding.push(joined(by, signature, message)));
    try {
      await auditAny(file, { key: verifierKey, seatKeys, receipts });
    } finally {
      tellSignatures(() => {});
    }
    const keys = [...new Map(holding.map((triple) => [String(triple.subarray(0, KEY_BYTES)), triple.subarray(0, KEY_BYTES)])).values()];
    told(holding, [], keys.filter(isKey), []);
    const given = [file, key, Object.entries(seatKeys).map(([seat, raw]) => [Number(seat), raw]), receipts];
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const values = given.map((value) => (typeof value === "string" ? value : pyodide.toPy(value)));
      const found = python.check(...values);
      for (const value of values) value.destroy?.();
      if (typeof found === "string") return JSON.parse(found);
      const questions = found.toJs();
      found.destroy();
      const answers = [[], [], [], []];
      for (const question of questions) {
        const isTriple = question.length !== KEY_BYTES;
        answers[(isTriple ? 0 : 2) + ((await answered(question)) ? 0 : 1)].push(question);
      }
      told(...answers);
    }
    throw new Error(`the audit still asked about signatures after ${MOST_ROUNDS} rounds`);
  };
};
