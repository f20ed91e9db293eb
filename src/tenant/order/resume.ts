import type { DeploymentRecord } from "../../client/index.ts";
import { append, equalBytes, shellWord } from "../../util/index.ts";
import { deployErrors } from "../session/errors.ts";
import type { JournalEntry } from "../session/journal.ts";
import { activeLeases } from "../session/market.ts";
import { nextHeight, type Session } from "../session/session.ts";

/** A deployment of the file that an earlier run began. */
export interface Begun {
  readonly entry: JournalEntry;
  /** Absent when its transaction never reached a block: the number is used again, so that there cannot be two. */
  readonly deployment?: DeploymentRecord;
}

/** The work that earlier runs left. */
export interface Resumption {
  readonly begun?: Begun;
  /** Made from an earlier version of the file, without a lease: closed together with the creation of the new one. */
  readonly superseded?: bigint;
}

/** Blocks in which a transaction that was sent before an interruption should have arrived. */
const ARRIVAL_BLOCKS = 2;
const BLOCK_WAIT_MS = 60_000;

/**
 * Finds the deployment to continue with. Rejects with `deployErrors.changed` if an earlier version of the file runs.
 */
export async function findResumption(session: Session): Promise<Resumption> {
  const { market, journal, request, fingerprint } = session;
  if (request.fresh) return {};
  const entries = journal.entries(market.owner, market.chainId).filter(({ file }) => file === request.file);
  const alive: Begun[] = [];
  for (const entry of entries.reverse()) append(alive, await settle(session, entry));
  const same = alive.filter(({ entry }) => entry.fingerprint === fingerprint);
  const begun = same.find(({ entry }) => entry.step !== "done") ?? same[0];
  if (begun?.deployment !== undefined) return { begun };
  const old = alive.find(({ entry }) => entry.fingerprint !== fingerprint);
  const number = old === undefined ? undefined : await superseded(session, old, begun !== undefined);
  return { ...(begun === undefined ? {} : { begun }), ...(number === undefined ? {} : { superseded: number }) };
}

/** The deployments of a journal entry on the chain; removes an entry without any. */
async function settle(session: Session, entry: JournalEntry): Promise<Begun[]> {
  const { journal, fingerprint, request } = session;
  const deployment = await arrived(session, entry);
  if (deployment === undefined && entry.step === "order" && entry.fingerprint === fingerprint) return [{ entry }];
  const isOurs = entry.fingerprint !== fingerprint || equalBytes(deployment?.version ?? NO_HASH, request.sdl.hash);
  if (deployment?.state === "active" && isOurs) return [{ entry, deployment }];
  // A deployment with another manifest has been updated since, or belongs to a chain that was restarted.
  if (deployment?.state !== "active") journal.remove(entry.dseq);
  return [];
}

const NO_HASH = new Uint8Array();

/** The deployment of an entry; one that may be on its way is given some blocks to arrive. */
async function arrived(session: Session, entry: JournalEntry): Promise<DeploymentRecord | undefined> {
  const { market, progress } = session;
  let found = await market.deployment(entry.dseq);
  if (found !== undefined || entry.step !== "order") return found;
  let height = await market.height();
  progress.waiting(`deployment ${entry.dseq}, which was sent before the interruption`, { for: "order" });
  for (let blocks = 0; blocks < ARRIVAL_BLOCKS && found === undefined; blocks++) {
    height = (await nextHeight(session, height, BLOCK_WAIT_MS)) ?? height;
    found = await market.deployment(entry.dseq);
  }
  return found;
}

/**
 * The number of an unfinished deployment without a running lease. A finished or running deployment is left alone if the
 * user has already asked for another one; otherwise it is an error.
 */
async function superseded(
  { market, request }: Session,
  { entry, deployment }: Begun,
  isAnother: boolean,
): Promise<bigint | undefined> {
  const running = deployment === undefined ? [] : activeLeases(await market.leases(entry.dseq));
  if (entry.step !== "done" && running.length === 0) return entry.dseq;
  if (isAnother) return undefined;
  const hint =
    `svc deploy update ${shellWord(request.file)} --dseq ${entry.dseq} changes it, ` +
    `svc deploy close --dseq ${entry.dseq} ends it, --new makes a second one`;
  throw deployErrors.changed(`deployment ${entry.dseq} of ${request.file} is active`, { hint });
}
