import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { fromHex } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { type Environment, resolveFlags } from "../command/flags.ts";
import { GLOBAL_FLAGS } from "../command/global-flags.ts";
import type { Io } from "../terminal/io.ts";
import { NODE_COMMANDS } from "./commands.ts";

let home = "";
let out = "";
let err = "";

const io: Io = {
  isTTY: false,
  out: (text) => {
    out += text;
  },
  err: (text) => {
    err += text;
  },
  readLine: () => Promise.reject(new Error("no input")),
  readAll: () => Promise.resolve(""),
  ask: () => Promise.reject(new Error("no input")),
  password: () => Promise.reject(new Error("no input")),
  confirm: () => Promise.resolve(false),
};

beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "svc-cli-node-")), "home");
  out = "";
  err = "";
});

afterEach(() => rmSync(join(home, ".."), { recursive: true }));

/** Runs a command as the command line does. */
async function run(name: string, args: string[], given: Record<string, string | boolean> = {}, env: Environment = {}) {
  const spec = NODE_COMMANDS.find((command) => command.name === name);
  if (spec?.load === undefined) throw new Error(`no command ${name}`);
  const flags = resolveFlags(
    [...GLOBAL_FLAGS, ...(spec.flags ?? [])],
    new Map(Object.entries({ home, ...given })),
    env,
  );
  return (await spec.load())({ args, flags, io });
}

/** Resolves in the turn in which this process begins to listen for the signal: a node that begins may be up in the next one. */
function listener(signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    const hear = (event: string | symbol): void => {
      if (event !== signal) return;
      process.off("newListener", hear);
      resolve();
    };
    process.on("newListener", hear);
  });
}

/** Whatever ports are free. */
const ANY_PORTS = { SVC_RPC_LADDR: "tcp://127.0.0.1:0", SVC_GRPC_ADDRESS: "tcp://127.0.0.1:0" };
const ALICE = encodeAddress(new Uint8Array(20).fill(1));

describe("the commands of a node", () => {
  it("end a node in order that is asked to end while it begins", async () => {
    await run("init", ["tester"], { "chain-id": "svc-cli-1" });
    const before = process.listenerCount("SIGTERM");
    const heard = listener("SIGTERM");
    const running = run("start", [], { log_level: "error" }, ANY_PORTS);
    await heard;
    expect(out).toBe("");
    process.emit("SIGTERM");
    expect(await running).toBe(0);
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });

  it("make a home, fill it, run it, and export its state", async () => {
    await run("init", ["tester"], { "chain-id": "svc-cli-1" });
    expect(out).toBe("");
    expect(Object.keys(JSON.parse(err))).toEqual(["app_message", "chain_id", "gentxs_dir", "moniker", "node_id"]);
    err = "";
    await run("add-genesis-account", [ALICE, "7stake,1000utoken"]);
    await run("validate-genesis", []);
    expect(out).toBe(`File at ${join(home, "config", "genesis.json")} is a valid genesis file\n`);
    out = "";
    const running = run("start", [], { "block-interval": "100ms", log_level: "error" }, ANY_PORTS);
    await vi.waitUntil(() => out.includes("\n"), { timeout: 30_000 });
    const [, url = ""] =
      /^node ready: chain svc-cli-1, height 0, RPC (http:\/\/127\.0\.0\.1:\d+), gRPC 127\.0\.0\.1:\d+\n$/.exec(out) ??
      [];
    await vi.waitUntil(async () => (await (await fetch(`${url}/block?height=2`)).text()).includes('"height":"2"'), {
      timeout: 30_000,
    });
    process.emit("SIGTERM");
    expect(await running).toBe(0);
    expect(err).toBe("");
    out = "";
    await run("export", []);
    const exported = JSON.parse(out);
    const file = join(home, "exported.json");
    writeFileSync(file, out);
    out = "";
    await run("validate-genesis", [file]);
    expect(out).toBe(`File at ${file} is a valid genesis file\n`);
    expect(exported.app_state.bank.supply).toEqual([
      { amount: "7", denom: "stake" },
      { amount: "1000", denom: "utoken" },
    ]);
    expect(Number(exported.initial_height)).toBeGreaterThan(2);
    const svc = (...words: string[]) => runCli([...words, "--home", home]);
    expect(JSON.parse((await svc("export", "--height", "1")).out).initial_height).toBe("2");
    expect(JSON.parse((await svc("export", "--height", "-1")).out)).toEqual(exported);
    const { code, err: refused } = await svc("export", "--height", "999999");
    expect({ code, refused }).toEqual({
      code: 1,
      refused: expect.stringContaining("this node keeps heights 1 to"),
    });
    expect((await svc("export", "--height", "-2")).err).toContain('takes a whole number, not "-2"');
    expect(JSON.parse((await svc("export", "--for-zero-height")).out).initial_height).toBe("1");
    const jailing = ["export", "--jail-allowed-addrs", encodeAddress(new Uint8Array(20).fill(1), "valoper")];
    expect((await svc(...jailing)).err).toContain("--jail-allowed-addrs needs --for-zero-height");
    expect(JSON.parse((await svc(...jailing, "--for-zero-height")).out).initial_height).toBe("1");
    expect((await svc("export", "--for-zero-height", "--jail-allowed-addrs", ALICE)).code).toBe(2);
  });

  it("show who the node is, under either name of the group", async () => {
    const svc = (...words: string[]) => runCli([...words, "--home", home]);
    const { err: missing, code } = await svc("tendermint", "show-node-id");
    expect({ code, missing }).toEqual({ code: 1, missing: expect.stringContaining("run svc init") });
    await run("init", ["tester"]);
    const { node_id: id } = JSON.parse(err);
    const keyFile = JSON.parse(readFileSync(join(home, "config", "priv_validator_key.json"), "utf8"));
    for (const group of ["tendermint", "comet"]) {
      expect(await svc(group, "show-node-id")).toEqual({ code: 0, out: `${id}\n`, err: "" });
      const { out: key } = await svc(group, "show-validator", "--profile", "cosmos");
      expect(JSON.parse(key)).toEqual({ "@type": "/cosmos.crypto.ed25519.PubKey", key: keyFile.pub_key.value });
      const address = encodeAddress(fromHex(keyFile.address), "valcons");
      expect((await svc(group, "show-address")).out).toBe(`${address}\n`);
    }
    const versions = "ABCI: 2.0.0\nBlockProtocol: 11\nCometBFT: 0.38.17\nP2PProtocol: 8\n";
    expect((await svc("comet", "version")).out.replaceAll('"', "")).toBe(versions);
    expect(JSON.parse((await svc("comet", "version", "-o", "json")).out).CometBFT).toBe("0.38.17");
  });

  it("refuse in one sentence", async () => {
    await expect(run("start", [])).rejects.toThrow("there is no genesis file");
    await expect(run("export", [])).rejects.toThrow("there is no genesis file");
    await run("init", ["tester"]);
    await expect(run("init", ["tester"])).rejects.toThrow("genesis.json file already exists");
    await expect(run("add-genesis-account", [ALICE, ""])).rejects.toThrow("write the coins of the account");
    await expect(run("add-genesis-account", [ALICE, "5"])).rejects.toThrow('invalid coin "5"');
    await expect(run("add-genesis-account", ["nobody", "5utoken"], { "keyring-backend": "test" })).rejects.toThrow(
      "nobody",
    );
    await expect(run("start", [], { "block-interval": "1ms" })).rejects.toThrow("--block-interval");
  });
});
