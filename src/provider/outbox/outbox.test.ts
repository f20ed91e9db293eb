import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../../util/index.ts";
import {
  Outbox,
  type OutboxChain,
  type OutMessage,
  Rejected,
  type SignRequest,
  type TxVerdict,
  Withdrawn,
} from "./outbox.ts";

const OK: TxVerdict = { code: 0, codespace: "", log: "" };
const TIMEOUT = 3n;

/** The network's treatment of one broadcast. */
type Fate = "deliver" | "drop" | "mute" | "twice" | "late" | "lost" | "unreachable" | "foreign" | "full" | "poor";

/** A chain with one account: transactions wait in a mempool until the next block. */
class FakeChain implements OutboxChain {
  now = 1n;
  sequence = 0n;
  executed: string[] = [];
  bad = new Set<string>();
  namesCulprit = true;
  simulations = 0;
  broadcasts = 0;
  fates: Fate[] = [];
  /** Answers that are held back until the test lets them go. */
  late: (() => void)[] = [];
  #mempool: { request: SignRequest; hash: string }[] = [];
  #signed = new Map<string, SignRequest>();

  async height() {
    return this.now;
  }
  async account() {
    return { number: 7n, sequence: this.sequence };
  }
  async simulate(messages: readonly OutMessage[]) {
    if (this.fates[0] === "unreachable") {
      this.fates.shift();
      throw new Error("connection refused");
    }
    this.simulations += 1;
    const at = messages.findIndex((each) => this.bad.has(each.typeUrl));
    if (at < 0) return 50_000n;
    const where = this.namesCulprit ? `failed to execute message; message index: ${at}: ` : "";
    throw new Rejected({ code: 4, codespace: "market", log: `${where}bad ${messages[at]?.typeUrl}` });
  }
  async sign(request: SignRequest) {
    const hash = `${request.sequence}:${request.timeoutHeight}:${request.messages.map((each) => each.typeUrl).join("+")}`;
    this.#signed.set(hash, request);
    return { bytes: new TextEncoder().encode(hash), hash };
  }
  async broadcast(bytes: Uint8Array): Promise<TxVerdict> {
    const hash = new TextDecoder().decode(bytes);
    const request = this.#signed.get(hash);
    if (request === undefined) throw new Error("never signed");
    this.broadcasts += 1;
    const fate = this.fates.shift() ?? "deliver";
    if (fate === "full") return { code: 20, codespace: "sdk", log: "mempool is full" };
    if (fate === "poor") return { code: 13, codespace: "sdk", log: "insufficient fees: got 1utoken, required 5utoken" };
    if (fate === "lost") throw new Error("connection reset");
    if (fate === "foreign") this.sequence += 1n;
    const expected = this.sequence + BigInt(this.#mempool.length);
    if (request.sequence !== expected) return { code: 32, codespace: "sdk", log: `expected ${expected}` };
    if (fate !== "drop") this.#mempool.push({ request, hash });
    if (fate === "mute") throw new Error("socket hang up");
    // The connection broke before the answer, and the client handed the same bytes in again.
    if (fate === "twice") return { code: 19, codespace: "sdk", log: "tx already exists in cache" };
    if (fate === "late") {
      await new Promise<void>((resolve) => this.late.push(resolve));
      return { code: 32, codespace: "sdk", log: `expected ${this.sequence}` };
    }
    return OK;
  }
  /** Builds a block from the mempool. */
  block(): { height: bigint; txs: Map<string, TxVerdict> } {
    this.now += 1n;
    const txs = new Map<string, TxVerdict>();
    for (const { request, hash } of this.#mempool.splice(0)) {
      if (request.timeoutHeight < this.now) continue;
      if (request.sequence !== this.sequence) {
        txs.set(hash, { code: 32, codespace: "sdk", log: `expected ${this.sequence}` });
        continue;
      }
      this.sequence += 1n;
      this.executed.push(...request.messages.map((each) => each.typeUrl));
      txs.set(hash, OK);
    }
    return { height: this.now, txs };
  }
}

function make(chain: FakeChain, log: Logger = silentLogger, batch = 5): Outbox {
  const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
  return new Outbox({ chain, log, timeoutBlocks: TIMEOUT, batch, pause });
}

const message = (name: string): OutMessage => ({ typeUrl: name, value: new Uint8Array() });
const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe("the outbox", () => {
  it("sends what waits together in one transaction and reports the height", async () => {
    const chain = new FakeChain();
    const outbox = make(chain);
    const sent = ["a", "b", "c"].map((name) => outbox.send(message(name), name));
    await turns();
    expect(outbox.depth).toBe(3);
    outbox.onBlock(chain.block());
    expect(await Promise.all(sent)).toEqual([2n, 2n, 2n]);
    expect([chain.sequence, chain.executed]).toEqual([1n, ["a", "b", "c"]]);
  });

  it("sends the others when one message of a batch is refused", async () => {
    const chain = new FakeChain();
    chain.bad.add("b");
    const outbox = make(chain);
    const sent = ["a", "b", "c"].map((name) =>
      outbox.send(message(name), name).then(
        () => "ok",
        (error) => error.message,
      ),
    );
    for (let i = 0; i < 4; i++) {
      await turns();
      outbox.onBlock(chain.block());
    }
    const text = "failed to execute message; message index: 1: bad b";
    expect(await Promise.all(sent)).toEqual(["ok", text, "ok"]);
    expect(chain.executed).toEqual(["a", "c"]);
    expect(chain.sequence).toBe(1n);
  });

  it.each([
    [true, 40],
    [false, 60],
  ])("sends 200 messages with a bad one in each five in few blocks (the bad one named: %s)", async (named, blocks) => {
    const chain = new FakeChain();
    chain.namesCulprit = named;
    const names = Array.from({ length: 200 }, (_, i) => `m${i}`);
    for (const name of names) if (name.endsWith("3") || name.endsWith("8")) chain.bad.add(name);
    const outbox = make(chain);
    const sent = names.map((name) => outbox.send(message(name), name).catch(() => {}));
    while (outbox.depth > 0 && chain.now < 1_000n) {
      await turns(60);
      outbox.onBlock(chain.block());
    }
    await Promise.all(sent);
    expect(chain.executed).toEqual(names.filter((name) => !chain.bad.has(name)));
    expect(Number(chain.now)).toBeLessThanOrEqual(blocks * (named ? 1 : 3));
  });

  it.each([0, 7, 19])("finds a bad one of twenty by halves, each with one question (at %i)", async (at) => {
    const chain = new FakeChain();
    chain.namesCulprit = false;
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    chain.bad.add(`m${at}`);
    const outbox = make(chain, silentLogger, names.length);
    const sent = names.map((name) => outbox.send(message(name), name).catch(() => {}));
    while (outbox.depth > 0 && chain.now < 100n) {
      await turns(60);
      outbox.onBlock(chain.block());
    }
    await Promise.all(sent);
    expect(chain.executed).toEqual(names.filter((_, i) => i !== at));
    // Twenty in halves: five times. One half goes into a block, and the other is halved again.
    expect(chain.broadcasts).toBeLessThanOrEqual(5);
    expect(chain.simulations).toBeLessThanOrEqual(1 + 2 * 5);
  });

  it("does not send what is no longer wanted when its turn comes", async () => {
    const chain = new FakeChain();
    const outbox = make(chain);
    let isWanted = true;
    const first = outbox.send(message("a"), "a");
    await turns();
    const second = outbox.send(message("b"), "b", { isWanted: () => isWanted });
    const third = outbox.send(message("c"), "c");
    isWanted = false;
    outbox.onBlock(chain.block());
    await first;
    await expect(second).rejects.toThrow(Withdrawn);
    await turns();
    outbox.onBlock(chain.block());
    await third;
    expect(chain.executed).toEqual(["a", "c"]);
  });

  it("waits for the block when a broadcast is not answered", async () => {
    const chain = new FakeChain();
    chain.fates = ["mute"];
    const outbox = make(chain);
    const sent = outbox.send(message("a"), "a");
    await turns();
    outbox.onBlock(chain.block());
    expect(await sent).toBe(2n);
    expect(chain.executed).toEqual(["a"]);
  });

  it("waits for the block when the mempool has the transaction already", async () => {
    const chain = new FakeChain();
    chain.fates = ["twice"];
    const outbox = make(chain);
    const sent = outbox.send(message("a"), "a");
    await turns();
    outbox.onBlock(chain.block());
    expect(await sent).toBe(2n);
    for (let i = 0; i < 3; i++) {
      await turns();
      outbox.onBlock(chain.block());
    }
    expect(chain.executed).toEqual(["a"]);
  });

  it("believes the block and not an answer that comes behind it", async () => {
    const chain = new FakeChain();
    chain.fates = ["late"];
    const outbox = make(chain);
    const sent = outbox.send(message("a"), "a");
    await turns();
    outbox.onBlock(chain.block());
    expect(await sent).toBe(2n);
    for (const answer of chain.late) answer();
    for (let i = 0; i < 3; i++) {
      await turns();
      outbox.onBlock(chain.block());
    }
    expect(chain.executed).toEqual(["a"]);
    expect(outbox.depth).toBe(0);
  });

  it("sends again when another transaction of the key came before it in the block", async () => {
    const chain = new FakeChain();
    const outbox = make(chain);
    const sent = outbox.send(message("a"), "a");
    await turns();
    chain.sequence += 1n;
    outbox.onBlock(chain.block());
    await turns();
    outbox.onBlock(chain.block());
    expect(await sent).toBe(3n);
    expect(chain.executed).toEqual(["a"]);
  });

  it("waits while the mempool is full, and loses nothing", async () => {
    const chain = new FakeChain();
    chain.fates = ["full", "full", "full"];
    const outbox = make(chain);
    const sent = Promise.all(["a", "b"].map((name) => outbox.send(message(name), name)));
    await turns();
    expect(outbox.depth).toBe(2);
    outbox.onBlock(chain.block());
    await turns();
    outbox.onBlock(chain.block());
    await sent;
    expect(chain.executed).toEqual(["a", "b"]);
    expect(chain.broadcasts).toBe(4);
  });

  it("reports once a fee that is too low, and does not go on sending", async () => {
    const chain = new FakeChain();
    chain.fates = Array.from({ length: 100 }, () => "poor");
    const outbox = make(chain);
    const sent = Promise.allSettled(["a", "b", "c"].map((name) => outbox.send(message(name), name)));
    await turns(60);
    const refusals = (await sent).map((each) => (each.status === "rejected" ? String(each.reason) : "sent"));
    expect(refusals).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("insufficient fees")));
    // One for the batch, and for each half and part of it.
    expect(chain.broadcasts).toBe(5);
    for (let i = 0; i < 5; i++) outbox.onBlock(chain.block());
    await turns();
    expect(chain.broadcasts).toBe(5);
    expect(outbox.depth).toBe(0);
  });

