// boardgame.io's own clients, one for each match, over its socket.io transport.
//
// node client.cjs ADDRESS MATCHES reads lines such as {"matches":[0,1],"times":40}: each of these matches gets so many
// moves, each made when the one before has come back from the server. Prints a line: {"seconds":…,"trips":[…]}.

process.env.NODE_ENV = "production";
const print = console.log;
console.log = console.info = console.error = () => {};

const { createInterface } = require("node:readline");
const { Client } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");
const { game } = require("./game.cjs");

const [address, matches] = process.argv.slice(2);

class Match {
  constructor(number) {
    this.client = Client({
      game,
      numPlayers: 1,
      playerID: "0",
      matchID: `match-${number}`,
      debug: false,
      multiplayer: SocketIO({ server: address }),
    });
    this.waiting = null;
    this.client.subscribe((state) => this.seen(state));
  }

  seen(state) {
    if (this.waiting !== null && state !== null && state.G.laid >= this.waiting.laid) {
      const { done } = this.waiting;
      this.waiting = null;
      done();
    }
  }

  until(laid) {
    return new Promise((done) => {
      this.waiting = { laid, done };
      this.seen(this.client.getState());
    });
  }

  async begin() {
    this.client.start();
    await this.until(0);
  }

  async once() {
    const { laid } = this.client.getState().G;
    const there = this.until(laid + 1);
    this.client.moves.lay("tower-8-NES", laid % 109, laid % 53);
    await there;
  }

  async play(times, trips) {
    for (let time = 0; time < times; time++) {
      const start = performance.now();
      await this.once();
      trips.push((performance.now() - start) / 1000);
    }
  }
}

async function main() {
  const all = Array.from({ length: Number(matches) }, (_, number) => new Match(number));
  await Promise.all(all.map((match) => match.begin()));
  print("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const { matches: asked, times } = JSON.parse(line);
    const trips = [];
    const start = performance.now();
    await Promise.all(asked.map((number) => all[number].play(times, trips)));
    print(JSON.stringify({ seconds: (performance.now() - start) / 1000, trips }));
  }
  process.exit(0);
}

main();
