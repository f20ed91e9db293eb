import { describe, expect, it, test, vi } from "vitest";
import { bytesOf, inOrder, LightChain, type Member, member, SECOND, START } from "../../test/support/light/chain.ts";
import { TestSource } from "../../test/support/light/source.ts";
import { hashOf, type LightBlock } from "./block.ts";
import { LightClient, type LightClientOptions } from "./client.ts";
import { WITNESS_GRACE_MS, WITNESS_WITHIN_MS } from "./limits.ts";
import { memoryStore } from "./store.ts";

const LENGTH = 60;

/** A chain whose four validators are replaced one by one, every few blocks. */
function movingChain(every: number): LightChain {
  const setAt = (height: number): readonly Member[] => {
    const first = Math.floor(height / every);
    return inOrder([first, first + 1, first + 2, first + 3].map((number) => member(number)));
  };
  const chain = new LightChain();
  for (let height = 1; height <= LENGTH; height += 1) {
    chain.add({ members: setAt(height), next: setAt(height + 1), votes: (place) => (place === height % 4 ? 3 : 2) });
  }
  return chain;
}

const CHAIN = movingChain(5);

function client(primary: TestSource, options: Partial<LightClientOptions> = {}): LightClient {
  const root = { height: 1n, hash: hashOf(CHAIN.at(1).header) };
  const now = () => START + BigInt(LENGTH + 5) * SECOND;
  return new LightClient({ chainId: "light-1", root, primary, now, ...options });
}

/** A source of blocks in which one is another. */
function changed(blocks: readonly LightBlock[], height: number, change: (block: LightBlock) => LightBlock): TestSource {
  return new TestSource(
    "liar",
    blocks.map((block, i) => (i === height - 1 ? change(block) : block)),
  );
}

describe("a light client", () => {
  it("reaches the newest block over a few others, though no validator of the root is left", async () => {
    const source = new TestSource("node", CHAIN.blocks);
    const store = memoryStore();
    const latest = await client(source, { store }).latest();
    expect(latest.header.height).toBe(BigInt(LENGTH));
    const heights = store.blocks().map(({ header }) => header.height);
    expect(heights.length).toBeLessThan(LENGTH / 2);
    expect(heights).toEqual([...heights].sort((a, b) => Number(a - b)));
  });

  it("asks for one header where the validators stay the same", async () => {
    const still = new LightChain();
    for (let i = 0; i < LENGTH; i += 1) still.add({ members: inOrder([member(1), member(2)]) });
    const source = new TestSource("node", still.blocks);
    const root = { height: 2n, hash: hashOf(still.at(2).header) };
    const light = client(source, { root });
    await light.latest();
    expect(source.asked).toEqual(["header 2", "validators 2", "header latest"]);
    await light.latest();
    expect(source.asked.slice(3)).toEqual(["header latest"]);
  });

  it("verifies heights before, between and after those that it trusts", async () => {
    const source = new TestSource("node", CHAIN.blocks);
    const root = { height: 30n, hash: hashOf(CHAIN.at(30).header) };
    const light = client(source, { root });
    for (const height of [30, 50, 12, 40, 41, 60, 1]) {
      expect(await light.at(BigInt(height))).toBe(CHAIN.at(height).header);
    }
    await expect(light.at(61n)).rejects.toThrow("node does not have block 61");
  });

  it("refuses a root with another hash, of another chain, or that is too old", async () => {
    const source = new TestSource("node", CHAIN.blocks);
    const other = client(source, { root: { height: 1n, hash: bytesOf("x") } });
    await expect(other.latest()).rejects.toThrow("block 1: the trusted block has another hash");
    await expect(client(source, { chainId: "light-2" }).latest()).rejects.toThrow(
      'is of "light-1", and not of "light-2"',
    );
    await expect(client(source, { period: 10n * SECOND }).latest()).rejects.toThrow("the trusted block is too old");
    const gone = client(source, { root: { height: 99n, hash: bytesOf("x") } });
    await expect(gone.latest()).rejects.toThrow("node does not have block 99");
  });

  it("refuses a node that lies about any block on the way", async () => {
    const lie = (block: LightBlock) => ({ ...block, header: { ...block.header, appHash: bytesOf("lie") } });
    for (const height of [1, 20, LENGTH]) {
      const light = client(changed(CHAIN.blocks, height, lie));
      await expect(light.at(BigInt(height))).rejects.toThrow(/light|valid|hash/);
    }
    const backwards = changed(CHAIN.blocks, 20, lie);
    const root = { height: 30n, hash: hashOf(CHAIN.at(30).header) };
    await expect(client(backwards, { root }).at(15n)).rejects.toThrow("has not the hash that the next block holds");
  });

  it("refuses a node that answers with another height each time", async () => {
    let calls = 0;
    const source = new TestSource("jumper", CHAIN.blocks);
    const original = source.signedHeader.bind(source);
    source.signedHeader = (height) => original(height === undefined ? undefined : (height % 7n) + BigInt(++calls));
    await expect(client(source).at(50n)).rejects.toThrow(/answers with block|height/);
  });

  it("refuses another block at a height that it has verified", async () => {
    const other = CHAIN.fork(LENGTH - 1);
    other.add({ members: CHAIN.members.at(-1) ?? [], change: (header) => ({ ...header, appHash: bytesOf("other") }) });
    const store = memoryStore();
    await client(new TestSource("node", CHAIN.blocks), { store }).latest();
    const second = client(new TestSource("other", other.blocks), { store });
    await expect(second.latest()).rejects.toThrow(`block ${LENGTH} is not the one that was verified before`);
  });

  it("stays at the newest block that it has verified when a node shows an older one", async () => {
    const store = memoryStore();
    await client(new TestSource("node", CHAIN.blocks), { store }).latest();
    const behind = new TestSource("behind", CHAIN.blocks.slice(0, 20));
    const latest = await client(behind, { store }).latest();
    expect(latest.header.height).toBe(BigInt(LENGTH));
    await expect(client(behind, { store, period: 2n * SECOND }).latest()).rejects.toThrow("too old");
    const other = changed(CHAIN.blocks.slice(0, 20), 20, (block) => ({
      ...block,
      header: { ...block.header, chainId: "light-2" },
    }));
    await expect(client(other, { store }).latest()).rejects.toThrow('is of "light-2", and not of "light-1"');
  });

  it("goes on from the store of an earlier run, which keeps the newest blocks", async () => {
    const store = memoryStore([], 3);
    await client(new TestSource("node", CHAIN.blocks), { store }).latest();
    const kept = store.blocks();
    expect(kept).toHaveLength(3);
    const source = new TestSource("node", CHAIN.blocks);
    await client(source, { store: memoryStore(kept) }).latest();
    expect(source.asked).toEqual(["header latest"]);
  });
});

