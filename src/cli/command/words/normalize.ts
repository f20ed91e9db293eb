import { append } from "../../../util/index.ts";
import type { CommandSpec } from "../spec.ts";

/**
 * Switches of all commands. Flags may come before the words of the command (`svc --node N query bank balances A`),
 * where the command they belong to is not yet known; every flag that is not listed here takes the next word. A test
 * compares the list with the command tree.
 */
export const SWITCHES: ReadonlySet<string> = new Set([
  "-d",
  "-f",
  "-h",
  "-i",
  "-n",
  "-p",
  "-t",
  "-x",
  "-y",
  "--address",
  "--allow-unknown",
  "--amino",
  "--api.enable",
  "--api.enabled-unsafe-cors",
  "--instrumentation.prometheus",
  "--append",
  "--check",
  "--check-invariants",
  "--clean",
  "--cluster-k8s",
  "--cluster-local-images",
  "--cluster-orch",
  "--commission",
  "--count-total",
  "--delayed",
  "--deployment-ingress-static-hosts",
  "--device",
  "--dry-run",
  "--estimate",
  "--for-zero-height",
  "--force",
  "--generate-only",
  "--hard",
  "--help",
  "--hex",
  "--ingress-loopback-ports",
  "--ingress-tls-redirect",
  "--interactive",
  "--keep",
  "--ledger",
  "--legacy",
  "--list-names",
  "--log-no-color",
  "--log_no_color",
  "--long",
  "--new",
  "--no-auto-increment",
  "--no-backup",
  "--nosort",
  "--offline",
  "--open-only",
  "--overwrite",
  "--page-count-total",
  "--page-reverse",
  "--previous",
  "--recover",
  "--reopen",
  "--reverse",
  "--rie",
  "--signature-only",
  "--single-host",
  "--single-machine",
  "--skip-signature-verification",
  "--split",
  "--stdin",
  "--timestamps",
  "--to-genesis",
  "--trace",
  "--tty",
  "--unarmored-hex",
  "--undo",
  "--unordered",
  "--unsafe",
  "--unsafe-entropy",
  "--wait",
  "--watch",
  "--yes",
]);

/** Flags that are a switch for some commands and take a value for others. */
export const AMBIGUOUS: ReadonlySet<string> = new Set(["--follow", "--pubkey", "-a", "-o"]);

/** Words that name a command, the command found, and the rest of the command line with early flags moved to the end. */
export interface Resolved {
  readonly path: readonly CommandSpec[];
  readonly rest: readonly string[];
  /** The word that the group at the end of the path does not know. */
  readonly unknown?: string;
}

/**
 * Finds the command that the words name. Flags between or before its words are moved after them; the words after the
 * command do not change.
 */
export async function resolveCommand(root: CommandSpec, argv: readonly string[]): Promise<Resolved> {
  const path: CommandSpec[] = [root];
  const early: string[] = [];
  let at = 0;
  let children = await root.commands?.();
  let unknown: string | undefined;
  while (at < argv.length && children !== undefined) {
    const word = argv[at] ?? "";
    if (word === "--") break;
    if (word.startsWith("-") && word !== "-") {
      const size = takesNext(word, argv[at + 1], children) ? 2 : 1;
      append(early, argv.slice(at, at + size));
      at += size;
      continue;
    }
    const next = childOf(children, word);
    if (next === undefined) {
      unknown = word;
      break;
    }
    path.push(next);
    children = await next.commands?.();
    at += 1;
  }
  return { path, rest: [...early, ...argv.slice(at)], ...(unknown === undefined ? {} : { unknown }) };
}

function childOf(children: readonly CommandSpec[], word: string): CommandSpec | undefined {
  return children.find((each) => each.name === word || each.aliases?.includes(word) === true);
}

/**
 * Whether the word after a flag is its value. A flag that may be a switch does not take a word that names a command.
 */
function takesNext(flag: string, next: string | undefined, children: readonly CommandSpec[]): boolean {
  const last = lastName(flag);
  if (last === undefined || SWITCHES.has(last)) return false;
  return !AMBIGUOUS.has(last) || next === undefined || childOf(children, next) === undefined;
}

/**
 * The flag in a word, if the next word may be its value: none when the value is in the same word, as in `--gas=1`,
 * `-a12` or `-yojson`.
 */
function lastName(word: string): string | undefined {
  if (word.includes("=")) return undefined;
  if (word.startsWith("--")) return word;
  const letters = word.slice(1).split("");
  const at = letters.findIndex((letter) => !SWITCHES.has(`-${letter}`));
  const last = at < 0 ? letters.length - 1 : at;
  return last < letters.length - 1 ? undefined : `-${letters[last]}`;
}
