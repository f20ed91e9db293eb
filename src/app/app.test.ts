import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import { type AppQueryResult, DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../abci/index.ts";
import { moduleAddress } from "../crypto/index.ts";
import { bankModule } from "../modules/bank/index.ts";
import { defineModule, InvariantBreach } from "../runtime/index.ts";
import { type Database, memoryDatabase, openLmdb } from "../store/index.ts";
import { type TestChain, type TestChainOptions, testChain, testKey } from "../testing/index.ts";
import { fromUtf8, NATIVE_DENOM, toHex } from "../util/index.ts";
import { QueryAccountRequestSchema } from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgSendSchema } from "../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Service, type SimulateResponse } from "../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { type AuthInfo, AuthInfoSchema, TxBodySchema, TxRawSchema } from "../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { Query as Upgrade } from "../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { decodeMessage, encodeAddress, encodeMessage, encodeTx, toJson } from "../wire/index.ts";
import { createApp, moduleSet, type SvcApplication } from "./index.ts";

const temporary: string[] = [];
afterEach(() => {
  for (const directory of temporary.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function newChain(options: TestChainOptions = {}): TestChain {
  return testChain({ modules: () => [], ...options });
}

function send(chain: TestChain, amount = "1", to = testKey("nobody").address) {
  const fromAddress = chain.key("alice").address;
  return create(MsgSendSchema, { fromAddress, toAddress: to, amount: [{ denom: NATIVE_DENOM, amount }] });
}

function ask(app: SvcApplication, path: string, options: { data?: Uint8Array; height?: bigint; prove?: boolean } = {}) {
  const { data = new Uint8Array(), height = 0n, prove = false } = options;
  return app.query({ path, data, height, prove });
}

function newApp(database: Database = memoryDatabase()): SvcApplication {
  return createApp({ database, set: moduleSet(() => []), version: "1.2.3" });
}

function initialise(app: SvcApplication, appState: Record<string, unknown> = {}): Uint8Array {
  const { appHash } = app.initChain({
    chainId: "test-1",
    time: 5n,
    initialHeight: 1n,
    validators: [],
    consensusParams: DEFAULT_CONSENSUS_PARAMS,
    appState,
  });
  return appHash;
}

function emptyBlock(app: SvcApplication, height: bigint) {
  const request = {
    ...NO_VOTERS,
    txs: [],
    height,
    time: height * 10n,
    proposer: new Uint8Array(20),
    hash: new Uint8Array(32),
  };
  const result = app.finalizeBlock(request);
  app.commit();
  return result;
}

describe("a state of an earlier version, whose app hash does not cover the record of its block", () => {
  test("takes it in with the next block; older heights and a rollback have it as it was", () => {
    const database = memoryDatabase();
    const older = createApp({ database, set: moduleSet(() => []), unhashedRecords: true });
    const genesisHash = initialise(older);
    expect(emptyBlock(older, 1n).appHash).toEqual(genesisHash);
    emptyBlock(older, 2n);
    const open = () => createApp({ database, set: moduleSet(() => []) });
    const params = "/sdk.auth.v1beta1.Query/Params";
    const app = open();
    expect(app.info().lastBlockAppHash).toEqual(genesisHash);
    const moved = emptyBlock(app, 3n).appHash;
    expect(moved).not.toEqual(genesisHash);
    expect([...database.table("app").iterate()]).toEqual([]);
    for (const height of [1n, 2n, 3n]) expect(ask(open(), params, { height })).toMatchObject({ code: 0, height });
    open().state.rollback();
    expect([...database.table("app").iterate()]).toHaveLength(2);
    const back = open();
    expect(back.info().lastBlockHeight).toBe(2n);
    expect(emptyBlock(back, 3n).appHash).toEqual(moved);
  });
});

describe("the life of a chain", () => {
  test("starts from genesis, commits blocks, and goes on after a restart", () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-app-"));
    temporary.push(directory);
    const first = openLmdb(directory);
    const app = newApp(first);
    expect(app.info()).toEqual({ version: "1.2.3", lastBlockHeight: 0n, lastBlockAppHash: new Uint8Array(0) });
    const genesisHash = initialise(app);
    const { appHash } = emptyBlock(app, 1n);
    // The state tells its last block.
    expect(toHex(appHash)).not.toBe(toHex(genesisHash));
    first.close();

    const second = openLmdb(directory);
    const again = newApp(second);
    expect(again.info()).toMatchObject({ lastBlockHeight: 1n });
    expect(toHex(again.info().lastBlockAppHash)).toBe(toHex(appHash));
    expect(() => initialise(again)).toThrow("initialised already");
    expect(() =>
      again.finalizeBlock({ ...NO_VOTERS, txs: [], height: 3n, time: 3n, proposer: new Uint8Array(20), hash: appHash }),
    ).toThrow("block 3 does not follow height 1");
    emptyBlock(again, 2n);
    expect(ask(again, "/sdk.auth.v1beta1.Query/Params")).toMatchObject({ code: 0, height: 2n });
    second.close();
  });

  test("two nodes with different mempools come to the same state", () => {
    const [one, two] = [newChain(), newChain()];
    const from = one.key("alice");
    for (let i = 0; i < 5; i++) {
      const good = one.sign(send(one), { from, fee: [{ denom: NATIVE_DENOM, amount: 5n }] });
      const bad = one.sign(send(one, "1"), { from: one.key("bob") });
      // One node has seen the transactions before, the other has not and simulated something else meanwhile.
      one.app.checkTx({ tx: good, kind: "new" });
      simulateBytes(two, two.sign(send(two, "9"), { from: two.key("alice") }));
      expect(one.block([good, bad])).toEqual(two.block([good, bad]));
      expect(toHex(one.app.info().lastBlockAppHash)).toBe(toHex(two.app.info().lastBlockAppHash));
    }
  });

  test("a block is finalized before it is committed, the first one twice if its engine sends it twice", () => {
    const app = newApp();
    initialise(app);
    expect(() => app.commit()).toThrow("finalized before");
    const block = {
      ...NO_VOTERS,
      txs: [],
      height: 1n,
      time: 1n,
      proposer: new Uint8Array(20),
      hash: new Uint8Array(32),
    };
    const genesis = app.finalizeBlock(block);
    expect(app.finalizeBlock(block)).toEqual(genesis);
    app.commit();
    expect(app.info()).toMatchObject({ lastBlockHeight: 1n, lastBlockAppHash: genesis.appHash });
  });

  test("a finalized block is replaced when its engine sends it again", () => {
    const chain = newChain();
    const twin = newChain();
    const request = (to: TestChain, txs: readonly Uint8Array[]) => ({
      ...NO_VOTERS,
      txs,
      height: to.height + 1n,
      time: to.time + 1n,
      proposer: new Uint8Array(20),
      hash: new Uint8Array(32),
    });
    for (let i = 0; i < 3; i++) {
      const tx = chain.sign(send(chain), { from: chain.key("alice") });
      chain.app.finalizeBlock(request(chain, []));
      const again = chain.app.finalizeBlock(request(chain, [tx]));
      expect(chain.app.finalizeBlock(request(chain, [tx]))).toEqual(again);
      expect(chain.block([tx])).toEqual(twin.block([tx]));
      expect(toHex(chain.app.info().lastBlockAppHash)).toBe(toHex(twin.app.info().lastBlockAppHash));
    }
  });

  test("check state begins anew with every commit", () => {
    const chain = newChain();
    const from = chain.key("alice");
    const tx = chain.sign(send(chain), { from });
    expect(chain.app.checkTx({ tx, kind: "new" })).toMatchObject({
      code: 0,
      claim: { signers: [{ sequence: 0n }] },
      log: "[]",
    });
    expect(chain.app.checkTx({ tx, kind: "new" }).code).toBe(32);
    chain.nextBlock();
    expect(chain.app.checkTx({ tx, kind: "recheck" }).code).toBe(0);
    expect(chain.balance(from.address)).toBe(10n ** 12n);
  });
});

describe("proposals", () => {
  test("take what fits, in order", () => {
    const chain = newChain();
    chain.app.holdClaims();
    const from = chain.key("alice");
    const small = chain.sign(send(chain), { from });
    const large = chain.sign(send(chain), { from, memo: "x".repeat(200) });
    const room = 2 * (small.length + 3);
    expect(chain.propose([small, large, small])).toHaveLength(3);
    expect(chain.propose([small, small, small], room)).toHaveLength(2);
    expect(chain.propose([small, small], room - 1)).toHaveLength(1);
    expect(chain.propose([small, large, small], small.length + large.length)).toEqual([small]);
    expect(chain.propose([large, small], small.length + 3)).toEqual([small]);
  });

  test("with bytes that are not a transaction are neither made nor accepted", () => {
    const chain = newChain();
    const tx = chain.sign(send(chain), { from: chain.key("alice") });
    const at = { ...NO_VOTERS, height: 2n, time: chain.time, proposer: new Uint8Array(20), hash: new Uint8Array(32) };
    const process = (txs: readonly Uint8Array[]) => chain.app.processProposal({ ...at, txs });
    expect(chain.propose([Uint8Array.of(1, 2, 3), tx])).toEqual([tx]);
    expect(process([tx])).toBe(true);
    expect(process([tx, Uint8Array.of(1, 2, 3)])).toBe(false);
  });
});

describe("queries", () => {
  const path = "/sdk.auth.v1beta1.Query/Params";

  test("need a state, and serve the heights that are kept", () => {
    const app = newApp();
    initialise(app);
    expect(ask(app, path)).toMatchObject({ code: 26, codespace: "sdk" });
    emptyBlock(app, 1n);
    emptyBlock(app, 2n);
    expect(ask(app, path, { height: 2n })).toMatchObject({ code: 0, height: 2n });
    expect(ask(app, path, { height: 3n })).toMatchObject({
      code: 26,
      log: "cannot query with height in the future; please provide a valid height: invalid height",
    });
    expect(ask(app, path, { height: 1n })).toMatchObject({ code: 0, height: 1n });
    expect(ask(app, path, { height: -1n })).toMatchObject({ code: 26 });
  });

  test("are refused where a height was pruned, in the words that clients know", () => {
    const pruning = { keepRecent: 2n, interval: 1n };
    const app = createApp({ database: memoryDatabase(), set: moduleSet(() => []), pruning });
    initialise(app);
    for (let height = 1n; height <= 4n; height++) emptyBlock(app, height);
    expect(ask(app, path, { height: 3n })).toMatchObject({ code: 0, height: 3n });
    for (const prove of [false, true])
      for (const asked of [path, "/store/auth/key"])
        expect(ask(app, asked, { height: 2n, data: Uint8Array.of(2), prove })).toMatchObject({
          code: 18,
          log: expect.stringMatching(
            /^failed to load state at height 2; version does not exist \(latest height: 4\); the lowest height (?:that can be proven )?here is [34]/,
          ),
        });
  });

  test("are found under both spellings, else refused", () => {
    const { app } = newChain();
    expect(ask(app, "/cosmos.auth.v1beta1.Query/Params").value).toEqual(ask(app, path).value);
    expect(fromUtf8(ask(app, "/app/version").value)).toBe("dev");
    expect(ask(app, "/nosuch.Query/X")).toMatchObject({
      code: 6,
      log: "unknown query path: unknown request",
      info: "sdk/6",
    });
    expect(ask(app, "/cosmos.auth.v1beta1.Query/Account", { data: Uint8Array.of(0xff) })).toMatchObject({ code: 18 });
    const missing = ask(app, "/sdk.bank.v1beta1.Query/Balance");
    expect(missing).toMatchObject({
      code: 18,
      codespace: "sdk",
      log: expect.stringMatching(/^rpc error: code = InvalidArgument desc = .*: invalid address: invalid request$/),
      info: "sdk/7",
    });
  });

  test("of upgrades tell the versions of the modules, and that none is planned", () => {
    const { app } = newChain();
    const { currentPlan, appliedPlan, moduleVersions, authority } = Upgrade.method;
    const query = <M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>) => {
      const [input, output]: [M["input"], M["output"]] = [method.input, method.output];
      const data = encodeMessage(input, create(input, request));
      const { code, value } = ask(app, `/cosmos.upgrade.v1beta1.Query/${method.name}`, { data });
      return code === 0 ? toJson(output, decodeMessage(output, value)) : code;
    };
    expect(query(currentPlan, {})).toEqual({ plan: null });
    expect(query(appliedPlan, { name: "v2" })).toEqual({ height: "0" });
    const versions = query(moduleVersions, {}) as { module_versions: { name: string }[] };
    expect(versions.module_versions.map(({ name }) => name)).toEqual(app.modules.map(({ name }) => name).sort());
    expect(query(moduleVersions, { moduleName: "bank" })).toEqual({
      module_versions: [{ name: "bank", version: "1" }],
    });
    expect(query(moduleVersions, { moduleName: "nope" })).toBe(22);
    expect(query(authority, {})).toEqual({ address: encodeAddress(moduleAddress("gov")) });
  });

  test("of an account that does not exist fail in the words that clients look for", () => {
    const { app } = newChain();
    const { address } = testKey("nobody");
    const data = encodeMessage(QueryAccountRequestSchema, create(QueryAccountRequestSchema, { address }));
    expect(ask(app, "/cosmos.auth.v1beta1.Query/Account", { data })).toMatchObject({
      code: 22,
      codespace: "sdk",
      log: `rpc error: code = NotFound desc = account ${address} not found: key not found`,
      info: "sdk/22",
    });
  });

  test("read stored bytes", () => {
    const { app } = newChain();
    const data = Uint8Array.of(2);
    expect(ask(app, "/store/auth/key", { data })).toMatchObject({ code: 0, key: data });
    expect(toHex(ask(app, "/store/auth/key", { data }).value)).toBe("0000000000000005");
    expect(ask(app, "/store/nosuch/key", { data })).toMatchObject({ code: 6 });
    expect(ask(app, "/store/auth/subspace", { data })).toMatchObject({ code: 6 });
    for (const length of [0, 1025])
      expect(ask(app, "/store/auth/key", { data: new Uint8Array(length) })).toMatchObject({ code: 18 });
  });
});

function readSimulation({ code, log, value }: AppQueryResult): SimulateResponse {
  expect({ code, log }).toEqual({ code: 0, log: "" });
  return decodeMessage(Service.method.simulate.output, value);
}

function simulation(request: MessageInitShape<typeof Service.method.simulate.input>): Uint8Array {
  return encodeMessage(Service.method.simulate.input, create(Service.method.simulate.input, request));
}

const SIMULATE = "/cosmos.tx.v1beta1.Service/Simulate";

function simulateBytes(chain: TestChain, txBytes: Uint8Array): AppQueryResult {
  return ask(chain.app, SIMULATE, { data: simulation({ txBytes }) });
}

describe("simulation", () => {
  /** A transaction as clients send it for simulation: no signature, no fee, no gas. */
  function unsigned(chain: TestChain, change: (info: AuthInfo) => void = () => {}) {
    const tx = chain.sign(send(chain), { from: chain.key("alice"), gas: 0n });
    const raw = decodeMessage(TxRawSchema, tx);
    const authInfo = decodeMessage(AuthInfoSchema, raw.authInfoBytes);
    change(authInfo);
    return { body: decodeMessage(TxBodySchema, raw.bodyBytes), authInfo, bodyBytes: raw.bodyBytes };
  }

  test("reports enough gas whatever is left out, and changes nothing", () => {
    const chain = newChain();
    const from = chain.key("alice");
    const hash = toHex(chain.app.info().lastBlockAppHash);
    const withoutKey = (info: AuthInfo) => {
      for (const signer of info.signerInfos) if (signer.publicKey) signer.publicKey.value = new Uint8Array();
    };
    const forms = [unsigned(chain), unsigned(chain, withoutKey)].flatMap(({ body, authInfo, bodyBytes }) => {
      const authInfoBytes = encodeMessage(AuthInfoSchema, authInfo);
      return [
        simulation({ txBytes: encodeTx({ bodyBytes, authInfoBytes }, [new Uint8Array()]) }),
        simulation({ tx: { body, authInfo, signatures: [new Uint8Array()] } }),
      ];
    });
    const estimates = forms.map((data) => readSimulation(ask(chain.app, SIMULATE, { data })).gasInfo?.gasUsed ?? 0n);
    expect(toHex(chain.app.info().lastBlockAppHash)).toBe(hash);
    for (const gas of estimates) {
      const { gasUsed } = chain.mustSend(send(chain, "1", testKey(`new ${gas}`).address), {
        from,
        gas,
        fee: [{ denom: NATIVE_DENOM, amount: gas }],
      });
      expect(gasUsed).toBeLessThanOrEqual(gas);
    }
  });

  test("needs a place for every signature and the account's sequence, as on other chains", () => {
    const chain = newChain();
    const { body, authInfo } = unsigned(chain);
    const { authInfo: ahead } = unsigned(chain, (info) => {
      for (const signer of info.signerInfos) signer.sequence += 1n;
    });
    const { authInfo: nobody } = unsigned(chain, (info) => info.signerInfos.splice(0));
    const none = new Uint8Array();
    expect(
      [
        { body, authInfo, signatures: [] },
        { body, authInfo, signatures: [none, none] },
        { body, authInfo: nobody, signatures: [none] },
        { body, authInfo: ahead, signatures: [none] },
      ].map((tx) => ask(chain.app, SIMULATE, { data: simulation({ tx }) }).info),
    ).toEqual(["sdk/15", "sdk/4", "sdk/4", "sdk/32"]);
  });

  test("shows events and responses, and the error that the transaction would have", () => {
    const chain = newChain();
    const from = chain.key("alice");
    const result = readSimulation(simulateBytes(chain, chain.sign(send(chain), { from }))).result;
    expect(result?.msgResponses.map(({ typeUrl }) => typeUrl)).toEqual(["/sdk.bank.v1beta1.MsgSendResponse"]);
    expect(result?.events.some(({ type }) => type === "transfer")).toBe(true);
    expect(simulateBytes(chain, chain.sign(send(chain, (10n ** 13n).toString()), { from }))).toMatchObject({
      code: 6,
      info: "sdk/5",
      log: expect.stringMatching(
        /^rpc error: code = Unknown desc = failed to execute message; message index: 0: .* insufficient funds with gas used: '[1-9]\d*': unknown request$/,
      ),
    });
    expect(simulateBytes(chain, new Uint8Array())).toMatchObject({
      code: 18,
      codespace: "sdk",
      log: expect.stringMatching(/^rpc error: code = InvalidArgument desc = empty txBytes is not allowed/),
    });
  });

  test("is limited in messages and gas", () => {
    const chain = newChain();
    const many = (count: number) =>
      chain.sign(
        Array.from({ length: count }, () => send(chain)),
        { from: chain.key("alice") },
      );
    expect(readSimulation(simulateBytes(chain, many(256))).gasInfo?.gasUsed).toBeGreaterThan(0n);
    expect(simulateBytes(chain, many(257)).log).toContain("a simulation takes at most 256 messages, not 257");
    const small = newChain({ maxBlockGas: 100_000n });
    const costly = small.sign(
      Array.from({ length: 50 }, () => send(small)),
      { from: small.key("alice") },
    );
    expect(simulateBytes(small, costly).log).toContain("out of gas");
  });

  test("accepts an empty fee, which a transaction may not have", () => {
    const chain = newChain();
    const tx = chain.sign(send(chain), { from: chain.key("alice"), fee: [{ denom: NATIVE_DENOM, amount: 0n }] });
    expect(simulateBytes(chain, tx).code).toBe(0);
    expect(chain.app.checkTx({ tx, kind: "new" })).toMatchObject({ code: 13, codespace: "sdk" });
  });

  test("sees what the mempool holds already", () => {
    const chain = newChain();
    const from = chain.key("alice");
    chain.app.checkTx({
      tx: chain.sign(send(chain), { from, fee: [{ denom: NATIVE_DENOM, amount: 10n ** 12n }] }),
      kind: "new",
    });
    const next = unsigned(chain, (info) => {
      for (const signer of info.signerInfos) signer.sequence += 1n;
    });
    const tx = { body: next.body, authInfo: next.authInfo, signatures: [new Uint8Array()] };
    expect(ask(chain.app, SIMULATE, { data: simulation({ tx }) })).toMatchObject({ info: "sdk/5" });
  });
});

describe("genesis", () => {
  test("an exported state imports to the same state", () => {
    const chain = newChain({ coins: { stake: 7n, utoken: 10n ** 9n } });
    chain.mustSend(send(chain), { from: chain.key("alice"), fee: [{ denom: NATIVE_DENOM, amount: 5n }] });
    const [first, second] = chain.exportTwice(newApp());
    expect(second).toEqual(first);
  });

  test("the problems of all modules are reported in one error, and nothing is written", () => {
    const app = newApp();
    expect(() => initialise(app, { auth: { params: { tx_sig_limit: "0" } }, bank: { nosuch: 1 }, other: {} })).toThrow(
      /^other: there is no such module; auth: params\.tx_sig_limit: .*; bank: .*"nosuch".*: invalid genesis state$/,
    );
    expect(app.info().lastBlockHeight).toBe(0n);
    initialise(app);
    emptyBlock(app, 1n);
  });
});

describe("invariants", () => {
  test("a broken invariant after a block stops the node, and is named", () => {
    const set = moduleSet(({ auth }) => {
      const bank = bankModule(auth).keeper;
      const thief = defineModule({
        ...bankModule(auth).module,
        name: "thief",
        endBlock: (ctx) => {
          if (ctx.height === 2n) bank.setSupply(ctx, NATIVE_DENOM, 1n);
        },
        invariants: {},
      });
      const { msg: _, query: __, ...rest } = thief;
      return [rest];
    });
    const app = createApp({ database: memoryDatabase(), set, checkInvariants: true });
    initialise(app);
    emptyBlock(app, 1n);
    expect(() => emptyBlock(app, 2n)).toThrow(InvariantBreach);
    expect(app.info().lastBlockHeight).toBe(1n);
    expect(app.brokenInvariants()).toEqual([]);
  });
});
