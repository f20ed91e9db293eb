// A bundle would build the descriptors of all messages at every start. In src/wire/proto-files.ts each stands behind a function
// already; here its import moves into that function too.
import { readFileSync } from "node:fs";

const IMPORT = /^import \{([^}]*)\} from "([^"]+)";$/gm;
const GETTER = /\(\) => (file_\w+)/g;

/** esbuild plugin: generated files are evaluated when they are asked for. */
export const deferredFiles = {
  name: "deferred-files",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]wire[\\/]proto-files\.ts$/ }, ({ path }) => {
      const origins = new Map();
      const text = readFileSync(path, "utf8").replace(IMPORT, (_, names, from) => {
        for (const name of names.split(",")) if (name.trim() !== "") origins.set(name.trim(), from);
        return "";
      });
      const contents = text.replace(GETTER, (_, name) => `() => require(${JSON.stringify(origins.get(name))}).${name}`);
      return { contents, loader: "ts" };
    });
  },
};
