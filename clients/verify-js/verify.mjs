#!/usr/bin/env node
// The command: node verify.mjs FILE ... [--key VKEY] [--seat-key N=HEX] [--scribe-key N=HEX] [--receipt FILE] [--log-policy FILE [--proof FILE] [--require-log]] [--json]

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { auditAny } from "./event_audit.mjs";
import { LogCheck, parsePolicy } from "./log.mjs";
import { verifierKey } from "./note.mjs";
import { describe, pinnedKeys } from "./report.mjs";

const USAGE = "node verify.mjs FILE ... [--key VKEY] [--seat-key N=HEX] [--scribe-key N=HEX] [--receipt FILE] [--log-policy FILE [--proof FILE] [--require-log]] [--json]";
const CALLERS_FAULT = 2;

const many = { type: "string", multiple: true, default: [] };
const options = { key: { type: "string" }, "seat-key": many, "scribe-key": many, receipt: many, "log-policy": { type: "string" }, proof: many, "require-log": { type: "boolean" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } };

/** A verifier key, or what the file with one holds. */
const text = async (word) => (/^[^+]+\+[0-9a-f]{8}\+/.test(word) ? word : (await readFile(word, "utf8")).trim());
const bytes = async (path) => new Uint8Array(await readFile(path));

/** The proof from the public log that lies beside a file, if there is one. */
const beside = (path) => bytes(path.replace(/\.[^./]*$/, ".tlog-proof")).then((proof) => [proof], () => []);

/** Prints a report on each file; the exit code is the highest. */
async function main() {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(`${USAGE}\nVKEY: a .vkey file or its text. The exit codes are those of referee audit.\nNot checked: the rules of the games, whether chance is the deck's, what certificates prove. Of events: EVT-P8, EVT-P9, the logs of games.\n`);
    return 0;
  }
  if (!positionals.length) throw new Error(`usage: ${USAGE}`);
  const pins = {
    key: values.key === undefined ? null : await verifierKey(await text(values.key)),
    seatKeys: pinnedKeys(values["seat-key"]),
    scribeKeys: pinnedKeys(values["scribe-key"]),
    receipts: await Promise.all(values.receipt.map(bytes)),
  };
  const required = Boolean(values["require-log"] || values.proof.length);
  if (required && values["log-policy"] === undefined) throw new Error("--proof and --require-log need --log-policy");
  const policy = values["log-policy"] === undefined ? null : await parsePolicy(await readFile(values["log-policy"], "latin1"));
  const given = await Promise.all(values.proof.map(bytes));
  let exit = 0;
  for (const path of positionals) {
    const proofs = given.length || !policy ? given : await beside(path);
    const report = await auditAny(await bytes(path), { ...pins, log: policy && new LogCheck(policy, proofs, required) });
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
