export * from "./client-network.ts";
/** Text for terminals and shells. */
export * from "./printable.ts";
export * from "./shell-word.ts";
export * from "./space.ts";
export * from "./table.ts";
