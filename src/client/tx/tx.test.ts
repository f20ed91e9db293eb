import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NodeDouble, Refusal, serveBlocks, statusAnswer } from "../../../test/support/node-double.ts";
import { publicKeyOf, signSecp256k1, verifySecp256k1 } from "../../crypto/index.ts";
import {
  DEC_ONE,
  fromBase64,
  parseDec,
  parseDecCoins,
  SvcError,
  sdkErrors,
  toBase64,
  toHex,
} from "../../util/index.ts";
import { Query as Auth, BaseAccountSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Service, SimulateRequestSchema } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  decodeMessage,
  decodeTx,
  encodeAddress,
  encodeMessage,
  memberSignatures,
  multisigPublicKey,
  packAny,
  printJson,
  publicKeyAddress,
  publicKeyFromAny,
  SignMode,
  signBytes,
  toJson,
  txHash,
} from "../../wire/index.ts";
import {
  adjustGas,
  broadcastTx,
  ChainClient,
  eventsQuery,
  feeFor,
  feesFromPrices,
  gasEstimateText,
  handInTx,
  MAX_ESTIMATE,
  offlineTx,
  parseLogs,
  prepareTx,
  queryTx,
  searchTxs,
  sendTx,
  signTx,
  simulateGas,
  TxResponseSchema,
  type TxSigner,
  waitForTx,
} from "../index.ts";

const PRIVATE_KEY = new Uint8Array(32).fill(5);
const publicKey = { type: "secp256k1", key: publicKeyOf(PRIVATE_KEY) } as const;
const address = encodeAddress(publicKeyAddress(publicKey));
const signer: TxSigner = { address, publicKey, sign: async (bytes) => signSecp256k1(PRIVATE_KEY, bytes) };
const SEND = packAny(MsgSendSchema, { fromAddress: address, toAddress: address });

const node = new NodeDouble();
let chain: ChainClient;

beforeEach(async () => {
  for (const name of Object.keys(node.methods)) delete node.methods[name];
  node.seen.length = 0;
  await node.start();
  chain = new ChainClient(node.address);
  node.methods.status = () => statusAnswer(9);
  const account = packAny(BaseAccountSchema, { address, accountNumber: 11n, sequence: 4n });
  node.answerQuery(Auth.method.account, () => ({ account }));
});

afterEach(async () => {
  chain.close();
  await node.stop();
});

describe("gas and fees", () => {
  it("cuts an adjusted estimate", () => {
    expect(adjustGas(61_119n, parseDec("1.3"))).toBe(79_454n);
    expect(adjustGas(61_119n, DEC_ONE)).toBe(61_119n);
    expect(gasEstimateText(79_454n)).toBe("gas estimate: 79454");
  });

  it("rounds fees up as the reference tool does", () => {
    expect(feesFromPrices(parseDecCoins("0.3uvec,0.0251stake"), 123_457n)).toEqual([
      { denom: "stake", amount: 3099n },
      { denom: "uvec", amount: 37_038n },
    ]);
    expect(feesFromPrices(parseDecCoins("0utoken"), 1n)).toEqual([]);
  });

  it("takes fees or prices, not both", () => {
    const fees = [{ denom: "utoken", amount: 5n }];
    expect(feeFor(7n, { fees })).toMatchObject({ amount: fees, gasLimit: 7n });
    const both = { fees, gasPrices: parseDecCoins("1utoken") };
    expect(() => feeFor(7n, both)).toThrow("cannot provide both fees and gas prices");
  });
});

