// A bot in JavaScript: takes the first move of the list that buys, builds or places, otherwise the last.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { hello, turn } = JSON.parse(line);
  if (hello) {
    console.log(JSON.stringify({ name: "first builder" }));
  } else if (turn) {
    const better = turn.texts.findIndex((text) => /^(buy|build|place) /.test(text));
    console.log(JSON.stringify({ move: better < 0 ? turn.texts.length - 1 : better }));
  }
}
