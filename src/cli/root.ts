import type { CommandSpec } from "./spec.ts";

/**
 * The first words of the command line. Each group's table is loaded when its word is met, so that a command never pays
 * for the others.
 */
export const ROOT: CommandSpec = {
  name: "svc",
  summary: "A marketplace for container capacity on its own blockchain: node, client and provider in one command.",
  example: "svc localnet --deploy examples/web.yaml",
  commands: async () => [
    {
      name: "keys",
      summary: "Manage the keys of your accounts",
      commands: async () => (await import("./keys-commands.ts")).KEYS_COMMANDS,
    },
    {
      name: "sdl",
      summary: "Check deployment files",
      commands: async () => (await import("./sdl-commands.ts")).SDL_COMMANDS,
    },
    { name: "version", summary: "Print the version", load: async () => (await import("./version.ts")).version },
  ],
};
