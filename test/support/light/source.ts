import type { AttackEvidence, LightBlock, Source } from "../../../src/light/index.ts";

/** A node of a test: its blocks, what it was asked, and the evidence that it got. */
export class TestSource implements Source {
  readonly name: string;
  readonly asked: string[] = [];
  readonly evidence: AttackEvidence[] = [];
  readonly #blocks: readonly LightBlock[];

  constructor(name: string, blocks: readonly LightBlock[]) {
    this.name = name;
    this.#blocks = blocks;
  }

  async signedHeader(height?: bigint) {
    this.asked.push(`header ${height ?? "latest"}`);
    return height === undefined ? this.#blocks.at(-1) : this.#blocks[Number(height) - 1];
  }

  async validators(height: bigint) {
    this.asked.push(`validators ${height}`);
    return this.#blocks[Number(height) - 1]?.validators ?? [];
  }

  async report(evidence: AttackEvidence): Promise<void> {
    this.evidence.push(evidence);
  }
}
