import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type CliChain, cliChain } from "../../../test/cli/chain.ts";
import { runCli } from "../../../test/cli/run.ts";
import { type Answer, runTerminal } from "../../../test/cli/terminal.ts";
import keySessions from "../../../test/vectors/tty-sdk042.json" with { type: "json" };
import txSessions from "../../../test/vectors/tty-tx-sdk042.json" with { type: "json" };
import { encodeBech32, parseBech32 } from "../../wire/index.ts";
import { txGroups } from "../autocli/groups.ts";

/** Sessions at a terminal as they were recorded with the reference tool, typed again. */

interface Session {
  readonly title: string;
  readonly args: readonly string[];
  readonly answers: readonly (readonly string[])[];
  readonly terminal: string;
}

const home = mkdtempSync(join(tmpdir(), "svc-terminal-"));
afterAll(() => rmSync(home, { recursive: true }));

const answersOf = ({ answers }: Session): Answer[] => answers.map(([prompt = "", text = ""]) => ({ prompt, text }));

/** Replaces parts that differ from run to run, and drops the reference's usage text after an error. */
function comparable(screen: string): string {
  return screen
    .replaceAll("\r\n", "\n")
    .replace(/^(Error: .*\n)(?:.|\n)*$/m, "$1")
    .replace(/^(?:[a-z]{3,8} ){23}[a-z]{3,8}$/gm, "PHRASE")
    .replace(/(?:cosmos|svc)(?:valoper)?1[a-z0-9]{38}/g, "ADDRESS")
    .replace(/(?:cosmos|svc)pub1[a-z0-9]+/g, "PUBKEY")
    .replace(/[0-9A-F]{64}/g, "HASH");
}

/** Later sessions use the keys of earlier ones. */
const IN_ORDER = { shuffle: false };

describe("keys at a terminal", IN_ORDER, () => {
  test.each(keySessions as readonly Session[])("$title", async (session) => {
    const args = session.args.map((word) => (word === "./hp" ? home : word));
    const { code, screen } = await runTerminal(args, answersOf(session), { SVC_PROFILE: "cosmos" });
    expect(code).toBe(session.terminal.includes("Error: ") ? 1 : 0);
    const recorded = comparable(session.terminal);
    // An armor has different bytes each time.
    const armor = /(?<=salt: )[^-]*(?=-----END)/g;
    expect(comparable(screen).replace(armor, "")).toBe(recorded.replace(armor, ""));
  });
});

describe("transactions at a terminal", IN_ORDER, () => {
  const groups = new Set(txGroups().map(({ name }) => name));
  const known = (txSessions as readonly Session[]).filter(({ args }) => groups.has(args[1] ?? ""));
  let chain: CliChain | undefined;
  afterAll(() => chain?.stop());

  async function dora(): Promise<CliChain> {
    if (chain !== undefined) return chain;
    chain = await cliChain("bank");
    const passphrase = "pty-passphrase\npty-passphrase\n";
    const file = ["--keyring-backend", "file"];
    const added = await runCli(["keys", "add", "dora", "-o", "json", "--home", home, ...file], {
      input: passphrase,
      env: { SVC_KEYRING_DIR: join(chain.home, "dora") },
    });
    await chain.tx("bank", "send", "bank", JSON.parse(added.out).address, "100000000utoken,10stake");
    return chain;
  }

  test.each(known)("$title", async (session) => {
    const { home: chainHome, node, addresses } = await dora();
    const words = session.args.map((word) => {
      if (word.startsWith("cosmos1")) return addresses.bank ?? "";
      if (word.startsWith("cosmosvaloper1")) return encodeBech32(parseBech32(word).bytes, "svcvaloper");
      if (word === "500stake") return "5000utoken";
      if (word === "./hp") return chainHome;
      if (word === "vec-1") return "cli-test-1";
      return word.startsWith("tcp:") ? node : word;
    });
    // Transaction results are JSON unless asked otherwise; this reference printed what its configuration file said.
    const { code, screen } = await runTerminal(words, answersOf(session), {
      SVC_KEYRING_DIR: join(chainHome, "dora"),
      SVC_OUTPUT: "text",
    });
    expect(code).toBe(0);
    const recorded = comparable(session.terminal)
      .replaceAll("/cosmos.", "/sdk.")
      .replace('"denom":"stake","amount":"500"', '"denom":"utoken","amount":"5000"');
    // The reference leaves it to the user to know that the transaction is not in a block yet.
    expect(comparable(screen).replace(/^not in a block yet; .*\n/m, "")).toBe(recorded);
  });
});
