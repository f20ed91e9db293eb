import * as node from "node:child_process";

/** A program that is waited for holds the whole process of the test, which no time limit of the test runner can end. */
const LIMIT = { timeout: 120_000, killSignal: "SIGKILL" } as const;

/** As Node.js has it, but for two minutes at most unless the options say otherwise. */
export const execFileSync = ((file: string, ...rest: [Words | Options, Options?]) =>
  node.execFileSync(file, ...bounded(rest))) as typeof node.execFileSync;

/** As Node.js has it, but for two minutes at most unless the options say otherwise. */
export const spawnSync = ((file: string, ...rest: [Words | Options, Options?]) =>
  node.spawnSync(file, ...bounded(rest))) as typeof node.spawnSync;

/** May be left out, as in Node.js. */
type Words = readonly string[];

type Options = node.ExecFileSyncOptions & node.SpawnSyncOptions;

function bounded([first, second]: [Words | Options, Options?]): [Words, Options] {
  return Array.isArray(first) ? [first, { ...LIMIT, ...second }] : [[], { ...LIMIT, ...first }];
}
