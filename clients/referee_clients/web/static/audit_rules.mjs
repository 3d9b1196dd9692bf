// The rules of a file's game, too: checked on request by this program's own auditor, in a worker that runs Python.

import { inEnglish, isEnglish, paragraph } from "./finding.mjs";
import { failureWords, findingLines } from "./verdict.mjs";
import { firstPlayer, w } from "./words.mjs";
import { startRulesAuditor } from "./worker.mjs";

const MOST_TO_LOAD_S = 300;
const MOST_S = 120;

const field = (id) => document.getElementById(id);
const button = field("rules-check");
const report = field("rules-report");
/** The file whose signatures were checked last. */
let file = null;
/** Whether the reader waits for an answer: a key that is typed meanwhile has all of it checked again. */
let isWanted = false;
let worker = null;
let timer = null;

const show = (tone, headline, ...lines) => report.replaceChildren(paragraph(headline, `judged ${tone}`), ...lines.map((line) => paragraph(line)));

const stop = () => {
  worker?.terminate();
  clearTimeout(timer);
  worker = null;
};

const end = (...words) => {
  isWanted = button.disabled = false;
  show(...words);
};

const giveUp = (words) => {
  stop();
  end("bad", words);
};

const fail = (message) => giveUp(w("audit.failed", { message }));

const stopAfter = (s, key) => {
  clearTimeout(timer);
  timer = setTimeout(() => giveUp(w(key, { s })), s * 1000);
};

const KEPT = new Set(["COMPLETE"]);
const OPEN = new Set(["PREFIX", "UNTRUSTED_KEY", "UNSUPPORTED", "UNDISCLOSED"]);

/** A text that came with its key and what is in its places; what is none, as it is. */
const said = (part) => (part instanceof Object ? w(part.key, Object.fromEntries(Object.entries(part.places).map(([name, each]) => [name, said(each)]))) : part);

/** Who sat where, where draws come from, and what certificates come to. */
const saidLines = ({ chance, seats, certificates }) => [
  said(chance),
  ...seats.map(({ seat, how, key }) => `${firstPlayer(seat)}: ${how.map(said).join("")} ${key}`.trimEnd()),
  ...(certificates ? [w("audit.certificates", { what: said(certificates) })] : []),
];

/** What the command says below its verdict, in English; in other languages as much of it as the page has words for. */
const linesOf = (name, { lines, said: parts, report: found }) => {
  if (isEnglish) return lines.slice(1);
  const { layers, rules, entries, signed_entries: covered, places, scores, comments } = found.audit ?? found;
  const findings = layers.flatMap(({ finding }) => (finding ? [finding] : []));
  return [
    ...findings.flatMap((finding) => findingLines(finding, [finding.what, finding.expected && `expected ${finding.expected}`].filter(Boolean).join("; "))),
    ...(found.broken ?? []).map(inEnglish),
    w("verify.what", { name, rules: rules ? `${rules.id} ${rules.version}` : "?", entries, covered }),
    ...(parts ? saidLines(parts) : []),
    ...(places.length ? [w("entry.end", { places: places.join(", "), scores: scores.join(", ") || "–" })] : []),
    ...comments.map(inEnglish),
  ];
};

const told = (name, found, hasKey) => {
  if (found.error) return fail(found.error);
  const { verdict } = found;
  const headline = verdict === "UNTRUSTED_KEY" && !hasKey ? w("audit.no_key") : w(`audit.verdict.${verdict}`);
  end(KEPT.has(verdict) ? "good" : OPEN.has(verdict) ? "open" : "bad", headline, ...linesOf(name, found));
};

const check = async () => {
  const checked = file;
  button.disabled = true;
  const key = field("key").value.trim();
  try {
    const receipts = await Promise.all(Array.from(field("receipts").files, async (each) => new Uint8Array(await each.arrayBuffer())));
    const bytes = new Uint8Array(await checked.arrayBuffer());
    if (checked !== file) return; // it is checked again when its signatures are
    show("open", w(worker ? "audit.checking" : "audit.loading", { name: checked.name }));
    stopAfter(MOST_TO_LOAD_S, "audit.too_slow");
    worker ??= startRulesAuditor();
    worker.onmessage = ({ data }) => {
      if ("error" in data) return fail(failureWords(data));
      if (data.isLoaded) {
        show("open", w("audit.checking", { name: checked.name }));
        return stopAfter(MOST_S, "audit.too_long");
      }
      clearTimeout(timer);
      if (checked === file) told(checked.name, data.found, key !== "");
    };
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || w("audit.no_worker"));
    };
    worker.postMessage({ file: bytes, key, seats: field("seats").value, receipts });
  } catch (error) {
    fail(error.message);
  }
};

document.addEventListener("judging", () => {
  if (isWanted) stop(); // what it is at is of no use any more
  file = null;
  report.replaceChildren(paragraph(w("audit.first")));
});
document.addEventListener("judged", ({ detail }) => {
  file = detail;
  button.disabled = false;
  report.replaceChildren(paragraph(w("audit.nothing")));
  if (isWanted) check();
});
button.addEventListener("click", () => {
  isWanted = true;
  if (file) check();
});
