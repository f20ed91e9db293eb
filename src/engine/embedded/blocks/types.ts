import { type Commit, type Header, NO_BLOCK_ID } from "../../../wire/index.ts";

export {
  BLOCK_PROTOCOL,
  type BlockId,
  type Commit,
  type CommitSig,
  type Header,
  NO_BLOCK_ID,
  type PartSetHeader,
  type Validator,
} from "../../../wire/index.ts";

export interface Block {
  readonly header: Header;
  readonly txs: readonly Uint8Array[];
  readonly lastCommit: Commit;
}

/** The commit that the first block carries. */
export const NO_COMMIT: Commit = { height: 0n, round: 0, blockId: NO_BLOCK_ID, signatures: [] };
