import { ALWAYS_JSON, TEXT_OUTPUT } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

/** Commands of the group `sdl`. */
export const SDL_COMMANDS: readonly CommandSpec[] = [
  {
    name: "validate",
    args: "<file>",
    summary: "Check a deployment file and list every fault with its place",
    flags: [
      TEXT_OUTPUT,
      { name: "node", value: "<host:port>", summary: "a node; also check that the file can be ordered on its chain" },
    ],
    example: "svc sdl validate examples/web.yaml",
    load: async () => {
      const { sdlValidate, termsOfNode } = await import("./sdl.ts");
      return async ({ args: [file = ""], flags, io }) => {
        const output = flags.text("output") === "json" ? "json" : "text";
        // A node of the environment must not turn a check without a network into one with it.
        const chain = flags.typed("node") ? await termsOfNode({ flags, io }) : undefined;
        return sdlValidate(file, io, { output, ...(chain === undefined ? {} : { chain }) });
      };
    },
  },
  {
    name: "hash",
    args: "<file>",
    summary: "Print the hash of a deployment file's manifest, as the chain stores it",
    flags: [TEXT_OUTPUT],
    example: "svc sdl hash examples/web.yaml",
    load: async () => {
      const { sdlHash } = await import("./sdl.ts");
      return async ({ args: [file = ""], flags, io }) =>
        sdlHash(file, io, { output: flags.text("output") === "json" ? "json" : "text" });
    },
  },
  {
    name: "manifest",
    args: "<file>",
    summary: "Print the manifest of a deployment file, as providers receive it",
    flags: [ALWAYS_JSON],
    example: "svc sdl manifest examples/web.yaml",
    load: async () => {
      const { sdlManifest } = await import("./sdl.ts");
      return async ({ args: [file = ""], io }) => sdlManifest(file, io);
    },
  },
];
