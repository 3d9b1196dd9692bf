#!/usr/bin/env node
// The command: node verify.mjs FILE ... [--key VKEY] [--seat-key N=HEX] [--scribe-key N=HEX] [--receipt FILE] [--json]

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { auditAny } from "./event_audit.mjs";
import { verifierKey } from "./note.mjs";
import { describe, pinnedKeys } from "./report.mjs";

const USAGE = "node verify.mjs FILE ... [--key VKEY] [--seat-key N=HEX] [--scribe-key N=HEX] [--receipt FILE] [--json]";
const CALLERS_FAULT = 2;

const many = { type: "string", multiple: true, default: [] };
const options = { key: { type: "string" }, "seat-key": many, "scribe-key": many, receipt: many, json: { type: "boolean" }, help: { type: "boolean", short: "h" } };

/** A verifier key, or what the file with one holds. */
const text = async (word) => (/^[^+]+\+[0-9a-f]{8}\+/.test(word) ? word : (await readFile(word, "utf8")).trim());
const bytes = async (path) => new Uint8Array(await readFile(path));

/** Prints a report on each file; the exit code is the highest. */
async function main() {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(`${USAGE}\nVKEY: a .vkey file or its text. The exit codes are those of referee audit.\n`);
    return 0;
  }
  if (!positionals.length) throw new Error(`usage: ${USAGE}`);
  const pins = {
    key: values.key === undefined ? null : await verifierKey(await text(values.key)),
    seatKeys: pinnedKeys(values["seat-key"]),
    scribeKeys: pinnedKeys(values["scribe-key"]),
    receipts: await Promise.all(values.receipt.map(bytes)),
  };
  let exit = 0;
  for (const path of positionals) {
    const report = await auditAny(await bytes(path), pins);
    exit = Math.max(exit, report.exit);
    process.stdout.write(values.json ? `${JSON.stringify({ file: path, ...report })}\n` : describe(path, report));
  }
  return exit;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = CALLERS_FAULT;
}
