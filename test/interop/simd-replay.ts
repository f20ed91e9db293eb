import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { DEFAULT_CONSENSUS_PARAMS, logOf, NO_VOTERS, type VoteInfo } from "../../src/abci/index.ts";
import { createApp, type SvcApplication } from "../../src/app/index.ts";
import { moduleAddress } from "../../src/crypto/index.ts";
import { memoryDatabase } from "../../src/store/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import { fromHex } from "../../src/util/index.ts";
import { Query as AuthQuery } from "../../src/wire/gen/sdk/auth/v1beta1/auth_pb.js";
import {
  decodeMessage,
  encodeAddress,
  encodeAuthInfo,
  encodeMessage,
  encodeTx,
  encodeTxBody,
  type JsonValue,
  methodPath,
  packAny,
  parseTimestamp,
  publicKeyToAny,
  SignMode,
  signBytes,
  toJson,
  toNanos,
} from "../../src/wire/index.ts";
import type { SimdChain } from "./simd-chain.ts";
import type { SimdGenesis } from "./simd-home.ts";

/** An event as the reference and we report it. */
export interface Told {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

/** How a transaction came out: `codespace/code`, nothing on success. */
export interface Outcome {
  readonly code: string;
  readonly log: string;
}

/** A block of the reference, with everything that an application receives and returns. */
export interface TheirBlock {
  readonly txs: readonly Uint8Array[];
  readonly time: bigint;
  readonly proposer: Uint8Array;
  readonly votes: readonly VoteInfo[];
  readonly outcomes: readonly Outcome[];
  /** Events of the block and of the successful transactions. */
  readonly events: readonly Told[];
}

const GAS = 3_000_000n;
const FEE = [{ denom: "stake", amount: 537n }];

/** A message in the reference's spelling. */
export function theirs<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Any {
  return packAny(schema, init, "cosmos");
}

/** Makes accounts in the genesis document of the reference that hold coins; `rows` instead of plain accounts. */
export function addAccounts(
  { app_state: state }: SimdGenesis,
  keys: readonly TestKey[],
  coins: readonly { readonly denom: string; readonly amount: bigint }[],
  rows: Readonly<Record<string, (base: object) => object>> = {},
): void {
  const { auth, bank } = state as unknown as {
    auth: { accounts: object[] };
    bank: { balances: object[]; supply: { denom: string; amount: string }[] };
  };
  const held = coins.map(({ denom, amount }) => ({ denom, amount: `${amount}` }));
  for (const { name, address } of keys) {
    const base = { address, pub_key: null, account_number: "0", sequence: "0" };
    const plain = { "@type": "/cosmos.auth.v1beta1.BaseAccount", ...base };
    auth.accounts.push(rows[name]?.(base) ?? plain);
    bank.balances.push({ address, coins: held });
  }
  for (const row of bank.supply) {
    const more = coins.find(({ denom }) => denom === row.denom)?.amount ?? 0n;
    row.amount = `${BigInt(row.amount) + more * BigInt(keys.length)}`;
  }
}

/** Speaks to the node of the reference without its command line. */
export class TheirNode {
  readonly #chain: SimdChain;
  readonly #sequences = new Map<string, { readonly accountNumber: bigint; sequence: bigint }>();

  constructor(chain: SimdChain) {
    this.#chain = chain;
  }

  /** Signs and broadcasts a transaction; returns the node's refusal. */
  async send(key: TestKey, messages: readonly Any[], granter = ""): Promise<Outcome> {
    const known = this.#sequences.get(key.address) ?? (await this.#account(key.address));
    const { accountNumber, sequence } = known;
    const bodyBytes = encodeTxBody({ messages: [...messages], memo: "", timeoutHeight: 0n });
    const signer = { publicKey: publicKeyToAny(key.publicKey, "cosmos"), mode: SignMode.DIRECT, sequence };
    const authInfoBytes = encodeAuthInfo({ amount: FEE, gasLimit: GAS, payer: "", granter }, [signer]);
    const parts = { bodyBytes, authInfoBytes };
    const { chainId } = this.#chain;
    const signature = key.sign(signBytes(SignMode.DIRECT, parts, { chainId, accountNumber, sequence }));
    const tx = Buffer.from(encodeTx(parts, [signature])).toString("base64");
    const { code, codespace, log } = await this.rpc("broadcast_tx_sync", { tx });
    if (code === 0) this.#sequences.set(key.address, { accountNumber, sequence: sequence + 1n });
    else this.#sequences.delete(key.address);
    return { code: code === 0 ? "" : `${codespace}/${code}`, log };
  }

  /** The answer to a query at a height, as JSON; an error is its text. */
  async ask<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    height: number,
  ): Promise<JsonValue | string> {
    const found = await this.#query(method, request, height);
    return typeof found === "string" ? found : toJson(method.output, found as never, { namespace: "cosmos" });
  }

