// The library that reads command lines loads `node:child_process`, and with it the network's modules, for commands in
// files of their own, which we do not have. In the bundle it gets them only when it asks.
import { readFileSync } from "node:fs";

const EAGER = "const childProcess = require('node:child_process');";
const LAZY = "const childProcess = { spawn: (...args) => require('node:child_process').spawn(...args) };";

/** esbuild plugin for commander. */
export const lazySpawn = {
  name: "lazy-spawn",
  setup(build) {
    build.onLoad({ filter: /[\\/]commander[\\/]lib[\\/]command\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes(EAGER)) throw new Error(`${path} no longer holds: ${EAGER}`);
      return { contents: text.replace(EAGER, LAZY), loader: "js" };
    });
  },
};
