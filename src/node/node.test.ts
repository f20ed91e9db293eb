import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import earlier from "../../test/vectors/genesis-0.1.0.json" with { type: "json" };
import { createLogger, type Logger, SvcError, silentLogger } from "../util/index.ts";
import { encodeAddress } from "../wire/index.ts";
import type { GivenSettings } from "./config.ts";
import { nodeConfig } from "./config.ts";
import { exportGenesis } from "./home/export.ts";
import { addGenesisAccounts, genesisFile, readGenesisText, validateGenesis } from "./home/genesis.ts";
import { homePaths } from "./home/home.ts";
import { initHome } from "./home/init.ts";
import { resetHome } from "./home/reset.ts";
import { type Node, startNode } from "./node.ts";

let home = "";
const nodes: Node[] = [];

beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "svc-node-")), "home");
});

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
  rmSync(join(home, ".."), { recursive: true });
});

const ALICE = encodeAddress(new Uint8Array(20).fill(1));
const BOB = encodeAddress(new Uint8Array(20).fill(2));

function init(): void {
  initHome({ home, moniker: "tester", chainId: "svc-test-1" });
  addGenesisAccounts(home, [{ address: ALICE, coins: [{ denom: "utoken", amount: 5_000_000n }] }]);
}

async function start(given: GivenSettings = {}, logger: Logger = silentLogger): Promise<Node> {
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "block-interval": "100ms",
    ...given,
  });
  const node = await startNode({ home, config, logger, version: "v9.9.9" });
  nodes.push(node);
  return node;
}

/** A node with its first block, and hours until the next. */
async function startOnce(): Promise<Node> {
  const node = await start({ "block-interval": "60m" });
  await vi.waitUntil(() => node.engine.blocks.height > 0n, 30_000);
  return node;
}

async function call(node: Node, path: string): Promise<Record<string, unknown>> {
  const { result }: { result: Record<string, unknown> } = JSON.parse(
    await (await fetch(`${node.rpcUrl}/${path}`)).text(),
  );
  return result;
}

describe("init", () => {
  it("makes keys for the owner alone, the genesis file and empty data", () => {
    const summary = initHome({ home, moniker: "tester", chainId: "svc-test-1" });
    const paths = homePaths(home);
    expect(summary).toMatchObject({ chain_id: "svc-test-1", moniker: "tester", gentxs_dir: "" });
    expect(summary.node_id).toMatch(/^[0-9a-f]{40}$/);
    const modes = [paths.nodeKey, paths.validatorKey, paths.validatorState, paths.genesis].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o644]);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    const genesis = validateGenesis(readGenesisText(home));
    expect(genesis).toMatchObject({
      chainId: "svc-test-1",
      initialHeight: 1n,
      validators: [{ power: 10n, name: "tester" }],
    });
    expect(JSON.parse(readFileSync(paths.validatorState, "utf8"))).toEqual({ height: "0", round: 0, step: 0 });
  });

  it("keeps an existing genesis file, unless told otherwise, and the keys always", () => {
    const first = initHome({ home, moniker: "tester" });
    expect(first.chain_id).toMatch(/^test-chain-[0-9A-Za-z]{6}$/);
    expect(() => initHome({ home, moniker: "other" })).toThrow(
      `genesis.json file already exists: ${homePaths(home).genesis}`,
    );
    const second = initHome({ home, moniker: "other", chainId: "svc-2", overwrite: true });
    expect(second.node_id).toBe(first.node_id);
    expect(validateGenesis(readGenesisText(home))).toMatchObject({ chainId: "svc-2", validators: [{ name: "other" }] });
  });

  it("never replaces the genesis file of a chain that has begun", async () => {
    init();
    await (await startOnce()).stop();
    const before = readGenesisText(home);
    expect(() => initHome({ home, moniker: "tester", chainId: "svc-2", overwrite: true })).toThrow(
      `${homePaths(home).database} holds the blocks of a chain: its genesis file cannot be replaced`,
    );
    expect(readGenesisText(home)).toBe(before);
    renameSync(join(home, "data"), join(home, "old"));
    initHome({ home, moniker: "tester", chainId: "svc-2", overwrite: true });
    expect((await startOnce()).engine.genesis.chainId).toBe("svc-2");
  });

  it.each([
    [{ chainId: "a b" }, "invalid chain id"],
    [{ chainId: "x" }, "invalid chain id"],
    [{ moniker: "" }, "invalid moniker"],
    [{ moniker: "a\nb" }, "invalid moniker"],
  ])("refuses %o and makes nothing", (wrong, text) => {
    expect(() => initHome({ home, moniker: "m", ...wrong })).toThrow(text);
    expect(existsSync(home)).toBe(false);
  });
});

