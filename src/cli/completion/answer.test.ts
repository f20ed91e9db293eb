import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliChain, cliChain } from "../../../test/cli/chain.ts";
import { runCli } from "../../../test/cli/run.ts";
import { thorough } from "../../../test/support/runs.ts";
import { allFlags } from "../command/command-line.ts";
import type { CommandSpec } from "../command/spec.ts";
import { ROOT } from "../root.ts";
import { ARGUMENTS, FLAGS } from "./values.ts";

/** The words that completion offers after a command line; the last word is the one at the cursor. */
async function offered(line: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { code, out, err } = await runCli(["__complete", ...line.split(" ")], { env });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out
    .split("\n")
    .slice(0, -1)
    .map((row) => row.split("\t")[0] ?? "");
}

const GLOBAL = "--chain-id --home --profile --log_format --log_level --trace --help";
const ROWS: readonly (readonly [string, string])[] = [
  ["que", "query"],
  ["query ba", "bank"],
  ["q bank supp", "supply-of"],
  ["--node N q --height 5 bank supp", "supply-of"],
  ["--node tcp : //localhost : 26657 q bank supp", "supply-of"],
  ["--trace keys sh", "show"],
  ["keys -a sh", "show"],
  ["keys -o json sh", "show"],
  ["-a ke", "keys"],
  ["deploy web.yaml p", ""],
  ["deploy p", "ps :files"],
  ["keys show -o ", "text json"],
  ["keys show -o j", "json"],
  ["tx sign -a 12 m", ":files"],
  ["tx sign file.json m", ""],
  ["tx multisign file.json group m", ":files"],
  ["tx multisign file.json group a.json m", ":files"],
  ["tx bank send --broad", "--broadcast-mode"],
  ["tx bank send -b ", "sync async block"],
  ["tx bank send -b block --gen", "--generate-only"],
  ["tx bank send -y --gen", "--generate-only"],
  ["tx bank send --memo --offline --gen", "--generate-only"],
  ["tx bank send --broadcast-mode=as", "--broadcast-mode=async"],
  ["tx bank send --nonsense=as", ""],
  ["keys show --bech v", "val"],
  ["--log_level ", "trace debug info warn error fatal panic"],
  ["init -o ", ""],
  ["completion ", "bash zsh fish"],
  ["help cert", "certificates"],
  ["nonsense ", ""],
  ["keys show -- -", ""],
  ["tx bank send my", ""],
  ["--home f", ":directories"],
  ["tx sign --home=f", ":directories"],
  ["keys add a --source m", ":files"],
  ["keys migrate ", ":directories"],
  ["deploy shell web ", ""],
  ["--", GLOBAL],
];

