import * as node from "node:child_process";

/** A program that is waited for holds the whole process of the test, which no time limit of the test runner can end. */
const LIMIT = { timeout: 120_000, killSignal: "SIGKILL" } as const;

/** As Node.js has it, but for two minutes at most unless the options say otherwise. */
export const execFileSync = ((file: string, args: readonly string[], options?: node.ExecFileSyncOptions) =>
  node.execFileSync(file, args, { ...LIMIT, ...options })) as typeof node.execFileSync;

/** As Node.js has it, but for two minutes at most unless the options say otherwise. */
export const spawnSync = ((file: string, args: readonly string[], options?: node.SpawnSyncOptions) =>
  node.spawnSync(file, args, { ...LIMIT, ...options })) as typeof node.spawnSync;
