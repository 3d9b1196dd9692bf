// The workers that check files, as the gateway's pages start them; in the page that is one file the first is part of the file.

const ADDRESS = "/static/auditor.mjs";
const WITH_RULES = "/static/rules_auditor.mjs";

// Browsers with trusted types start only a worker whose address a named policy has let through.
const policy = globalThis.trustedTypes?.createPolicy("auditor", {
  createScriptURL: (url) => {
    if (url !== ADDRESS && url !== WITH_RULES) throw new TypeError(url);
    return url;
  },
});

const started = (address) => new Worker(policy ? policy.createScriptURL(address) : address, { type: "module" });

export const startAuditor = () => started(ADDRESS);
export const startRulesAuditor = () => started(WITH_RULES);