describe("signing", () => {
  it("settles numbers from the chain and signs in both modes", async () => {
    for (const signMode of [SignMode.DIRECT, SignMode.LEGACY_AMINO_JSON]) {
      const prepared = await prepareTx(chain, signer, [SEND], { memo: "m", timeoutHeight: 99n, signMode });
      expect(prepared.signer).toEqual({
        chainId: "test-1",
        accountNumber: 11n,
        sequence: 4n,
        aminoNames: "current",
      });
      const tx = decodeTx(await signTx(prepared, signer));
      expect(tx.body).toMatchObject({ memo: "m", timeoutHeight: 99n });
      expect(tx.authInfo).toMatchObject({ fee: { gasLimit: 200_000n, amount: [] }, signerInfos: [{ sequence: 4n }] });
      const covered = signBytes(signMode, tx.raw, prepared.signer);
      expect(verifySecp256k1(publicKey.key, covered, tx.raw.signatures[0] ?? new Uint8Array())).toBe(true);
    }
  });

  it("is the same without a node when the numbers are known", async () => {
    const options = { memo: "m", fees: [{ denom: "utoken", amount: 7n }], accountNumber: 11n, sequence: 4n };
    const prepared = await prepareTx(chain, signer, [SEND], options);
    expect(offlineTx([SEND], { ...options, chainId: "test-1" })).toEqual(prepared);
  });

  it("asks no account when both numbers are given, and one number overrides the chain's", async () => {
    const both = await prepareTx(chain, signer, [SEND], { accountNumber: 1n, sequence: 2n });
    expect(both.signer).toMatchObject({ accountNumber: 1n, sequence: 2n });
    expect(node.seen).toEqual(["status"]);
    const one = await prepareTx(chain, signer, [SEND], { sequence: 7n });
    expect(one.signer).toMatchObject({ accountNumber: 11n, sequence: 7n });
  });

  it("spells types as the chain knows them", async () => {
    const other = new ChainClient(node.address, { namespace: "cosmos", chainId: "other-1" });
    const prepared = await prepareTx(other, signer, [SEND]);
    const tx = decodeTx(await signTx(prepared, signer));
    expect(tx.messages[0]?.typeUrl).toBe("/cosmos.bank.v1beta1.MsgSend");
    expect(tx.authInfo.signerInfos[0]?.publicKey?.typeUrl).toBe("/cosmos.crypto.secp256k1.PubKey");
    expect(prepared.signer.chainId).toBe("other-1");
    other.close();
  });

  it("rejects when the account does not exist and when the signer gives nonsense", async () => {
    const broken: TxSigner = { ...signer, sign: async () => new Uint8Array(65) };
    await expect(signTx(await prepareTx(chain, signer, [SEND]), broken)).rejects.toThrow(/signature has 65 bytes/);
    node.answerQuery(Auth.method.account, () => {
      throw sdkErrors.keyNotFound("account x not found");
    });
    await expect(prepareTx(chain, signer, [SEND])).rejects.toMatchObject({ codespace: "sdk", code: 22 });
  });

  it("estimates gas with a transaction of the final size", async () => {
    const sizes: number[] = [];
    node.answerQuery(Service.method.simulate, (bytes) => {
      const { txBytes } = decodeMessage(SimulateRequestSchema, bytes);
      sizes.push(txBytes.length);
      expect(decodeTx(txBytes).raw.signatures).toEqual([new Uint8Array(64)]);
      return { gasInfo: { gasUsed: BigInt(txBytes.length * 100) } };
    });
    const estimates: bigint[] = [];
    const options = {
      gas: "auto",
      gasAdjustment: parseDec("1.5"),
      gasPrices: parseDecCoins("0.5utoken"),
      onGasEstimate: (gas: bigint) => estimates.push(gas),
    } as const;
    const prepared = await prepareTx(chain, signer, [SEND], options);
    const signed = await signTx(prepared, signer);
    expect(sizes.at(-1)).toBe(signed.length);
    expect(estimates).toEqual([BigInt(signed.length * 150)]);
    expect(prepared.fee).toMatchObject({ gasLimit: estimates[0], amount: [{ amount: BigInt(signed.length * 75) }] });
    expect(await simulateGas(chain, prepared, publicKey)).toBe(BigInt(signed.length * 100));
  });

  it.each([
    [MAX_ESTIMATE, undefined],
    [MAX_ESTIMATE + 1n, "the node estimates 30000001 gas, and a whole block has 30000000: invalid gas setting"],
    [2n ** 64n - 1n, "invalid gas setting"],
  ])("believes no estimate above the gas of a block: %d", async (gasUsed, refusal) => {
    node.answerQuery(Service.method.simulate, () => ({ gasInfo: { gasUsed } }));
    const options = { gas: "auto", gasPrices: parseDecCoins("0.5utoken") } as const;
    const prepared = prepareTx(chain, signer, [SEND], options);
    if (refusal === undefined) expect((await prepared).fee.gasLimit).toBe(gasUsed);
    else await expect(prepared).rejects.toThrow(refusal);
  });

  it("simulates what chains of any release read: the transaction in both fields", async () => {
    const seen: [decoded: string, bytes: string][] = [];
    node.answerQuery(Service.method.simulate, (bytes) => {
      const { tx, txBytes } = decodeMessage(SimulateRequestSchema, bytes);
      seen.push([tx === undefined ? "" : toHex(encodeMessage(TxSchema, tx)), toHex(txBytes)]);
      return { gasInfo: { gasUsed: 1n } };
    });
    await prepareTx(chain, signer, [SEND], { gas: "auto", memo: "both" });
    for (const [decoded, bytes] of seen) expect(decoded).toBe(bytes);
    expect(seen).toHaveLength(2);
  });

  it("simulates a multisig with the places of as many members as have to sign", async () => {
    const members = [6, 7, 8].map((byte) => publicKeyOf(new Uint8Array(32).fill(byte)));
    const team = multisigPublicKey(
      2,
      members.map((key) => ({ type: "secp256k1", key })),
    );
    const draft = offlineTx([SEND], { chainId: "chain-9", accountNumber: 1n, sequence: 3n });
    node.answerQuery(Service.method.simulate, (bytes) => {
      const { authInfo, raw } = decodeTx(decodeMessage(SimulateRequestSchema, bytes).txBytes);
      const [info] = authInfo.signerInfos;
      expect(publicKeyFromAny(info?.publicKey ?? fail())).toEqual(team);
      expect(info?.sequence).toBe(3n);
      const sum = info?.modeInfo?.sum;
      if (sum?.case !== "multi") throw new Error("the signer is not a multisig");
      // As the chain pairs them: two of the three, each with its own signature.
      const shares = memberSignatures(team, sum.value, raw.signatures[0] ?? new Uint8Array());
      expect(shares.map((share) => [share.publicKey.key, share.mode, share.signature.length])).toEqual(
        members.slice(0, 2).map((key) => [key, SignMode.LEGACY_AMINO_JSON, 64]),
      );
      return { gasInfo: { gasUsed: 77n } };
    });
    expect(await simulateGas(chain, draft, team)).toBe(77n);
  });
});

