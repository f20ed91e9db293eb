import { readFileSync } from "node:fs";
import { consensusAddress, ed25519PublicKey, ed25519Signer } from "../../crypto/index.ts";
import { overwriteFile, replaceFile, SvcError } from "../../util/index.ts";
import { type Precommit, voteSignBytes } from "./blocks/vote.ts";

/** The last vote a validator may have given. */
export interface SignState {
  readonly height: bigint;
  readonly round: number;
}

/** Where the last vote is remembered; `save` returns when it is on disk. */
export interface SignStateStore {
  load(): SignState | undefined;
  save(state: SignState): void;
}

/** A validator's key. It never signs twice for one height and round, whatever crashes in between. */
export class Signer {
  readonly publicKey: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly #signed: (message: Uint8Array) => Uint8Array;
  readonly #store: SignStateStore;
  #state: SignState;

  constructor(seed: Uint8Array, store: SignStateStore) {
    this.publicKey = ed25519PublicKey(seed);
    this.address = consensusAddress(this.publicKey);
    this.#signed = ed25519Signer(seed);
    this.#store = store;
    this.#state = store.load() ?? { height: 0n, round: 0 };
  }

  /** Height of the last vote. */
  get height(): bigint {
    return this.#state.height;
  }

  /** The round to vote in: the next one when a vote for the height may be out already. */
  roundFor(height: bigint): number {
    return this.#state.height === height ? this.#state.round + 1 : 0;
  }

  /** Signs a vote after remembering it durably. Throws when that height and round are past. */
  sign(vote: Precommit): Uint8Array {
    const { height, round } = vote;
    const last = this.#state;
    if (height < last.height || (height === last.height && round <= last.round)) {
      throw new Error(
        `refusing to sign height ${height} round ${round}: height ${last.height} round ${last.round} is signed already`,
      );
    }
    this.#store.save({ height, round });
    this.#state = { height, round };
    return this.#signed(voteSignBytes(vote));
  }
}

/** Keeps the last vote in memory, for temporary networks. */
export function memorySignState(): SignStateStore {
  let state: SignState | undefined;
  return {
    load: () => state,
    save(next) {
      state = next;
    },
  };
}

/** Step number of a precommit in the state file. */
const PRECOMMIT_STEP = 3;

/** Keeps the last vote in a file of the reference engine's form (`priv_validator_state.json`). */
export function fileSignState(path: string): SignStateStore {
  return {
    load: () => parseSignState(path, readFileSync(path, "utf8")),
    save({ height, round }) {
      const text = signStateText(height, round);
      if (!overwriteFile(path, text)) replaceFile(path, text);
    },
  };
}

/** Bytes of the file, spaces included: it is written over at each vote. */
const TEXT_BYTES = 128;

/** The file's text; without arguments for a validator that has not voted yet. */
export function signStateText(height = 0n, round = 0): string {
  const step = height === 0n ? 0 : PRECOMMIT_STEP;
  const json = JSON.stringify({ height: height.toString(), round, step }, null, 2);
  return `${json.padEnd(TEXT_BYTES - 1)}\n`;
}

function parseSignState(path: string, text: string): SignState {
  try {
    const { height, round }: { height?: unknown; round?: unknown } = JSON.parse(text);
    if (typeof height === "string" && /^\d{1,18}$/.test(height) && Number.isInteger(round)) {
      return { height: BigInt(height), round: Number(round) };
    }
  } catch {
    // Falls through to the one sentence below.
  }
  throw new SvcError("engine", 2, `the validator's last vote cannot be read from ${path}`, {
    hint: "restore the file from a backup that is not older than the last block; without it the validator could sign twice",
  });
}
