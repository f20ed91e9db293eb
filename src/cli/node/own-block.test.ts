import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LightChain, member, SECOND } from "../../../test/support/light/chain.ts";
import { hashOf, type LightHeader } from "../../light/index.ts";
import { ownBlockPath } from "../command/home.ts";
import { readBlock, verifiedBlockPath, writeBlock } from "../context/trusted-block.ts";
import { keepOwnBlock, type OwnChain } from "./own-block.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-own-block-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const WEEK = 7n * 24n * 3600n * SECOND;
const fail = (error: unknown) => expect.fail(String(error));
const kept = () => readBlock(ownBlockPath(home))?.header.height;

/** A node with some blocks that makes more of them. */
class TestChain implements OwnChain {
  readonly genesis = { initialHeight: 1n };
  readonly made = new LightChain();
  #heard: Parameters<OwnChain["events"]["listen"]>[0] = () => {};

  constructor(blocks: number, number = 1) {
    for (let i = 0; i < blocks; i += 1) this.made.add({ members: [member(number)] });
  }

  readonly blocks = {
    record: (height: bigint) => this.made.blocks[Number(height) - 1],
    validators: (height: bigint) => this.made.blocks[Number(height) - 1]?.validators,
  };
  readonly events = { listen: (listener: Parameters<OwnChain["events"]["listen"]>[0]) => (this.#heard = listener) };
  status = () => ({ latest: this.made.blocks.at(-1) });

  async add(later = 0n): Promise<void> {
    const change = (header: LightHeader) => ({ ...header, time: header.time + later });
    this.#heard({ block: this.made.add({ members: [member(1)], change }) });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("the block that a node writes to its home", () => {
  it("is the first whose state before it can be proven, and a newer one a week later", async () => {
    const chain = new TestChain(0);
    await keepOwnBlock(chain, home, fail);
    const seen: (bigint | undefined)[] = [];
    for (const later of [0n, 0n, 0n, 0n, WEEK - 3n * SECOND, WEEK]) {
      await chain.add(later);
      seen.push(kept());
    }
    expect(seen).toEqual([undefined, undefined, 3n, 3n, 3n, 6n]);
  });

  it("is the newest of a chain that has blocks, and stays when the node starts again", async () => {
    await keepOwnBlock(new TestChain(5), home, fail);
    expect(kept()).toBe(5n);
    await keepOwnBlock(new TestChain(8), home, fail);
    expect(kept()).toBe(5n);
  });

  it("is replaced if it is of another chain or was rolled back, with the blocks that were verified from it", async () => {
    const others = new TestChain(9, 2).made;
    for (const block of [others.at(4), others.at(9)]) {
      const verified = verifiedBlockPath(home, hashOf(block.header));
      for (const path of [ownBlockPath(home), verified]) writeBlock(path, block);
      await keepOwnBlock(new TestChain(6), home, fail);
      expect(kept()).toBe(6n);
      expect(existsSync(verified)).toBe(false);
    }
    writeBlock(ownBlockPath(home), others.at(4));
    await keepOwnBlock(new TestChain(1), home, fail);
    expect(kept()).toBeUndefined();
  });

  it("is none that lacks the votes of two thirds", async () => {
    const chain = new TestChain(0);
    for (let i = 0; i < 4; i += 1)
      chain.made.add({ members: [member(1), member(2)], votes: (at) => (at === 0 ? 2 : 1) });
    await keepOwnBlock(chain, home, fail);
    expect(kept()).toBeUndefined();
    await chain.add();
    expect(kept()).toBe(5n);
  });

  it("is written again if its file is damaged", async () => {
    await keepOwnBlock(new TestChain(5), home, fail);
    writeFileSync(ownBlockPath(home), "{");
    await keepOwnBlock(new TestChain(6), home, fail);
    expect(kept()).toBe(6n);
  });
});