function fail(): never {
  throw new Error("the signer has no key");
}

const LOG =
  '[{"events":[{"type":"message","attributes":[{"key":"action","value":"send"}]}]},{"msg_index":1,"log":"x","events":[]}]';

function committed(bytes: Uint8Array, code = 0): unknown {
  const result = {
    code,
    data: "AQI=",
    log: code === 0 ? LOG : "failed",
    gas_wanted: "9",
    gas_used: "8",
    events: [],
    codespace: "",
  };
  return { hash: txHash(bytes), height: "5", index: 0, tx_result: result, tx: toBase64(bytes) };
}

describe("a sequence that another transaction took", () => {
  const WORDS = "account sequence mismatch, expected 6, got 4: incorrect account sequence";
  /** Sequences of the transactions that the node received. */
  const handed: bigint[] = [];

  /** A node that accepts sequence 6, and refuses others with these words. */
  function refuseOld(words = WORDS, code = 32): void {
    handed.length = 0;
    node.methods.tx = () => {
      throw new Refusal("tx not found");
    };
    node.methods.broadcast_tx_sync = ({ tx }) => {
      const bytes = fromBase64(String(tx));
      const sequence = decodeTx(bytes).authInfo.signerInfos[0]?.sequence ?? 0n;
      handed.push(sequence);
      const refusal = { code, codespace: "sdk", log: words, data: "", hash: txHash(bytes) };
      return sequence === 6n ? { ...refusal, code: 0, codespace: "", log: "[]" } : refusal;
    };
  }

  it("is replaced by the one that the node names, and the transaction signed again", async () => {
    refuseOld();
    const told: bigint[] = [];
    const signed: string[] = [];
    const prepared = await prepareTx(chain, signer, [SEND]);
    const response = await handInTx(chain, signer, prepared, {
      mode: "sync",
      onSigned: async () => void signed.push("once"),
      onNewSequence: (next) => told.push(next),
    });
    expect({ code: response.code, handed, told, signed }).toEqual({
      code: 0,
      handed: [4n, 6n],
      told: [6n],
      signed: ["once"],
    });
    expect((await sendTx(chain, signer, [SEND], { mode: "sync" })).code).toBe(0);
  });

  it("is asked for where the node names none", async () => {
    refuseOld("incorrect account sequence");
    const prepared = await prepareTx(chain, signer, [SEND]);
    const account = packAny(BaseAccountSchema, { address, accountNumber: 11n, sequence: 6n });
    node.answerQuery(Auth.method.account, () => ({ account }));
    expect((await handInTx(chain, signer, prepared, { mode: "sync" })).code).toBe(0);
    expect(handed).toEqual([4n, 6n]);
  });

  it.each<[what: string, words: string, code: number, options: Parameters<typeof sendTx>[3]]>([
    ["it was chosen", WORDS, 32, { sequence: 4n }],
    ["the node is behind", "account sequence mismatch, expected 3, got 4", 32, {}],
    ["nothing newer is known", "incorrect account sequence", 32, {}],
    ["the refusal is another one", "insufficient fees; expected 9", 13, {}],
  ])("stays where %s", async (_, words, code, options) => {
    refuseOld(words, code);
    const response = await sendTx(chain, signer, [SEND], { ...options, mode: "sync" });
    expect({ code: response.code, handed }).toEqual({ code, handed: [4n] });
  });

  it("is given up after a few tries", async () => {
    refuseOld();
    let expected = 100n;
    node.methods.broadcast_tx_sync = ({ tx }) => {
      expected += 1n;
      handed.push(expected);
      return {
        code: 32,
        codespace: "sdk",
        log: `expected ${expected}`,
        data: "",
        hash: txHash(fromBase64(String(tx))),
      };
    };
    expect((await sendTx(chain, signer, [SEND], { mode: "sync" })).code).toBe(32);
    expect(handed).toHaveLength(5);
  });

  it("makes no second transaction where the first is in a block, or nobody can tell", async () => {
    refuseOld();
    const refused: string[] = [];
    const answer = node.methods.broadcast_tx_sync;
    node.methods.broadcast_tx_sync = (params) => {
      refused.push(String(params.tx));
      return answer?.(params);
    };
    node.methods.tx = () => committed(fromBase64(refused[0] ?? ""));
    expect(await sendTx(chain, signer, [SEND], { mode: "sync" })).toMatchObject({ code: 0, height: 5n });
    node.methods.tx = () => {
      throw new Refusal("transaction indexing is disabled");
    };
    expect((await sendTx(chain, signer, [SEND], { mode: "sync" })).code).toBe(32);
    expect(handed).toEqual([4n, 4n]);
  });

  it.each([
    ["sdk", 32, WORDS],
    ["sdk", 6, `rpc error: code = Unknown desc = ${WORDS} With gas wanted: '0': unknown request`],
  ])("is replaced in simulations as well: %s/%d", async (codespace, code, words) => {
    refuseOld();
    const seen: (bigint | undefined)[] = [];
    node.answerQuery(Service.method.simulate, (bytes) => {
      const { authInfo } = decodeTx(decodeMessage(SimulateRequestSchema, bytes).txBytes);
      const sequence = authInfo.signerInfos[0]?.sequence;
      seen.push(sequence);
      if (sequence !== 6n) throw new SvcError(codespace, code, words);
      return { gasInfo: { gasUsed: 5n } };
    });
    expect((await prepareTx(chain, signer, [SEND], { gas: "auto" })).signer.sequence).toBe(6n);
    expect(seen).toEqual([4n, 6n, 6n]);
    await expect(prepareTx(chain, signer, [SEND], { gas: "auto", sequence: 4n })).rejects.toThrow("expected 6");
  });
});

