// The worker that checks files, as the gateway's pages start it; in the page that is one file it is part of the file.

const ADDRESS = "/static/auditor.mjs";

// Browsers with trusted types start only a worker whose address a named policy has let through.
const policy = globalThis.trustedTypes?.createPolicy("auditor", {
  createScriptURL: (url) => {
    if (url !== ADDRESS) throw new TypeError(url);
    return url;
  },
});

export const startAuditor = () => new Worker(policy ? policy.createScriptURL(ADDRESS) : ADDRESS, { type: "module" });
