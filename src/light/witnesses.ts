import { equalBytes } from "../util/index.ts";
import { hashOf, type LightBlock, type SignedHeader } from "./block.ts";
import { lightErrors } from "./errors.ts";
import { attackEvidence } from "./evidence.ts";
import { WITNESS_GRACE_MS, WITNESS_PAUSE_MS, WITNESS_TRIES, WITNESS_WITHIN_MS } from "./limits.ts";
import { requireBlock, type Source } from "./source.ts";
import { bisect, type TrustOptions } from "./verify.ts";

/** The blocks that a node's newest block was verified with and its witnesses. */
export interface Confirmation {
  readonly primary: Source;
  readonly witnesses: readonly Source[];
  /** Verified blocks in order, from a trusted one to the newest. */
  readonly trace: readonly [LightBlock, ...LightBlock[]];
  readonly options: TrustOptions;
}

/**
 * Compares the newest block of a trace with what other nodes have at its height. One that has the same confirms it; one that
 * has another with enough signatures is evidence of an attack, which goes to both nodes.
 * @throws `lightErrors.conflict`, or `lightErrors.unconfirmed` if there are witnesses and none confirms the block
 */
export async function confirm(confirmation: Confirmation): Promise<void> {
  const { witnesses, trace } = confirmation;
  if (witnesses.length === 0) return;
  const inTime = await answersInTime(witnesses.map((witness) => compare(witness, confirmation)));
  const answers = inTime.map((answer, i) => answer ?? `${witnesses[i]?.name} does not answer`);
  if (answers.includes("same")) return;
  const [newest = trace[0]] = trace.slice(-1);
  throw lightErrors.unconfirmed(`block ${newest.header.height}: ${answers.join(", ")}`);
}

/** Rejects with the node as the liar where a witness has a verified block of a height at which the node's is not valid. */
export async function blame({ primary, witnesses, trace: [trusted], options }: Confirmation, height: bigint) {
  const judged = witnesses.map(async (witness) => {
    const load = (at: bigint) => requireBlock(witness, at, trusted);
    const theirs = load(height).then((block) => bisect(trusted, block, { ...options, load }));
    return await theirs.then(
      () => "same",
      () => "other",
    );
  });
  const honest = witnesses[(await answersInTime(judged)).indexOf("same")];
  if (honest !== undefined)
    throw lightErrors.badBlock(`${primary.name} lies: ${honest.name} has a verified block ${height}`);
}

/** The answers of witnesses, undefined for one that is late. */
function answersInTime(asked: readonly Promise<string>[]): Promise<readonly (string | undefined)[]> {
  const confirmed = firstSame(asked);
  return Promise.all(asked.map((each) => unlessLate(each, confirmed)));
}

/** "same", or what a witness says instead: without a block that verifies it says nothing about the node. */
async function compare(witness: Source, confirmation: Confirmation): Promise<string> {
  const target = confirmation.trace.at(-1) ?? confirmation.trace[0];
  const theirs = await patiently(witness, target.header.height).catch(() => undefined);
  if (theirs === undefined) return `${witness.name} does not show it`;
  if (isSame(theirs, target)) return "same";
  const attack = await examine(witness, confirmation).catch(() => undefined);
  if (attack === undefined) return `${witness.name} lies: it shows another block that is not valid`;
  const { primary } = confirmation;
  const { common, ours, others } = attack;
  await Promise.allSettled([
    witness.report(attackEvidence({ common, own: others, conflicting: ours })),
    primary.report(attackEvidence({ common, own: ours, conflicting: others })),
  ]);
  throw lightErrors.conflict(`${primary.name} and ${witness.name} at height ${ours.header.height}`);
}

/** Resolves when a witness has confirmed the block, and never if none does. */
function firstSame(compared: readonly Promise<string>[]): Promise<void> {
  return new Promise((resolve) => {
    for (const each of compared)
      each.then(
        (answer) => answer === "same" && resolve(),
        () => {},
      );
  });
}

/** Undefined after a while, sooner once others have confirmed: a witness that hangs would keep their answers back. */
async function unlessLate<T>(answer: Promise<T>, confirmed: Promise<void>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const late = new Promise<undefined>((resolve) => {
    const end = () => resolve(undefined);
    timer = setTimeout(end, WITNESS_WITHIN_MS);
    void confirmed.then(() => {
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(end, WITNESS_GRACE_MS);
    });
  });
  return await Promise.race([answer, late]).finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
}

/** A witness may be a moment behind. */
async function patiently(witness: Source, height: bigint): Promise<SignedHeader | undefined> {
  for (let tries = 1; ; tries += 1) {
    const found = await witness.signedHeader(height);
    if (found !== undefined || tries === WITNESS_TRIES) return found;
    await new Promise((resolve) => setTimeout(resolve, WITNESS_PAUSE_MS));
  }
}

/** Where a witness leaves the trace, with its own verified block; undefined if it was never on it. */
async function examine(witness: Source, { trace, options }: Confirmation) {
  let common: LightBlock | undefined;
  for (const ours of trace) {
    const theirs = await requireBlock(witness, ours.header.height, common ?? ours);
    if (isSame(theirs, ours)) {
      common = ours;
      continue;
    }
    if (common === undefined) return undefined;
    const from = common;
    await bisect(from, theirs, { ...options, load: (height) => requireBlock(witness, height, from) });
    return { common, ours, others: theirs };
  }
  return undefined;
}

function isSame({ header }: SignedHeader, block: LightBlock): boolean {
  return equalBytes(hashOf(header), hashOf(block.header));
}
