import type { CommitInfo, ValidatorUpdate } from "../abci/index.ts";
import { consensusAddress } from "../crypto/index.ts";
import { toHex } from "../util/index.ts";

/** Voting power by public key, in hex. */
type Powers = ReadonlyMap<string, bigint>;

/** Who votes on the blocks of a chain in memory: changes count from the block after the next on. */
export class TestVoters {
  /** Public keys in hex of validators that do not sign at present. */
  readonly absent = new Set<string>();
  /** Voters of the previous block, of the block being made, and of the next one. */
  #sets: readonly [Powers, Powers, Powers] = [new Map(), new Map(), new Map()];

  /** Sets the voters of the first block. */
  begin(voters: readonly ValidatorUpdate[]): void {
    const powers = changed(new Map(), voters);
    this.#sets = [new Map(), powers, powers];
  }

  /** Voters like these, who go their own way. */
  copy(): TestVoters {
    const made = new TestVoters();
    for (const id of this.absent) made.absent.add(id);
    made.#sets = this.#sets;
    return made;
  }

  /** The votes on the previous block in the next one. */
  commit(): CommitInfo {
    const votes = [...this.#sets[0]].map(([id, power]) => ({
      flag: this.absent.has(id) ? (1 as const) : (2 as const),
      validator: { address: consensusAddress(Uint8Array.from(Buffer.from(id, "hex"))), power },
    }));
    return { round: 0, votes };
  }

  /** Moves to the next block. */
  advance(updates: readonly ValidatorUpdate[]): void {
    const [, current, next] = this.#sets;
    this.#sets = [current, next, changed(next, updates)];
  }
}

function changed(powers: Powers, updates: readonly ValidatorUpdate[]): Powers {
  const after = new Map(powers);
  for (const { pubKey, power } of updates) {
    if (power === 0n) after.delete(toHex(pubKey));
    else after.set(toHex(pubKey), power);
  }
  return after;
}
