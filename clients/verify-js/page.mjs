#!/usr/bin/env node
// Writes index.html: page.html with the modules in it, as a page that is opened from a file may not import any.

import { readFile, writeFile } from "node:fs/promises";

const MODULES = ["bytes", "crc", "ed25519", "wire", "schema", "frames", "note", "deck", "entries", "authors", "audit", "report"];

const here = (name) => new URL(name, import.meta.url);
const source = async (name) => (await readFile(here(`${name}.mjs`), "utf-8")).replace(/^import .*\n/gm, "").replace(/^export /gm, "");

const verifier = (await Promise.all(MODULES.map(source))).join("\n");
const page = await readFile(here("page.html"), "utf-8");
await writeFile(here("index.html"), page.replace("/* verifier */", () => verifier));
