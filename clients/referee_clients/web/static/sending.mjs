// Messages to the gateway: acts, questions with a body, what needs a token.

import { API, read } from "./gateway.mjs";

/** The answer to what is sent: bytes as they are, anything else as JSON; with a token, or without one. Throws Refused. */
export const post = (path, body, token = "") => {
  const isBytes = body instanceof Uint8Array;
  const headers = { "Content-Type": isBytes ? "application/x-protobuf" : "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  return read(API + path, "json", { method: "POST", headers, body: isBytes ? body : JSON.stringify(body) });
};