describe("the answer to a completion script", () => {
  test.each(ROWS)("svc %s", async (line, words) => {
    expect((await offered(line)).join(" ")).toBe(words);
  });

  test("has only the value where bash has split the word", async () => {
    expect(await offered("tx bank send --broadcast-mode = as")).toEqual(["async"]);
    expect(await offered("tx bank send --broadcast-mode =")).toEqual(["sync", "async", "block"]);
    expect(await offered("tx bank send --sign-mode = direct --gen")).toEqual(["--generate-only"]);
  });

  test("has no words for a broken client.toml, node or keyring", async () => {
    const home = mkdtempSync(join(tmpdir(), "svc-completion-"));
    try {
      await runCli(["config", "set", "node", "tcp://localhost:1", "--home", home]);
      writeFileSync(join(home, "keyring-test"), "");
      const flags = `--home ${home} --keyring-backend test`;
      expect(await offered(`tx deployment update ${flags} --dseq `)).toEqual([]);
      expect(await offered(`tx deployment update ${flags} --from `)).toEqual([]);
      writeFileSync(join(home, "config", "client.toml"), "no toml");
      expect(await offered(`tx deployment update ${flags} --from `)).toEqual([]);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  thorough(() =>
    test("knows every group's commands and every command's flags", async () => {
      let places = 0;
      const visit = async (spec: CommandSpec, place: readonly string[]): Promise<void> => {
        const children = (await spec.commands?.()) ?? [];
        places += 1;
        const words = await offered([...place, ""].join(" "));
        expect({ place, words }).toMatchObject({ words: expect.arrayContaining(children.map(({ name }) => name)) });
        const flags = allFlags(spec).flatMap(({ name, hidden }) => (hidden === true ? [] : [`--${name}`]));
        const dashes = await offered([...place, "-"].join(" "));
        expect({ place, dashes }).toMatchObject({ dashes: expect.arrayContaining([...flags, "--help", "-h"]) });
        for (const child of children) await visit(child, [...place, child.name]);
      };
      await visit(ROOT, []);
      expect(places).toBeGreaterThan(250);
    }),
  );

  test("has a command for every row of its tables", async () => {
    const forms = new Set<string>();
    const visit = async (spec: CommandSpec, place: readonly string[]): Promise<void> => {
      for (const { name } of spec.flags ?? []) forms.add(name);
      for (const form of spec.args?.split(" ") ?? []) forms.add(form).add([...place, form].join(" "));
      for (const child of (await spec.commands?.()) ?? []) await visit(child, [...place, child.name]);
    };
    await visit(ROOT, []);
    expect([...Object.keys(FLAGS), ...Object.keys(ARGUMENTS)].filter((form) => !forms.has(form))).toEqual([]);
  });
});

thorough(() =>
  describe("completion with a keyring and a node", () => {
    let chain: CliChain;
    let env: Readonly<Record<string, string>>;

    beforeAll(async () => {
      chain = await cliChain("alice", "alfred", "bob");
      env = { SVC_HOME: chain.home, SVC_KEYRING_BACKEND: "test", SVC_NODE: chain.node };
      const provider = join(chain.home, "provider.yaml");
      writeFileSync(provider, "host: https://localhost:8443\n");
      await chain.tx("provider", "create", provider, "--from", "bob");
      for (const from of ["alice", "bob"]) await chain.tx("cert", "create", "client", "--from", from);
      await chain.tx("deployment", "create", "examples/web.yaml", "--dseq", "11", "--from", "alice");
      await chain.tx("deployment", "create", "examples/web.yaml", "--dseq", "12", "--from", "alice");
      await chain.tx("deployment", "create", "examples/web.yaml", "--dseq", "13", "--from", "bob");
      await chain.tx("deployment", "close", "--dseq", "11", "--from", "alice");
    });
    afterAll(() => chain.stop());

    test("offers names of keys", async () => {
      expect(await offered("tx bank send --from a", env)).toEqual(["alfred", "alice"]);
      expect(await offered("tx bank send ", env)).toEqual(["alfred", "alice", "bob"]);
      expect(await offered("keys show b", env)).toEqual(["bob"]);
      expect(await offered("keys show alice b", env)).toEqual(["bob"]);
      expect(await offered("keys add a", env)).toEqual([]);
      expect(await offered("keys show --keyring-backend file ", env)).toEqual([]);
    });

    test("offers numbers of deployments", async () => {
      const alice = chain.addresses.alice ?? "";
      expect(await offered(`query deployment get --owner ${alice} --dseq `, env)).toEqual(["12", "11"]);
      expect((await offered("deploy logs --dseq 1", env)).toSorted()).toEqual(["11", "12", "13"]);
      const { out } = await runCli(["__complete", "query", "deployment", "get", "--owner", alice, "--dseq", ""], {
        env,
      });
      expect(out).toBe("12\tactive\n11\tclosed\n");
    });

    test("offers providers", async () => {
      const bob = chain.addresses.bob ?? "";
      expect(await offered("query provider get ", env)).toEqual([bob]);
      const { out } = await runCli(["__complete", "provider", "lease-status", "--provider", ""], { env });
      expect(out).toBe(`${bob}\thttps://localhost:8443\n`);
    });
  }),
);
