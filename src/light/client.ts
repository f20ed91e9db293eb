import { equalBytes, Mutex } from "../util/index.ts";
import { checkHeader, hashOf, type LightBlock, type LightHeader } from "./block.ts";
import { lightErrors } from "./errors.ts";
import { MAX_FETCHED_HEADERS, TRUST_PERIOD } from "./limits.ts";
import { loadBlock, missing, requireBlock, type Source } from "./source.ts";
import { memoryStore, type TrustedStore } from "./store.ts";
import { bisect, checkFresh, type TrustOptions, verifyBackwards, verifyRoot } from "./verify.ts";
import { blame, confirm } from "./witnesses.ts";

/** A block that the user trusts: everything else follows from it. */
export interface TrustRoot {
  readonly height: bigint;
  /** Hash of its header, 32 bytes. */
  readonly hash: Uint8Array;
}

/** The chain and its root of trust, and the nodes that are asked. */
export interface LightClientOptions {
  /** Name of the chain; the name in the root's header by default, which its hash covers. */
  readonly chainId?: string;
  readonly root: TrustRoot;
  /** The node whose blocks are verified. */
  readonly primary: Source;
  /** Nodes that have to agree with it; without any, nothing is compared. */
  readonly witnesses?: readonly Source[];
  /** Blocks verified before; in memory by default. */
  readonly store?: TrustedStore;
  /** Nanoseconds for which a verified block is trusted; 14 days by default. */
  readonly period?: bigint;
  /** Nanoseconds that a header may be ahead of the clock; 10 s by default. */
  readonly drift?: bigint;
  /** The clock in nanoseconds since 1970; the machine's by default. */
  readonly now?: () => bigint;
}

/** Follows a chain by its headers and believes no node: each block is verified from one that is trusted. */
export class LightClient {
  readonly #options: LightClientOptions;
  readonly #store: TrustedStore;
  readonly #turn = new Mutex();

  constructor(options: LightClientOptions) {
    this.#options = options;
    this.#store = options.store ?? memoryStore();
  }

  /** The newest block of the node, verified; the newest verified one if the node is behind it. */
  latest(): Promise<LightBlock> {
    return this.#turn.run(async () => {
      const trusted = await this.#newest();
      const block = await loadBlock(this.#options.primary, undefined, trusted);
      if (block === undefined) throw missing(this.#options.primary, trusted.header.height);
      if (block.header.height < trusted.header.height) {
        checkHeader(trusted.header.chainId, block.header);
        // An older state would be true, but no longer: a node could choose which one to show.
        checkFresh(trusted.header, this.#now());
        return trusted;
      }
      await this.#verify(block);
      return block;
    });
  }

  /** The header of a height, verified. */
  at(height: bigint): Promise<LightHeader> {
    return this.#turn.run(async () => {
      const trusted = await this.#newest();
      const known = this.#store.blocks().find(({ header }) => header.height === height);
      if (known !== undefined) return known.header;
      return this.#verify(await requireBlock(this.#options.primary, height, trusted));
    });
  }

  /** The highest trusted block; the first time it is the root. */
  async #newest(): Promise<LightBlock> {
    const stored = this.#store.blocks().at(-1);
    if (stored !== undefined) return stored;
    const { root, primary, witnesses = [] } = this.#options;
    const signed = await primary.signedHeader(root.height);
    if (signed === undefined) throw missing(primary, root.height);
    const block = { ...signed, validators: await primary.validators(root.height) };
    if (block.header.height !== root.height) throw lightErrors.wrongRoot(`height ${block.header.height}`);
    verifyRoot(this.#options.chainId ?? block.header.chainId, block, root.hash);
    checkFresh(block.header, this.#now());
    await confirm({ primary, witnesses, trace: [block], options: this.#now() });
    this.#store.add(block);
    return block;
  }

  async #verify(block: LightBlock): Promise<LightHeader> {
    const { height } = block.header;
    const blocks = this.#store.blocks();
    const known = blocks.find(({ header }) => header.height === height);
    if (known !== undefined) return this.#again(known, block);
    const before = blocks.findLast(({ header }) => header.height < height);
    const after = blocks.find(({ header }) => header.height > height);
    if (before !== undefined && (after === undefined || this.#isFresh(before))) return this.#forwards(before, block);
    if (after === undefined) throw missing(this.#options.primary, height);
    return this.#backwards(after, block.header);
  }

  /** A block of a verified height must be the same. */
  #again(known: LightBlock, { header }: LightBlock): LightHeader {
    if (!equalBytes(hashOf(known.header), hashOf(header))) {
      throw lightErrors.badBlock(`block ${header.height} is not the one that was verified before`);
    }
    checkFresh(known.header, this.#now());
    return known.header;
  }

  async #forwards(trusted: LightBlock, block: LightBlock): Promise<LightHeader> {
    const { primary, witnesses = [] } = this.#options;
    const options = this.#now();
    const load = (height: bigint) => requireBlock(primary, height, trusted);
    const verified = bisect(trusted, block, { ...options, load });
    const [first = trusted, ...rest] = await verified.catch(async (error: unknown) => {
      await blame({ primary, witnesses, trace: [trusted], options }, block.header.height);
      throw error;
    });
    await confirm({ primary, witnesses, trace: [first, ...rest], options });
    for (const each of rest) this.#store.add(each);
    return block.header;
  }

  /** Each header holds the hash of the one before it. */
  async #backwards(trusted: LightBlock, wanted: LightHeader): Promise<LightHeader> {
    const { primary } = this.#options;
    const distance = trusted.header.height - wanted.height;
    if (distance > MAX_FETCHED_HEADERS) throw lightErrors.tooMany(`${distance} blocks back from a trusted one`);
    checkFresh(trusted.header, this.#now());
    let { header } = trusted;
    while (header.height > wanted.height) {
      const below = header.height - 1n;
      const next = below === wanted.height ? wanted : (await requireBlock(primary, below, trusted)).header;
      verifyBackwards(header, next);
      header = next;
    }
    return header;
  }

  #isFresh({ header }: LightBlock): boolean {
    const { now, period = TRUST_PERIOD } = this.#now();
    return header.time + period > now;
  }

  #now(): TrustOptions {
    const { now = machineTime, period, drift } = this.#options;
    return {
      now: now(),
      ...(period === undefined ? {} : { period }),
      ...(drift === undefined ? {} : { drift }),
    };
  }
}

function machineTime(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