describe("broadcasting", () => {
  const bytes = new Uint8Array([1, 2, 3]);

  it("returns the mempool's answer in modes sync and async", async () => {
    for (const mode of ["sync", "async"] as const) {
      node.methods[`broadcast_tx_${mode}`] = ({ tx }) => {
        expect(fromBase64(String(tx))).toEqual(Buffer.from(bytes));
        return { code: 0, data: "", log: mode === "sync" ? "[]" : "", codespace: "", hash: txHash(bytes) };
      };
      expect(printJson(toJson(TxResponseSchema, await broadcastTx(chain, bytes, mode)))).toBe(
        `{"height":"0","txhash":"${txHash(bytes)}","codespace":"","code":0,"data":"","raw_log":"${mode === "sync" ? "[]" : ""}",` +
          '"logs":[],"info":"","gas_wanted":"0","gas_used":"0","tx":null,"timestamp":"","events":[]}',
      );
    }
  });

  it.each([
    ["tx already exists in cache", 19],
    ["Mempool is full: number of txs 5000", 20],
    ["Tx too large. Max size is 1048576", 21],
  ])("turns %j into code %i", async (words, code) => {
    node.methods.broadcast_tx_sync = () => {
      throw new Refusal(words);
    };
    const response = await broadcastTx(chain, bytes);
    expect(response).toMatchObject({ code, codespace: "sdk", txhash: txHash(bytes), rawLog: "" });
  });

  it("sends nothing for a caller that has ended meanwhile", async () => {
    const before = node.seen.length;
    const sent = broadcastTx(chain, bytes, "block", { signal: AbortSignal.abort() });
    await expect(sent).rejects.toThrow("nothing was sent");
    expect(node.seen).toHaveLength(before);
  });

  it("waits for the commit in mode block", async () => {
    let asked = 0;
    node.methods.broadcast_tx_sync = () => ({ code: 0, log: "[]", hash: txHash(bytes) });
    node.methods.tx = () => {
      asked += 1;
      if (asked < 3) throw new Refusal(`tx (${txHash(bytes)}) not found`);
      return committed(bytes);
    };
    const response = await broadcastTx(chain, bytes, "block", { pollMs: 1 });
    expect(response).toMatchObject({ height: 5n, data: "0102", gasUsed: 8n, rawLog: LOG, timestamp: "" });
    expect(response.logs).toMatchObject([
      { msgIndex: 0, log: "" },
      { msgIndex: 1, log: "x" },
    ]);
    expect(asked).toBe(3);
  });

  it("takes no other transaction of the node for its own", async () => {
    const other = Uint8Array.of(...bytes, 0);
    node.methods.broadcast_tx_sync = () => ({ code: 0, log: "[]", hash: txHash(other) });
    node.methods.tx = () => committed(other);
    expect((await broadcastTx(chain, bytes)).txhash).toBe(txHash(bytes));
    await expect(broadcastTx(chain, bytes, "block", { pollMs: 1 })).rejects.toMatchObject({
      message: expect.stringContaining(`it is transaction ${txHash(other)} instead of ${txHash(bytes)}`),
    });
  });

  it("does not wait for what the mempool refused", async () => {
    node.methods.broadcast_tx_sync = () => ({
      code: 13,
      codespace: "sdk",
      log: "insufficient fee",
      hash: txHash(bytes),
    });
    const response = await broadcastTx(chain, bytes, "block");
    expect(response).toMatchObject({ code: 13, codespace: "sdk", rawLog: "insufficient fee", height: 0n });
  });

  it("ends a wait without result with the command that continues it", async () => {
    node.methods.tx = () => {
      throw new Refusal("tx (X) not found");
    };
    const error = await waitForTx(chain, txHash(bytes), { timeoutMs: 5, pollMs: 1 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ codespace: "client", code: 5, hint: expect.stringContaining("svc query tx") });
  });

  it("overcomes a lost connection while it waits", async () => {
    node.methods.tx = () => committed(bytes);
    await node.stop();
    const waiting = waitForTx(chain, txHash(bytes), { pollMs: 5 });
    await node.start();
    expect((await waiting).height).toBe(5n);
  });

  it("does all the steps in one call for programs", async () => {
    let sent = new Uint8Array();
    node.methods.broadcast_tx_sync = ({ tx }) => {
      sent = new Uint8Array(fromBase64(String(tx)));
      return { code: 0, log: "[]", hash: txHash(sent) };
    };
    node.methods.tx = () => committed(sent);
    expect(await sendTx(chain, signer, [SEND])).toMatchObject({ height: 5n, code: 0 });
    expect(decodeTx(sent).messages[0]?.typeUrl).toBe("/sdk.bank.v1beta1.MsgSend");
  });
});

