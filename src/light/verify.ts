import { equalBytes, isOneOf } from "../util/index.ts";
import { checkBlock, checkHeader, hashOf, type LightBlock, type LightHeader } from "./block.ts";
import { verifyCommit, verifyTrusting } from "./commit.ts";
import { lightErrors } from "./errors.ts";
import { CLOCK_DRIFT, MAX_FETCHED_HEADERS, TRUST_PERIOD } from "./limits.ts";

/** The moment of a verification and how long headers are trusted, in nanoseconds. */
export interface TrustOptions {
  /** Since 1970. */
  readonly now: bigint;
  /** 14 days by default. */
  readonly period?: bigint;
  /** How far a header may be ahead of `now`; 10 s by default. */
  readonly drift?: bigint;
}

/**
 * Verifies a later block from a trusted one: the next block by the set of validators that the trusted one announces, any
 * other by more than a third of the trusted set, and both by more than two thirds of their own.
 * @throws `lightErrors.expired` if the trusted block is too old, `lightErrors.notEnoughTrust` if the block may be good but a
 * block between them has to be verified first, `lightErrors.badBlock` if it is wrong
 */
export function verifyBlock(trusted: LightBlock, block: LightBlock, options: TrustOptions): void {
  const { chainId, height } = trusted.header;
  checkBlock(chainId, block);
  checkFresh(trusted.header, options);
  checkLater(trusted.header, block.header, options);
  if (block.header.height === height + 1n) checkAnnounced(trusted.header, block.header);
  else verifyTrusting(chainId, trusted.validators, block.commit);
  // A block's own set may be large on purpose, so its votes come last.
  verifyCommit(block);
}

/**
 * Verifies a later block, and as many blocks before it as that takes: where too few of the trusted validators signed, the
 * block half way comes first. The verified blocks in order, the trusted one in front.
 */
export async function bisect(
  trusted: LightBlock,
  target: LightBlock,
  { load, ...options }: TrustOptions & { readonly load: (height: bigint) => Promise<LightBlock> },
): Promise<readonly LightBlock[]> {
  const trace = [trusted];
  // The next block to verify is the last one; each was fetched because the one before it could not be trusted yet.
  const waiting = [target];
  let fetched = 0;
  for (let last = trusted; ; ) {
    const next = waiting.at(-1);
    if (next === undefined) return trace;
    if (isVerified(last, next, options)) {
      trace.push(next);
      waiting.pop();
      last = next;
      continue;
    }
    fetched += 1;
    if (fetched > MAX_FETCHED_HEADERS) throw lightErrors.tooMany(`more than ${MAX_FETCHED_HEADERS}`);
    waiting.push(await load((last.header.height + next.header.height) / 2n));
  }
}

/** Whether the block could be verified; throws if it is wrong. */
function isVerified(trusted: LightBlock, block: LightBlock, options: TrustOptions): boolean {
  try {
    verifyBlock(trusted, block, options);
    return true;
  } catch (error) {
    if (isOneOf([lightErrors.notEnoughTrust], error)) return false;
    throw error;
  }
}

/** Verifies a block without a trusted one before it, for a hash that the user trusts. */
export function verifyRoot(chainId: string, block: LightBlock, hash: Uint8Array): void {
  checkBlock(chainId, block);
  if (!equalBytes(hashOf(block.header), hash)) throw lightErrors.wrongRoot(`block ${block.header.height}`);
  verifyCommit(block);
}

/**
 * Verifies the header before a trusted one, which holds its hash.
 * @throws `lightErrors.badBlock`
 */
export function verifyBackwards(trusted: LightHeader, header: LightHeader): void {
  checkHeader(trusted.chainId, header);
  const refuse = (reason: string) => lightErrors.badBlock(`block ${header.height} ${reason}`);
  if (header.height !== trusted.height - 1n) throw refuse(`is not the one before block ${trusted.height}`);
  if (header.time >= trusted.time) throw refuse("is not older than the block after it");
  if (!equalBytes(hashOf(header), trusted.lastBlockId.hash)) throw refuse("has not the hash that the next block holds");
}

/** Throws `lightErrors.expired` if a trusted header is older than the trust period. */
export function checkFresh({ height, time }: LightHeader, { now, period = TRUST_PERIOD }: TrustOptions): void {
  if (time + period <= now) throw lightErrors.expired(`block ${height}`);
}

function checkLater(trusted: LightHeader, header: LightHeader, { now, drift = CLOCK_DRIFT }: TrustOptions): void {
  const refuse = (reason: string) => lightErrors.badBlock(`block ${header.height} ${reason}`);
  if (header.height <= trusted.height) throw refuse(`is not after the trusted block ${trusted.height}`);
  if (header.time <= trusted.time) throw refuse(`is not later than the trusted block ${trusted.height}`);
  if (header.time >= now + drift) throw lightErrors.ahead(`block ${header.height} has a time in the future`);
}

function checkAnnounced(trusted: LightHeader, header: LightHeader): void {
  if (equalBytes(header.validatorsHash, trusted.nextValidatorsHash)) return;
  throw lightErrors.badBlock(`block ${header.height} has other validators than block ${trusted.height} announces`);
}