describe("add-genesis-account", () => {
  it("adds account, balance and supply", () => {
    init();
    addGenesisAccounts(home, [
      {
        address: BOB,
        coins: [
          { denom: "stake", amount: 7n },
          { denom: "utoken", amount: 1n },
        ],
      },
    ]);
    const { appState } = validateGenesis(readGenesisText(home));
    expect(appState).toMatchObject({
      auth: {
        accounts: [
          { "@type": "/sdk.auth.v1beta1.BaseAccount", address: ALICE, account_number: "0" },
          { address: BOB, account_number: "1" },
        ],
      },
      bank: {
        balances: [{ address: ALICE, coins: [{ denom: "utoken", amount: "5000000" }] }, { address: BOB }],
        supply: [
          { denom: "stake", amount: "7" },
          { denom: "utoken", amount: "5000001" },
        ],
      },
    });
  });

  it("refuses an account that is there, a bad address and a started chain, and changes nothing", async () => {
    init();
    const before = readGenesisText(home);
    const coins = [{ denom: "utoken", amount: 1n }];
    expect(() =>
      addGenesisAccounts(home, [
        { address: BOB, coins },
        { address: ALICE, coins },
      ]),
    ).toThrow(`cannot add account at existing address ${ALICE}`);
    expect(() => addGenesisAccounts(home, [{ address: "svc1nonsense", coins }])).toThrow();
    expect(() => addGenesisAccounts(join(home, "nowhere"), [{ address: BOB, coins }])).toThrow(
      "there is no genesis file",
    );
    await (await startOnce()).stop();
    expect(() => addGenesisAccounts(home, [{ address: BOB, coins }])).toThrow("the chain has started");
    expect(readGenesisText(home)).toBe(before);
  });
});