describe("looking transactions up", () => {
  it("adds the transaction and the time of its block", async () => {
    serveBlocks(node, () => 9);
    const bytes = await signTx(await prepareTx(chain, signer, [SEND]), signer);
    node.methods.tx = () => committed(bytes);
    const response = await queryTx(chain, `0x${txHash(bytes).toLowerCase()}`);
    expect(response.timestamp).toBe("2026-01-01T00:00:05Z");
    expect(toJson(TxResponseSchema, response)).toMatchObject({
      tx: { "@type": "/sdk.tx.v1beta1.Tx", body: { messages: [{ "@type": "/sdk.bank.v1beta1.MsgSend" }] } },
    });
  });

  it("reports what is not a hash and what is not a transaction", async () => {
    await expect(queryTx(chain, "zz")).rejects.toThrow(/"zz" is not a transaction hash of 64 hex digits/);
    node.methods.tx = () => {
      throw new Refusal("tx (A) not found");
    };
    await expect(queryTx(chain, "A".repeat(64))).rejects.toMatchObject({ codespace: "sdk", code: 38 });
  });

  it("searches with times, asking for each block once", async () => {
    serveBlocks(node, () => 9);
    node.methods.tx_search = ({ query, page, per_page: perPage, order_by: order }) => {
      expect({ query, page, perPage, order }).toEqual({ query: "a.b='c'", page: "2", perPage: "5", order: "desc" });
      return { txs: [committed(new Uint8Array([1])), committed(new Uint8Array([2]), 5)], total_count: "12" };
    };
    const { txs, total } = await searchTxs(chain, "a.b='c'", { page: 2, perPage: 5, order: "desc" });
    expect(total).toBe(12n);
    expect(txs.map(({ timestamp, code, logs }) => [timestamp, code, logs.length])).toEqual([
      ["2026-01-01T00:00:05Z", 0, 2],
      ["2026-01-01T00:00:05Z", 5, 0],
    ]);
    expect(node.seen).toEqual(["tx_search", "status", "block"]);
  });

  it("builds queries from conditions", () => {
    expect(eventsQuery(["message.action=send", "tx.height=5"])).toBe("message.action='send' AND tx.height=5");
    for (const text of ["", "message", "message.action", "a.b='x'", "=x"]) {
      expect(() => eventsQuery([text])).toThrow(/write <type>.<attribute>=<value>/);
    }
  });

  it("reads no logs from what is not a list of logs", () => {
    expect(parseLogs("")).toEqual([]);
    expect(parseLogs("[1")).toEqual([]);
    expect(parseLogs('[1,{"events":5}]')).toEqual([expect.objectContaining({ msgIndex: 0, events: [] })]);
    expect(create(TxResponseSchema).logs).toEqual([]);
  });
});
