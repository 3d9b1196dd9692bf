#!/usr/bin/env node
// Writes index.html: the gateway's page for files as one file, which needs no server. A page that is opened from a file may
// import no modules, so they stand in it: those of the worker as text, those of the page as its one script.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";

const VERIFIER = ["bytes", "ed25519", "wire", "schema", "frames", "note", "deck", "entries", "authors", "audit", "report"];
const EVENTS = ["event_schema", "event_terms", "event_state", "event_points", "event_pairing", "event_rules", "event", "event_audit"];
const GATEWAY = "../referee_clients/web/static/";

const here = (name) => new URL(name, import.meta.url);
const text = (name) => readFile(here(name), "utf-8");
const plain = async (name) => (await text(`${name}.mjs`)).replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");
const joined = async (names) => (await Promise.all(names.map(plain))).join("\n");
const escaped = (words) => words.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);

/** One place of a text, replaced; a text without it is not what this was written for. */
const put = (whole, place, part) => {
  if (whole.split(place).length !== 2) throw new Error(`expected ${place} once`);
  return whole.replace(place, () => part);
};

const all = JSON.parse(await text("../../referee/text/words/en/web.json"));
// Of findings it has the auditor's own words, which are English, too.
const words = Object.fromEntries(Object.entries(all).filter(([key]) => key.startsWith("verify.")));

const auditor = await joined([...VERIFIER, ...EVENTS, `${GATEWAY}auditor`]);
const catalogue = put(await plain(`${GATEWAY}words`), 'JSON.parse(document.getElementById("words").textContent)', JSON.stringify(words, null, 1));
const starting = "const startAuditor = () => new Worker(URL.createObjectURL(new Blob([document.getElementById(\"auditor\").textContent], { type: \"text/javascript\" })));\n";
const script = `\n${[catalogue, starting, await plain(`${GATEWAY}finding`), await plain(`${GATEWAY}verdict`), await plain(`${GATEWAY}verify`)].join("\n")}`;

const page = await text("page.html");
const style = /<style>(.*?)<\/style>/s.exec(page)[1];
const hash = (part) => `'sha256-${createHash("sha256").update(part).digest("base64")}'`;
// It can ask nobody for anything, and so tell nobody anything.
const csp = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; worker-src blob:; base-uri 'none'; form-action 'none'`;

const filled = page.replace(/\{((?:title|verify)\.[\w.]+)\}/g, (_, key) => escaped(all[key]));
await writeFile(here("index.html"), [["{csp}", csp], ["/* auditor */", auditor.trimEnd()], ["/* page */", script]].reduce((made, [place, part]) => put(made, place, part), filled));
