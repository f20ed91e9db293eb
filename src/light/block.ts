import { consensusAddress } from "../crypto/index.ts";
import { equalBytes, toHexUpper, toUtf8 } from "../util/index.ts";
import {
  BLOCK_PROTOCOL,
  type BlockId,
  type BlockVersion,
  type Commit,
  type CommitSig,
  type Header,
  headerHash,
  timeOf,
  type Validator,
  validatorsHash,
} from "../wire/index.ts";
import { lightErrors } from "./errors.ts";
import { MAX_CHAIN_ID_BYTES, MAX_TOTAL_POWER, MAX_VALIDATORS } from "./limits.ts";

/** A header with the versions that it names. */
export interface LightHeader extends Header {
  readonly version: BlockVersion;
}

/** A header with the votes that made its block final. */
export interface SignedHeader {
  readonly header: LightHeader;
  readonly commit: Commit;
}

/** A block without its transactions: all that is needed to verify it. */
export interface LightBlock extends SignedHeader {
  /** Voters on the block, in the order of its commit. */
  readonly validators: readonly Validator[];
}

/** Hash of a header with its own versions. */
export function hashOf(header: LightHeader): Uint8Array {
  return headerHash(header, header.version);
}

/** Time of a vote that was not cast: the first moment of the year 1. */
const NO_TIME = timeOf({ seconds: -62_135_596_800n, nanos: 0 });
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
/** Longest signature of the key types that the engine knows (ML-DSA-65). */
const MAX_SIGNATURE_BYTES = 3_309;

/**
 * Throws `lightErrors.badBlock` unless the parts of a block have their forms and belong together. Signatures are not
 * verified.
 */
export function checkBlock(chainId: string, block: LightBlock): void {
  checkSignedHeader(chainId, block);
  checkValidators(block.validators);
  if (!equalBytes(validatorsHash(block.validators), block.header.validatorsHash)) {
    throw lightErrors.badBlock(`block ${block.header.height} names another set of validators`);
  }
}

function checkSignedHeader(chainId: string, { header, commit }: SignedHeader): void {
  checkHeader(chainId, header);
  checkCommit(commit);
  if (commit.height !== header.height) {
    throw lightErrors.badBlock(`the votes of block ${header.height} are for block ${commit.height}`);
  }
  const hash = hashOf(header);
  if (!equalBytes(hash, commit.blockId.hash)) {
    const voted = toHexUpper(commit.blockId.hash);
    throw lightErrors.badBlock(
      `block ${header.height} has the hash ${toHexUpper(hash)}, and its votes are for ${voted}`,
    );
  }
}

/** Throws `lightErrors.badBlock` unless a header has its form, `lightErrors.otherChain` unless it is of the chain. */
export function checkHeader(chainId: string, header: LightHeader): void {
  const refuse = (reason: string) => lightErrors.badBlock(`block ${header.height}: ${reason}`);
  if (header.version.block !== BLOCK_PROTOCOL) throw refuse(`block format ${header.version.block} is not known`);
  if (header.chainId !== chainId) {
    const [theirs, ours] = [header.chainId, chainId].map((name) => JSON.stringify(name.slice(0, MAX_CHAIN_ID_BYTES)));
    throw lightErrors.otherChain(`block ${header.height} is of ${theirs}, and not of ${ours}`);
  }
  if (toUtf8(header.chainId).length > MAX_CHAIN_ID_BYTES) throw refuse("the name of the chain is too long");
  if (header.height <= 0n) throw refuse("heights begin at 1");
  const { lastCommitHash, dataHash, evidenceHash, validatorsHash: validators, nextValidatorsHash } = header;
  const hashes = [lastCommitHash, dataHash, evidenceHash, validators, nextValidatorsHash];
  const others = [header.consensusHash, header.lastResultsHash];
  if (![...hashes, ...others].every(isHash) || !isBlockId(header.lastBlockId)) {
    throw refuse("a hash has a wrong length");
  }
  if (header.proposerAddress.length !== ADDRESS_BYTES) throw refuse("the proposer's address has a wrong length");
}

/** The protocol allows a hash to be empty. */
function isHash(hash: Uint8Array): boolean {
  return hash.length === 0 || hash.length === HASH_BYTES;
}

function isBlockId({ hash, parts }: BlockId): boolean {
  return isHash(hash) && isHash(parts.hash);
}

function checkCommit({ height, round, blockId, signatures }: Commit): void {
  const refuse = (reason: string) => lightErrors.badBlock(`votes of block ${height}: ${reason}`);
  if (round < 0) throw refuse("rounds begin at 0");
  if (blockId.hash.length === 0 && blockId.parts.hash.length === 0 && blockId.parts.total === 0) {
    throw refuse("they are for no block");
  }
  if (signatures.length === 0) throw refuse("there are none");
  const bad = signatures.findIndex((sig) => !isVote(sig));
  if (bad >= 0) throw refuse(`vote ${bad} is malformed`);
}

function isVote({ flag, validatorAddress, timestamp, signature }: CommitSig): boolean {
  if (flag === 1) return validatorAddress.length === 0 && signature.length === 0 && timestamp === NO_TIME;
  return validatorAddress.length === ADDRESS_BYTES && signature.length > 0 && signature.length <= MAX_SIGNATURE_BYTES;
}

function checkValidators(validators: readonly Validator[]): void {
  const count = validators.length;
  if (count === 0) throw lightErrors.badBlock("the set of validators is empty");
  if (count > MAX_VALIDATORS) {
    throw lightErrors.badBlock(`the set has ${count} validators, more than ${MAX_VALIDATORS}`);
  }
  const bad = validators.findIndex(
    ({ address, pubKey, power }) => power < 0n || !equalBytes(address, consensusAddress(pubKey)),
  );
  if (bad >= 0) throw lightErrors.badBlock(`validator ${bad} has a negative power or the address of another key`);
  if (totalPower(validators) > MAX_TOTAL_POWER) throw lightErrors.badBlock("the voting power is too large");
}

export function totalPower(validators: readonly Validator[]): bigint {
  return validators.reduce((sum, { power }) => sum + power, 0n);
}