describe("a node", () => {
  it("serves, makes blocks, stops, and goes on where it stopped", async () => {
    init();
    const node = await start({ "check-invariants": "true" });
    await expect.poll(() => node.engine.blocks.height, { timeout: 30_000 }).toBeGreaterThan(2n);
    expect(await call(node, "status")).toMatchObject({
      node_info: { network: "svc-test-1", moniker: "tester", listen_addr: node.rpcUrl.replace("http", "tcp") },
      application_version: { version: "v9.9.9" },
    });
    await node.stop();
    const { height } = node.engine.blocks;
    await expect(fetch(`${node.rpcUrl}/health`)).rejects.toThrow();
    const again = await start();
    expect(again.engine.blocks.height).toBe(height);
    await expect.poll(() => again.engine.blocks.height, { timeout: 30_000 }).toBeGreaterThan(height);
    const { rpcUrl } = again;
    expect(rpcUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("answers queries of the modules and of the transaction service, in both namespaces", async () => {
    init();
    const node = await startOnce();
    const data = `0x0a${ALICE.length.toString(16)}${Buffer.from(ALICE).toString("hex")}`;
    for (const namespace of ["sdk", "cosmos"]) {
      const balances = await call(node, `abci_query?path="/${namespace}.bank.v1beta1.Query/AllBalances"&data=${data}`);
      expect(balances).toMatchObject({ response: { code: 0, height: "1" } });
      const hash = Buffer.from(`\n@${"AB".repeat(32)}`).toString("hex");
      const missing = await call(node, `abci_query?path="/${namespace}.tx.v1beta1.Service/GetTx"&data=0x${hash}`);
      expect(missing).toMatchObject({
        response: {
          code: 22,
          log: `rpc error: code = NotFound desc = tx not found: ${"AB".repeat(32)}: key not found`,
        },
      });
      const bad = await call(node, `abci_query?path="/${namespace}.tx.v1beta1.Service/GetTxsEvent"&data=0x3203626164`);
      expect(bad).toMatchObject({ response: { code: 18, log: expect.stringContaining("failed to parse query") } });
    }
  });

  it("keeps other processes out of its home and says so", async () => {
    init();
    const node = await start();
    await expect(start()).rejects.toThrow("is already open in this process");
    await node.stop();
    await start();
  });

  it("says when the port is in use, and leaves the home free", async () => {
    init();
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    const laddr = `tcp://127.0.0.1:${port}`;
    await expect(start({ "rpc.laddr": laddr })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: another program uses the port`,
    );
    await new Promise((resolve) => server.close(resolve));
    expect((await start({ "rpc.laddr": laddr })).rpcUrl).toBe(`http://127.0.0.1:${port}`);
  });

  it("says what it waits for when the first block is far off", async () => {
    const lines: string[] = [];
    const logger = createLogger({ format: "json", level: "warn", write: (line) => void lines.push(line) });
    const time = 4_102_444_800_000_000_000n;
    initHome({ home, moniker: "tester", chainId: "svc-test-1", time });
    const node = await start({}, logger);
    expect(lines.map((line) => JSON.parse(line).message)).toEqual([
      "no block before 2100-01-01T00:00:00Z: the genesis time is in the future",
    ]);
    expect(node.engine.blocks.height).toBe(0n);
  });

  it("distinguishes a damaged database from its own faults", async () => {
    init();
    await (await start()).stop();
    const file = join(homePaths(home).database, "data.mdb");
    // The first two pages say where all others are; with nothing after them, everything read is damaged. The library of the
    // database prints its own line on that: "internal error, index points to a 00 page!?".
    const pageSize = readFileSync(file).readUInt32LE(48);
    truncateSync(file, 2 * pageSize);
    await expect(start()).rejects.toMatchObject({
      message: expect.stringContaining("the database is damaged"),
      hint: expect.stringContaining("backup"),
    });
  });

  it("ends at the halt height", async () => {
    init();
    const node = await start({ "halt-height": "2" });
    expect(await node.ended).toEqual({ error: undefined });
    await node.stop();
    expect(node.engine.blocks.height).toBe(2n);
    expect(await (await start({ "halt-height": "2" })).ended).toEqual({ error: undefined });
  });

  it("stops before the block of an upgrade that it lacks, says so in a file, and does not start again", async () => {
    init();
    const { genesis, upgradeInfo } = homePaths(home);
    const file = JSON.parse(readFileSync(genesis, "utf8"));
    file.app_state.upgrade = { plan: { name: "v2", height: "3", info: '{"binaries":{}}' } };
    writeFileSync(genesis, JSON.stringify(file));
    const needed = { message: 'UPGRADE "v2" NEEDED at height: 3: {"binaries":{}}' };
    const node = await start();
    expect((await node.ended).error).toMatchObject(needed);
    expect(JSON.parse(readFileSync(upgradeInfo, "utf8"))).toEqual({ name: "v2", height: 3, info: '{"binaries":{}}' });
    expect(statSync(upgradeInfo).mode & 0o777).toBe(0o600);
    await node.stop();
    // Nothing of the block was signed.
    expect(JSON.parse(readFileSync(homePaths(home).validatorState, "utf8"))).toMatchObject({ height: "2" });
    for (let again = 0; again < 2; again++) {
      rmSync(upgradeInfo);
      await expect(start()).rejects.toMatchObject(needed);
      expect(existsSync(upgradeInfo)).toBe(true);
    }
    const skipping = await start({ "unsafe-skip-upgrades": "3" });
    await vi.waitUntil(() => skipping.engine.blocks.height > 3n, 30_000);
    await skipping.stop();
    resetHome(home);
    expect(existsSync(upgradeInfo)).toBe(false);
  });

  it("reads its genesis file by position, and says when it is gone", () => {
    init();
    const whole = Buffer.from(readGenesisText(home));
    const file = genesisFile(home);
    expect(file.size()).toBe(whole.length);
    expect(Buffer.from(file.read(100, 50))).toEqual(whole.subarray(100, 150));
    rmSync(homePaths(home).genesis);
    expect(() => file.size()).toThrow("there is no genesis file");
    expect(() => file.read(0, 1)).toThrow("there is no genesis file");
  });

  it("refuses a home that is not whole", async () => {
    await expect(start()).rejects.toThrow("there is no genesis file");
    init();
    const paths = homePaths(home);
    const whole = readGenesisText(home);
    await (await startOnce()).stop();
    writeFileSync(paths.genesis, whole.replace('"5000000"', '"6000000"').replace('"5000000"', '"6000000"'));
    await expect(start()).rejects.toThrow("the genesis file is not the one that this chain started with");
    writeFileSync(paths.genesis, JSON.stringify(JSON.parse(whole)));
    await (await start()).stop();
    chmodSync(paths.validatorKey, 0o644);
    await expect(start()).rejects.toThrow("other users can read the key file");
    chmodSync(paths.validatorKey, 0o600);
    writeFileSync(paths.nodeKey, "{}");
    await expect(start()).rejects.toThrow("the key file cannot be used");
    rmSync(paths.nodeKey);
    await expect(start()).rejects.toThrow(`there is no ${paths.nodeKey}`);
    expect(readGenesisText(home)).not.toBe("");
  });

  it("refuses to vote without the record of its last vote", async () => {
    init();
    rmSync(homePaths(home).validatorState);
    await expect(start()).rejects.toThrow("the record of the validator's last vote is missing");
  });
});

describe("export", () => {
  it("gives a genesis file from which a new chain goes on and exports the same", async () => {
    init();
    expect(() => exportGenesis(home)).toThrow("there is no state to export");
    const node = await startOnce();
    for (let i = 0; i < 2; i++) node.engine.produceBlock();
    expect(() => exportGenesis(home)).toThrow("already open");
    await node.stop();
    const text = exportGenesis(home);
    const exported = JSON.parse(text);
    expect(exported).toMatchObject({
      initial_height: "4",
      chain_id: "svc-test-1",
      validators: [{ name: "tester", power: "10" }],
    });
    expect(Object.keys(exported)).toEqual(Object.keys(exported).sort());
    rmSync(homePaths(home).database, { recursive: true });
    writeFileSync(homePaths(home).genesis, text);
    validateGenesis(text);
    const next = await startOnce();
    expect(next.engine.blocks.height).toBe(4n);
    await next.stop();
    // One more block moves the inflation by a step.
    const lasting = ({ mint: { params }, ...rest }: { mint: { params: unknown } }) => ({ ...rest, params });
    expect(lasting(JSON.parse(exportGenesis(home)).app_state)).toEqual(lasting(exported.app_state));
  });

  it("of version 0.1.0 is where its chain goes on: leases, money and parameters, new ones with their defaults", async () => {
    init();
    const own = JSON.parse(readFileSync(homePaths(home).genesis, "utf8"));
    const given = { ...earlier, validators: own.validators };
    writeFileSync(homePaths(home).genesis, JSON.stringify(given));
    const node = await startOnce();
    expect(node.engine.blocks.height).toBe(58n);
    await node.stop();
    const { app_state: state, ...rest } = JSON.parse(exportGenesis(home));
    expect(rest).toMatchObject({
      chain_id: "svc-local-1",
      initial_height: "59",
      consensus_params: earlier.consensus_params,
    });
    const { market, bank, provider, deployment } = earlier.app_state;
    expect(state.market.leases).toEqual(market.leases);
    expect(state.market.params).toEqual(market.params);
    expect(state.bank.supply.at(0).denom).toBe(bank.supply.at(0)?.denom);
    expect(state.provider.providers).toEqual(provider.providers);
    const { provider: defaults, deployment: limits } = own.app_state;
    expect(state.provider.params).toEqual({ ...defaults.params, ...provider.params });
    expect(state.deployment.params).toEqual({
      ...limits.params,
      ...deployment.params,
      limits: { ...limits.params.limits, ...deployment.params.limits },
    });
  });

  it("gives a genesis file from which a new chain begins at height 1", async () => {
    init();
    const node = await startOnce();
    for (let i = 0; i < 2; i++) node.engine.produceBlock();
    await node.stop();
    const text = exportGenesis(home, undefined, {});
    const exported = JSON.parse(text);
    expect(exported).toMatchObject({ initial_height: "1", validators: [{ name: "tester", power: "10" }] });
    expect(exported.app_state.deployment.number_base).toBe("3");
    resetHome(home);
    writeFileSync(homePaths(home).genesis, text);
    validateGenesis(text);
    const next = await startOnce();
    expect(next.engine.blocks.height).toBe(1n);
    await next.stop();
    expect(JSON.parse(exportGenesis(home, undefined, {})).app_state.deployment.number_base).toBe("4");
  });

  it("gives the state of a height that is kept, as it was then, and refuses the others in one sentence", async () => {
    init();
    const few = { "block-interval": "60m", pruning: "custom", "pruning-keep-recent": "3", "pruning-interval": "10" };
    const first = await start(few);
    await vi.waitUntil(() => first.engine.blocks.height > 0n, 30_000);
    const grow = (node: Node, height: bigint) => {
      while (node.engine.blocks.height < height) node.engine.produceBlock();
    };
    grow(first, 12n);
    await first.stop();
    const then = exportGenesis(home);
    expect(exportGenesis(home, 12n)).toBe(then);
    const second = await start(few);
    grow(second, 14n);
    await second.stop();
    expect(exportGenesis(home, 12n)).toBe(then);
    expect(exportGenesis(home, 14n)).toBe(exportGenesis(home));
    expect(exportGenesis(home)).not.toBe(then);
    const [, lowest = ""] = /heights (\d+) to 14/.exec(refusal(0n)) ?? [];
    const kept = BigInt(lowest);
    expect(kept).toBeGreaterThan(1n);
    expect(JSON.parse(exportGenesis(home, kept)).initial_height).toBe(`${kept + 1n}`);
    for (const height of [0n, 1n, kept - 1n, 15n, 2n ** 63n, 2n ** 64n - 1n])
      expect(refusal(height)).toBe(
        `${height}: the state of this height is not kept; this node keeps heights ${kept} to 14`,
      );
  });

  it("gives a state from which a chain goes on", async () => {
    init();
    const node = await startOnce();
    for (let i = 0; i < 3; i++) node.engine.produceBlock();
    await node.stop();
    const text = exportGenesis(home, 1n);
    validateGenesis(text);
    rmSync(join(home, "data"), { recursive: true });
    initHome({ home, moniker: "tester", chainId: "svc-test-1", overwrite: true });
    writeFileSync(homePaths(home).genesis, text);
    const next = await startOnce();
    expect(next.engine.blocks.height).toBe(2n);
    await next.stop();
    expect(JSON.parse(exportGenesis(home)).initial_height).toBe("3");
  });

  it("gives no state of a block that was given up", async () => {
    init();
    const genesis = JSON.parse(readGenesisText(home));
    genesis.consensus_params.evidence.max_age_num_blocks = "1";
    writeFileSync(homePaths(home).genesis, JSON.stringify(genesis));
    const node = await start({ "block-interval": "60m", pruning: "nothing", "min-retain-blocks": "3" });
    await vi.waitUntil(() => node.engine.blocks.height > 0n, 30_000);
    while (node.engine.blocks.height < 8n) node.engine.produceBlock();
    const { base } = node.engine.blocks;
    await node.stop();
    expect(base).toBeGreaterThan(1n);
    expect(refusal(base - 1n)).toContain(`this node keeps heights ${base} to 8`);
    expect(JSON.parse(exportGenesis(home, base)).initial_height).toBe(`${base + 1n}`);
  });

  /** Message and hint of the refusal to export a height. */
  function refusal(height: bigint): string {
    try {
      exportGenesis(home, height);
    } catch (error) {
      if (error instanceof SvcError) return `${error.message}; ${error.hint}`;
      throw error;
    }
    throw new Error(`height ${height} was exported`);
  }
});
