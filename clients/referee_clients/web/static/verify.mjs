// Verifying a game's file: it is read and checked here, in a worker that may be stopped, and sent nowhere.

import { h } from "./dom.mjs";
import { w } from "./words.mjs";

const WORKER = "/static/auditor.mjs";
const MOST_S = 60;

// Browsers with trusted types start only a worker whose address a named policy has let through.
const policy = globalThis.trustedTypes?.createPolicy("auditor", {
  createScriptURL: (url) => {
    if (url !== WORKER) throw new TypeError(url);
    return url;
  },
});

const field = (id) => document.getElementById(id);
const report = field("report");
let worker = null;
let timer = null;

const stop = () => {
  worker?.terminate();
  clearTimeout(timer);
  worker = null;
};

const show = (tone, headline, ...lines) =>
  report.replaceChildren(h("p", { class: `judged ${tone}` }, headline), ...lines.map((line) => h("p", {}, line)));

const TONES = { COMPLETE: "good", PREFIX: "open", UNTRUSTED_KEY: "open", UNSUPPORTED: "open", UNDISCLOSED: "open" };

const told = (name, found, hasKey) => {
  const { verdict, entries, covered } = found;
  const headline =
    verdict === "UNTRUSTED_KEY" && !hasKey
      ? w("verify.no_key")
      : verdict === "PREFIX" && entries === 0
        ? w("verify.empty")
        : w(`verify.verdict.${verdict}`, { entries, covered });
  const where = [
    found.entry !== null && w("verify.entry", { n: found.entry }),
    found.offset !== null && w("verify.byte", { n: found.offset }),
  ].filter(Boolean);
  show(
    TONES[verdict] ?? "bad",
    headline,
    ...(verdict === "COMPLETE" ? [] : [[found.message, ...where].join(", ")]),
    w("verify.what", { name, rules: found.rules ?? "?", entries, covered }),
    ...found.remarks,
  );
};

const verify = (file) => {
  stop();
  if (!globalThis.crypto?.subtle) return show("bad", w("verify.insecure"));
  show("open", w("verify.reading", { name: file.name }));
  const key = field("key").value.trim();
  worker = new Worker(policy ? policy.createScriptURL(WORKER) : WORKER, { type: "module" });
  timer = setTimeout(() => {
    stop();
    show("bad", w("verify.too_long", { s: MOST_S }));
  }, MOST_S * 1000);
  worker.onmessage = ({ data }) => {
    stop();
    if (data.report) told(file.name, data.report, key !== "");
    else show("bad", w("verify.unread", { message: data.error }));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    stop();
    show("bad", w("verify.unread", { message: event.message || w("verify.no_worker") }));
  };
  worker.postMessage({ file, key, receipts: [...field("receipts").files] });
};

const again = () => field("file").files.length && verify(field("file").files[0]);
field("form").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["file", "key", "receipts"]) field(id).addEventListener("change", again);
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (!event.dataTransfer.files.length) return;
  field("file").files = event.dataTransfer.files;
  again();
});
