// "Check this event": its log is fetched again and checked from its first byte, beside the page.

import { h } from "../dom.mjs";
import { paragraph } from "../finding.mjs";
import { bytes } from "../gateway.mjs";
import { failureWords, verdictWords } from "../verdict.mjs";
import { startAuditor } from "../worker.mjs";
import { w } from "../words.mjs";
import { KEY } from "./view.mjs";

const MOST_S = 60;

/** What an auditor says of a file; an Error if it says nothing. */
const audited = (file) =>
  new Promise((done, fail) => {
    const worker = startAuditor();
    const end = (finish, value) => {
      clearTimeout(timer);
      worker.terminate();
      finish(value);
    };
    const timer = setTimeout(() => end(fail, new Error(w("verify.too_long", { s: MOST_S }))), MOST_S * 1000);
    worker.onmessage = ({ data }) => (data.report ? end(done, data.report) : end(fail, new Error(w("verify.unread", { message: failureWords(data) }))));
    worker.onerror = (event) => {
      event.preventDefault();
      end(fail, new Error(w("verify.no_worker")));
    };
    worker.postMessage({ file, key: KEY, seats: "", receipts: [] });
  });

/** The panel. `id`: of the event's log. */
export const check = (id) => {
  const said = h("div", { role: "status", class: "checked" });
  const button = h("button", { type: "button", onclick: () => run() }, w("event.check"));
  const say = (tone, headline, ...lines) => said.replaceChildren(h("p", { class: `judged ${tone}` }, headline), ...lines.map((line) => paragraph(line)));

  const run = async () => {
    button.disabled = true;
    say("open", w("verify.reading", { name: `${id}.eventlog` }));
    try {
      const { tone, headline, lines } = verdictWords(`${id}.eventlog`, await audited(await bytes(`/games/${id}/log`)), true);
      say(tone, headline, ...lines);
    } catch (error) {
      say("bad", error.message || w("home.away"));
    } finally {
      button.disabled = false;
    }
  };
  return h("div", {}, h("p", {}, w("event.check.about")), h("div", { class: "buttons" }, button), said);
};
