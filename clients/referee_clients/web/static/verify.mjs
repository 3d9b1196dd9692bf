// Verifying the file of a game or of an event: it is read and checked here, in a worker that may be stopped, and sent nowhere.

import { paragraph } from "./finding.mjs";
import { failureWords, verdictWords } from "./verdict.mjs";
import { w } from "./words.mjs";
import { startAuditor } from "./worker.mjs";

const MOST_S = 60;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_OF_RECEIPT = 64 * 1024;

const field = (id) => document.getElementById(id);
const report = field("report");
let worker = null;
let timer = null;

const stop = () => {
  worker?.terminate();
  clearTimeout(timer);
  worker = null;
};

const show = (tone, headline, ...lines) => report.replaceChildren(paragraph(headline, `judged ${tone}`), ...lines.map((line) => paragraph(line)));

const told = (name, found, hasKey) => {
  const { tone, headline, lines } = verdictWords(name, found, hasKey);
  show(tone, headline, ...lines);
};

/** The bytes of a file; how many they are is looked at before any is read. */
const bytesOf = async (file, most) => {
  if (file.size > most) throw new Error(w("verify.too_large", { name: file.name, size: file.size, most }));
  return new Uint8Array(await file.arrayBuffer());
};

/** What the last check was made with, of what a reader types. */
let typed = "";
const typing = () => JSON.stringify([field("key").value.trim(), field("seats").value.trim()]);

const verify = async (file) => {
  stop();
  typed = typing();
  document.dispatchEvent(new CustomEvent("judging"));
  if (!globalThis.crypto?.subtle) return show("bad", w("verify.insecure"));
  show("open", w("verify.reading", { name: file.name }));
  const [key, seats] = [field("key").value.trim(), field("seats").value];
  timer = setTimeout(() => {
    stop();
    show("bad", w("verify.too_long", { s: MOST_S }));
  }, MOST_S * 1000);
  let auditor = null;
  const fail = (message) => {
    if (worker !== auditor) return; // another file is being checked
    stop();
    show("bad", w("verify.unread", { message }));
  };
  try {
    auditor = worker = startAuditor();
    worker.onmessage = ({ data }) => {
      if (!data.report) return fail(failureWords(data));
      stop();
      told(file.name, data.report, key !== "");
      document.dispatchEvent(new CustomEvent("judged", { detail: file }));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || w("verify.no_worker"));
    };
    // Read here and not there: not every browser lets the worker of a page that is a file read others.
    const receipts = await Promise.all(Array.from(field("receipts").files, (each) => bytesOf(each, MOST_OF_RECEIPT)));
    auditor.postMessage({ file: await bytesOf(file, MOST_BYTES), key, seats, receipts });
  } catch (error) {
    fail(error.message);
  }
};

const again = () => field("file").files.length && verify(field("file").files[0]);
field("form").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["file", "receipts"]) field(id).addEventListener("change", again);
// A field that was left as it was checked changes nothing, and must not move what is about to be clicked on.
for (const id of ["key", "seats"]) field(id).addEventListener("change", () => typing() !== typed && again());
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (!event.dataTransfer.files.length) return;
  field("file").files = event.dataTransfer.files;
  again();
});
again(); // a file may have been chosen before this ran