test("a store keeps 1,000 blocks, the highest ones, each once", () => {
  const [first] = CHAIN.blocks;
  if (first === undefined) throw new Error("the chain has blocks");
  const at = (height: number): LightBlock => ({ ...first, header: { ...first.header, height: BigInt(height) } });
  const store = memoryStore(Array.from({ length: 1_002 }, (_, i) => at(1_002 - i)));
  store.add(at(900));
  const heights = store.blocks().map(({ header }) => Number(header.height));
  expect(heights).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 3));
});

describe("witnesses", () => {
  const FORK = 40;
  /** The same validators sign a second chain from a height on. */
  const forked = (): LightChain => {
    const other = CHAIN.fork(FORK - 1);
    for (let height = FORK; height <= LENGTH; height += 1) {
      const [members = [], next = members] = [CHAIN.members[height - 1], CHAIN.members[height]];
      other.add({ members, next, change: (header) => ({ ...header, appHash: bytesOf(`forged ${height}`) }) });
    }
    return other;
  };
  const honest = () => new TestSource("witness", CHAIN.blocks);

  it("that have the same block confirm it", async () => {
    const light = client(new TestSource("node", CHAIN.blocks), { witnesses: [honest()] });
    expect((await light.latest()).header.height).toBe(BigInt(LENGTH));
  });

  it("that have another block which is signed uncover an attack, and both get the evidence", async () => {
    const attacker = new TestSource("attacker", forked().blocks);
    const witness = honest();
    const store = memoryStore();
    const light = client(attacker, { witnesses: [witness], store });
    await expect(light.latest()).rejects.toThrow(/attacker and witness at height \d+: two nodes show different blocks/);
    // Nothing of the attack is trusted later.
    expect(store.blocks().map(({ header }) => header.height)).toEqual([1n]);
    const [[against], [back]] = [witness.evidence, attacker.evidence];
    const height = against?.conflictingBlock.header.height ?? 0n;
    expect(height).toBeGreaterThanOrEqual(BigInt(FORK));
    expect(against?.conflictingBlock.header.appHash).toEqual(bytesOf(`forged ${height}`));
    expect(against?.commonHeight).toBeLessThan(BigInt(FORK));
    expect(against?.byzantine.length).toBeGreaterThan(0);
    expect(back?.conflictingBlock.header.appHash).toEqual(bytesOf(`app ${height}`));
  });

  it("that sign two blocks of one height are named", async () => {
    const twice = CHAIN.fork(LENGTH - 1);
    const members = CHAIN.members.at(-1) ?? [];
    const { nextValidatorsHash } = CHAIN.at(LENGTH).header;
    const change = { dataHash: bytesOf("other data"), nextValidatorsHash };
    twice.add({ members, change: (header) => ({ ...header, ...change }) });
    const witness = new TestSource("witness", twice.blocks);
    const light = client(new TestSource("node", CHAIN.blocks), { witnesses: [witness] });
    await expect(light.latest()).rejects.toThrow("two nodes show different blocks");
    const [evidence] = witness.evidence;
    expect(evidence?.commonHeight).toBe(BigInt(LENGTH));
    // One of the four voted for no block.
    expect(evidence?.byzantine).toHaveLength(3);
  });

  const silent = () => {
    const source = new TestSource("silent", []);
    source.signedHeader = () => Promise.reject(new Error("no connection"));
    return source;
  };
  const forger = () => {
    const forge = (block: LightBlock) => ({ ...block, header: { ...block.header, appHash: bytesOf("unsigned") } });
    return changed(CHAIN.blocks, LENGTH, forge);
  };
  const stranger = () => {
    const chain = new LightChain();
    for (let i = 0; i < LENGTH; i += 1) chain.add({ members: [member(99)] });
    return new TestSource("stranger", chain.blocks);
  };

  it.each([
    ["are silent", silent],
    ["show a block that nobody signed", forger],
    ["are of another chain", stranger],
  ])("that %s confirm nothing, and hinder nobody beside one that does", async (_, other) => {
    const node = new TestSource("node", CHAIN.blocks);
    const root = { height: 55n, hash: hashOf(CHAIN.at(55).header) };
    await expect(client(node, { root, witnesses: [other()] }).latest()).rejects.toThrow(
      "no witness confirms the block",
    );
    await expect(client(node, { root, witnesses: [other(), honest()] }).latest()).resolves.toBeDefined();
  });

  it("that never answer are not waited for", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let asked = 0;
      const hanging = new TestSource("hanging", []);
      hanging.signedHeader = () => {
        asked += 1;
        return new Promise(() => {});
      };
      const latest = (...witnesses: TestSource[]) =>
        client(new TestSource("node", CHAIN.blocks), { witnesses: [hanging, ...witnesses] }).latest();
      const alone = expect(latest()).rejects.toThrow("hanging does not answer: no witness confirms the block");
      while (asked < 1) await new Promise((resolve) => setImmediate(resolve));
      await vi.advanceTimersByTimeAsync(WITNESS_WITHIN_MS);
      await alone;
      let isOver = false;
      const confirmed = latest(honest()).finally(() => {
        isOver = true;
      });
      // Once for the root and once for the newest block.
      for (const times of [2, 3]) {
        while (asked < times) await new Promise((resolve) => setImmediate(resolve));
        await vi.advanceTimersByTimeAsync(WITNESS_GRACE_MS - 1);
        expect(isOver).toBe(false);
        await vi.advanceTimersByTimeAsync(1);
      }
      expect((await confirmed).header.height).toBe(BigInt(LENGTH));
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("that never answer do not keep back that a node lies", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let asked = 0;
      const hanging = new TestSource("hanging", []);
      hanging.signedHeader = () => {
        asked += 1;
        return new Promise(() => {});
      };
      const root = { height: 55n, hash: hashOf(CHAIN.at(55).header) };
      const lying = client(forger(), { root, witnesses: [hanging, honest()] });
      const refused = expect(lying.latest()).rejects.toThrow(`liar lies: witness has a verified block ${LENGTH}`);
      // Once for the root and once for the forged block.
      for (const times of [1, 2]) {
        while (asked < times) await new Promise((resolve) => setImmediate(resolve));
        await vi.advanceTimersByTimeAsync(WITNESS_GRACE_MS);
      }
      await refused;
    } finally {
      vi.useRealTimers();
    }
  });

  it("tell which node lies, where only one block is verified", async () => {
    const root = { height: 55n, hash: hashOf(CHAIN.at(55).header) };
    const lying = client(forger(), { root, witnesses: [silent(), stranger(), honest()] });
    await expect(lying.latest()).rejects.toThrow(`liar lies: witness has a verified block ${LENGTH}`);
    const other = Object.assign(forger(), { name: "forger" });
    const truthful = client(new TestSource("node", CHAIN.blocks), { root, witnesses: [silent(), other] });
    await expect(truthful.latest()).rejects.toThrow(
      `block ${LENGTH}: silent does not show it, forger lies: it shows another block that is not valid: no witness`,
    );
  });

  it("that are a moment behind are asked again", async () => {
    const behind = honest();
    const original = behind.signedHeader.bind(behind);
    let tries = 0;
    behind.signedHeader = (height) => {
      tries += height === BigInt(LENGTH) ? 1 : 0;
      return height === BigInt(LENGTH) && tries === 1 ? Promise.resolve(undefined) : original(height);
    };
    await client(new TestSource("node", CHAIN.blocks), { witnesses: [behind] }).latest();
    expect(tries).toBe(2);
  });
});
