import type { CommandSpec } from "./spec.ts";

/**
 * Switches of all commands. Flags may stand before the words of the command (`svc --node N query bank balances A`), where
 * it is not yet known to which command they belong; every flag that is not listed here takes the word behind it. A test
 * compares the list with the command tree.
 */
export const SWITCHES: ReadonlySet<string> = new Set([
  "-f",
  "-h",
  "-i",
  "-n",
  "-t",
  "-y",
  "--account-only",
  "--address",
  "--amino",
  "--bech32",
  "--check-invariants",
  "--cluster-orch",
  "--count-total",
  "--deployment-ingress-static-hosts",
  "--device",
  "--dry-run",
  "--follow",
  "--force",
  "--generate-only",
  "--help",
  "--interactive",
  "--keep",
  "--ledger",
  "--list-names",
  "--long",
  "--no-backup",
  "--nosort",
  "--offline",
  "--overwrite",
  "--pubkey",
  "--recover",
  "--reopen",
  "--reverse",
  "--rie",
  "--signature-only",
  "--stdin",
  "--to-genesis",
  "--trace",
  "--tty",
  "--unarmored-hex",
  "--unsafe",
  "--yes",
]);

/** Words that name a command, the command found, and the rest of the command line with early flags moved behind. */
export interface Resolved {
  readonly path: readonly CommandSpec[];
  readonly rest: readonly string[];
}

/**
 * Finds the command that the words name. Flags that stand between or before its words are moved behind them; what
 * follows the command stays as it is.
 */
export async function resolveCommand(root: CommandSpec, argv: readonly string[]): Promise<Resolved> {
  const path: CommandSpec[] = [root];
  const early: string[] = [];
  let at = 0;
  let children = await root.commands?.();
  while (at < argv.length && children !== undefined) {
    const word = argv[at] ?? "";
    if (word === "--") break;
    if (word.startsWith("-") && word !== "-") {
      const size = takesNext(word) ? 2 : 1;
      early.push(...argv.slice(at, at + size));
      at += size;
      continue;
    }
    const next = children.find((each) => each.name === word || each.aliases?.includes(word) === true);
    if (next === undefined) break;
    path.push(next);
    children = await next.commands?.();
    at += 1;
  }
  return { path, rest: [...early, ...argv.slice(at)] };
}

function takesNext(flag: string): boolean {
  return !flag.includes("=") && !SWITCHES.has(flag);
}
