// boardgame.io's own server, with its storage in memory. Prints where it listens.

process.env.NODE_ENV = "production";
delete process.env.FLATFILE_DIR; // otherwise its storage is not the one in memory
// It says every move on the console; the referee's own events go nowhere either while it is measured.
const print = console.log;
console.log = console.info = console.error = () => {};

const { Server } = require("boardgame.io/server");
const { game } = require("./game.cjs");

const server = Server({ games: [game], origins: [] });
server
  .run({ port: { host: "127.0.0.1", port: 0 } })
  .then(({ appServer }) => print(`listening on 127.0.0.1:${appServer.address().port}`));