  /** Like `ask`, at the last height, as a message. */
  async read<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): Promise<MessageShape<M["output"]>> {
    const found = await this.#query(method, request, 0);
    if (typeof found === "string") throw new Error(found);
    return found;
  }

  async block(height: number): Promise<TheirBlock> {
    const { block } = await this.rpc("block", { height: `${height}` });
    const results = await this.rpc("block_results", { height: `${height}` });
    const set =
      height === 1 ? [] : (await this.rpc("validators", { height: `${height - 1}`, per_page: "100" })).validators;
    const votes = set.map((row: { address: string; voting_power: string }, i: number) => ({
      flag: block.last_commit.signatures[i].block_id_flag,
      validator: { address: fromHex(row.address.toLowerCase()), power: BigInt(row.voting_power) },
    }));
    const found: { code: number; codespace: string; log: string; events: Told[] }[] = results.txs_results ?? [];
    return {
      txs: block.data.txs.map((tx: string) => Uint8Array.from(Buffer.from(tx, "base64"))),
      time: nanosOf(block.header.time),
      proposer: fromHex(block.header.proposer_address.toLowerCase()),
      votes,
      outcomes: found.map(({ code, codespace, log }) => ({ code: code === 0 ? "" : `${codespace}/${code}`, log })),
      events: [
        ...results.finalize_block_events,
        ...found.filter(({ code }) => code === 0).flatMap(({ events }) => events),
      ],
    };
  }

  async rpc(method: string, params: Readonly<Record<string, unknown>>) {
    const response = await fetch(this.#chain.url.replace("tcp:", "http:"), {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as ReturnType<typeof JSON.parse>;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async #query<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>, height: number) {
    const data = Buffer.from(encodeMessage(method.input, create(method.input, request))).toString("hex");
    const path = methodPath(method, "cosmos");
    const { response } = await this.rpc("abci_query", { path, data, height: `${height}`, prove: false });
    if (response.code !== 0) return `${response.log}`;
    return decodeMessage<M["output"]>(method.output, Buffer.from(response.value ?? "", "base64"));
  }

  async #account(address: string) {
    const { info } = await this.read(AuthQuery.method.accountInfo, { address });
    return { accountNumber: info?.accountNumber ?? 0n, sequence: info?.sequence ?? 0n };
  }
}

/** Our application, which runs the blocks of the reference. */
export class Replay {
  readonly app: SvcApplication;

  /** At the genesis of the reference, its first validator as state instead of a transaction. */
  constructor(chain: SimdChain, modules: readonly string[] = []) {
    const genesis = JSON.parse(readFileSync(join(chain.home, "config", "genesis.json"), "utf8"));
    this.app = createApp({ database: memoryDatabase(), checkInvariants: true });
    this.app.initChain({
      chainId: chain.chainId,
      time: nanosOf(genesis.genesis_time),
      initialHeight: 1n,
      validators: [],
      consensusParams: DEFAULT_CONSENSUS_PARAMS,
      appState: ourGenesis(genesis, chain.address("validator"), modules),
    });
  }

  run(height: number, { txs, time, proposer, votes }: TheirBlock) {
    const result = this.app.finalizeBlock({
      ...NO_VOTERS,
      height: BigInt(height),
      hash: new Uint8Array(32),
      ...{ lastCommit: { round: 0, votes }, txs, time, proposer },
    });
    this.app.commit();
    const good = result.txResults.filter(({ code }) => code === 0).flatMap(({ events }) => events);
    const outcomes = result.txResults.map(
      (each): Outcome => ({ code: each.code === 0 ? "" : `${each.codespace}/${each.code}`, log: logOf(each) }),
    );
    return { outcomes, events: [...result.events, ...good] as readonly Told[] };
  }

  /** The answer to a query of the last height in the reference's spelling; an error is its text. */
  ask<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): JsonValue | string {
    const data = encodeMessage(method.input, create(method.input, request));
    const answer = this.app.query({ path: methodPath(method, "cosmos"), data, height: 0n, prove: false });
    if (answer.code !== 0) return answer.log;
    return toJson(method.output, decodeMessage(method.output, answer.value) as never, { namespace: "cosmos" });
  }
}

interface Row {
  readonly address: string;
  readonly coins: readonly { readonly denom: string; readonly amount: string }[];
}

/** The `app_state` of the reference's genesis as ours: its first validator is state instead of a transaction. */
export function ourGenesis(
  genesis: ReturnType<typeof JSON.parse>,
  operator: string,
  modules: readonly string[],
): Record<string, unknown> {
  const { auth, bank, staking, slashing, distribution, mint, genutil } = genesis.app_state;
  const [gentx] = genutil.gen_txs;
  const [message] = gentx.body.messages;
  const { amount, denom } = message.value;
  const accounts = auth.accounts.map((account: { address: string }) =>
    account.address === operator
      ? { ...account, sequence: "1", pub_key: gentx.auth_info.signer_infos[0].public_key }
      : account,
  );
  const pool = encodeAddress(moduleAddress("not_bonded_tokens_pool"));
  const paid = ({ coins, ...row }: Row) => ({
    ...row,
    coins: coins.map((coin) =>
      coin.denom === denom ? { denom, amount: `${BigInt(coin.amount) - BigInt(amount)}` } : coin,
    ),
  });
  const balances = bank.balances.map((row: Row) => (row.address === operator ? paid(row) : row));
  const shares = `${amount}.${"0".repeat(18)}`;
  const validator = {
    operator_address: message.validator_address,
    consensus_pubkey: message.pubkey,
    status: "BOND_STATUS_UNBONDED",
    tokens: amount,
    delegator_shares: shares,
    description: message.description,
    unbonding_time: "1970-01-01T00:00:00Z",
    commission: { commission_rates: message.commission, update_time: genesis.genesis_time },
    min_self_delegation: message.min_self_delegation,
  };
  const delegation = { delegator_address: operator, validator_address: message.validator_address, shares };
  return {
    auth: { accounts },
    bank: { balances: [...balances, { address: pool, coins: [{ denom, amount }] }] },
    staking: { params: staking.params, validators: [validator], delegations: [delegation] },
    slashing: { params: slashing.params },
    distribution: { params: distribution.params },
    mint: { minter: mint.minter, params: mint.params },
    ...Object.fromEntries(modules.map((name) => [name, genesis.app_state[name]])),
  };
}

export function nanosOf(text: string): bigint {
  const parsed = parseTimestamp(text);
  if (parsed === undefined) throw new Error(`${text} is not a time`);
  return toNanos(parsed);
}
