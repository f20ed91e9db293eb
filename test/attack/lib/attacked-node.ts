import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ChainClient } from "../../../src/client/index.ts";
import { signTx, type TestKey, type TestMessage, type TxSettings, testKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { txHash } from "../../../src/wire/index.ts";
import { balanceOf, Fixture, type NodeRequest, startNode, type TestNode, waitFor } from "../../support/index.ts";
import { type Door, doorOf } from "./sockets.ts";

/** Limit on others' waits for an answer: slowness shows in the pace of blocks and answers, on a busy machine too. */
export const PATIENCE_MS = 60_000;
export const FUNDS = 10n ** 12n;

export interface AttackedRequest extends Omit<NodeRequest, "accounts"> {
  /** Names of the keys that hold `FUNDS` at the start; their account numbers are their places. */
  readonly names?: readonly string[];
}

/** A node of the built program with its own chain, which checks all invariants after every block. */
export class AttackedNode {
  readonly fixture: Fixture;
  readonly node: TestNode;
  readonly client: ChainClient;
  readonly door: Door;
  readonly keys: ReadonlyMap<string, TestKey>;
  readonly #sequences = new Map<string, bigint>();

  private constructor(fixture: Fixture, node: TestNode, keys: readonly TestKey[]) {
    this.fixture = fixture;
    this.node = node;
    this.keys = new Map(keys.map((key) => [key.name, key]));
    this.client = node.client(PATIENCE_MS);
    this.door = doorOf(node.address);
    fixture.defer(() => this.client.close());
  }

  static async start({
    names = ["mallory", "alice"],
    checkInvariants = true,
    ...request
  }: AttackedRequest = {}): Promise<AttackedNode> {
    const fixture = new Fixture();
    try {
      const keys = names.map((name) => testKey(name));
      const coins = [{ denom: NATIVE_DENOM, amount: FUNDS }];
      const accounts = keys.map(({ address }) => ({ address, coins }));
      return new AttackedNode(fixture, await startNode(fixture, { ...request, accounts, checkInvariants }), keys);
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  get pid(): number {
    return this.node.process.pid;
  }

  key(name: string): TestKey {
    const key = this.keys.get(name);
    if (key === undefined) throw new Error(`the node was started without ${name}`);
    return key;
  }

  /** Signs with the next sequence of a key. */
  sign(name: string, messages: readonly TestMessage[], settings: TxSettings = {}): Uint8Array {
    const sequence = this.#sequences.get(name) ?? 0n;
    this.#sequences.set(name, sequence + 1n);
    const accountNumber = BigInt([...this.keys.keys()].indexOf(name));
    return signTx(this.node.chainId, messages, [{ key: this.key(name), accountNumber, sequence }], settings);
  }

  /** A transaction that was not taken has used no sequence. */
  unsign(name: string): void {
    this.#sequences.set(name, (this.#sequences.get(name) ?? 1n) - 1n);
  }

  /** Signs, sends and waits for the block; throws the chain's refusal. */
  async mustSend(name: string, messages: readonly TestMessage[], settings: TxSettings = {}): Promise<void> {
    await this.mustDeliver(this.sign(name, messages, settings));
  }

  async mustDeliver(tx: Uint8Array): Promise<void> {
    const { code, log } = await this.client.node.broadcast(tx, "sync");
    if (code !== 0) throw new Error(log);
    const hash = txHash(tx);
    const found = await waitFor(() => this.client.node.tx(hash), `transaction ${hash}`);
    if (found.code !== 0) throw new Error(found.log);
  }

  async height(): Promise<bigint> {
    return (await this.client.node.status()).latestHeight;
  }

  query<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    return this.client.query.call(method, request);
  }

  /** Balance of each key in the chain's own token. */
  balances(): Promise<bigint[]> {
    return Promise.all([...this.keys.values()].map(({ address }) => balanceOf(this.client, address)));
  }

  close(): Promise<void> {
    return this.fixture.close();
  }
}