  it("sends again only after the transaction can no longer arrive", async () => {
    const chain = new FakeChain();
    chain.fates = ["drop"];
    const outbox = make(chain);
    const sent = outbox.send(message("a"), "a");
    for (let i = 0; i < 6; i++) {
      await turns();
      outbox.onBlock(chain.block());
    }
    expect(await sent).toBeGreaterThan(1n + TIMEOUT);
    expect(chain.executed).toEqual(["a"]);
  });

  it("is not set back by a look at the account that is older than the block", async () => {
    const chain = new FakeChain();
    const warned: string[] = [];
    const outbox = make(chain, { ...silentLogger, warn: (text) => warned.push(text) });
    const first = outbox.send(message("a"), "a");
    await turns();
    const old = await chain.account();
    let answer = () => {};
    chain.account = () => new Promise((resolve) => (answer = () => resolve(old)));
    const synced = outbox.sync();
    outbox.onBlock(chain.block());
    await first;
    answer();
    expect(await synced).toEqual({ local: 1n, remote: 0n });
    const second = outbox.send(message("b"), "b");
    await turns();
    outbox.onBlock(chain.block());
    await second;
    expect([chain.executed, warned]).toEqual([["a", "b"], []]);
  });

  it("refuses what waits when it stops", async () => {
    const outbox = make(new FakeChain());
    const sent = outbox.send(message("a"), "a");
    outbox.stop();
    await expect(sent).rejects.toThrow("stopping");
  });

  it("executes every message exactly once, whatever the network does", async () => {
    const fate = fc.constantFrom<Fate>("deliver", "drop", "mute", "twice", "lost", "unreachable", "foreign");
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 12 }), fc.integer({ min: 1, max: 15 }), async (fates, count) => {
        const chain = new FakeChain();
        chain.fates = [...fates];
        const outbox = make(chain);
        const names = Array.from({ length: count }, (_, i) => `m${i}`);
        const sent = Promise.all(names.map((name) => outbox.send(message(name), name)));
        for (let i = 0; i < 120 && outbox.depth > 0; i++) {
          await turns(6);
          outbox.onBlock(chain.block());
        }
        await sent;
        expect(chain.executed.toSorted()).toEqual(names.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
