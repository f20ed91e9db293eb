// The client library of engines loads its SSH client, with native parts, before anybody asks for it. Engines are asked by a
// socket or by HTTP here, so the bundle leaves it out.
import { readFileSync } from "node:fs";

const EAGER = "ssh = require('./ssh'),";
const NONE = "ssh = undefined,";

/** esbuild plugin for docker-modem. */
export const withoutSsh = {
  name: "without-ssh",
  setup(build) {
    build.onLoad({ filter: /[\\/]docker-modem[\\/]lib[\\/]modem\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes(EAGER)) throw new Error(`${path} no longer holds: ${EAGER}`);
      return { contents: text.replace(EAGER, NONE), loader: "js" };
    });
  },
};
