import { causeText, errorText, type Logger, Semaphore } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import type { AdoptedLease, ClusterDriver } from "../cluster/index.ts";
import type { CloseProof, LeaseRecord } from "./record/record.ts";

/** Concurrent questions to the chain about leases that it does not list. */
const QUESTIONS_AT_ONCE = 16;

/** Result of comparing store, cluster and chain. */
export interface ReconcileReport {
  /** Active leases according to the chain; undefined if it could not be asked. */
  readonly active: number | undefined;
  /** Stored leases in force, and stored leases missing from the chain's list of active ones. */
  readonly deployments: number;
  readonly skipped: number;
  /** Workloads on the cluster without a record; undefined if the cluster could not be asked. */
  readonly orphans: readonly string[] | undefined;
}

/** The leases as the comparison sees them. */
export interface ReconciledLeases {
  records(): readonly LeaseRecord[];
  leaseWon(id: LeaseKey): void;
  leaseAdopted(lease: AdoptedLease): void;
  /** Describes a lease to the cluster that has lost its description; never rejects. */
  leaseForgotten(id: LeaseKey): Promise<void>;
  closeWithProof(id: LeaseKey, proof: CloseProof): Promise<void>;
}

export interface ReconcileOptions {
  readonly chain: ChainView;
  readonly driver: ClusterDriver;
  readonly log: Logger;
  readonly provider: string;
  readonly leases: ReconciledLeases;
}

/** Never rejects: what could not be queried stays unchanged until the next time. */
export async function reconcile(options: ReconcileOptions): Promise<ReconcileReport> {
  const active = await activeLeases(options);
  const known = new Set(active?.map(formatLeaseId));
  // A lease whose workload may run must not look like one that waits for its first manifest.
  const orphans = await adoptOrphans(options);
  if (orphans !== undefined) for (const id of active ?? []) options.leases.leaseWon(id);
  const stored = options.leases.records().filter(({ phase }) => phase !== "closing");
  const doubtful = active === undefined ? [] : stored.filter(({ id }) => !known.has(formatLeaseId(id)));
  // A busy lease, or a record that cannot be written, does not delay the end of other leases.
  const questions = new Semaphore(QUESTIONS_AT_ONCE);
  await Promise.all(doubtful.map(({ id }) => closeIfProven(id, options, questions)));
  const deployments = stored.length - doubtful.length;
  report(options.log, { active, stored, deployments, skipped: doubtful.length });
  return { active: active?.length, deployments, skipped: doubtful.length, orphans };
}

interface Counts {
  readonly active: readonly LeaseKey[] | undefined;
  readonly stored: readonly LeaseRecord[];
  readonly deployments: number;
  readonly skipped: number;
}

function report(log: Logger, { active, stored, deployments, skipped }: Counts): void {
  if (active === undefined) return;
  log.debug("leases compared", { "num-active": active.length, "num-stored": stored.length, deployments, skipped });
}

async function activeLeases({ chain, provider, log }: ReconcileOptions): Promise<readonly LeaseKey[] | undefined> {
  try {
    return (await chain.activeLeases({ provider })).map(({ id }) => id);
  } catch (error) {
    log.warn("the chain's leases cannot be queried; nothing is removed", { err: errorText(error) });
    return undefined;
  }
}

/**
 * Workloads of leases without record: removed if the chain says that the lease has ended, otherwise kept and reported.
 * Undefined if the cluster could not be asked.
 */
async function adoptOrphans(options: ReconcileOptions): Promise<string[] | undefined> {
  const { driver, leases, log } = options;
  try {
    const found = await driver.adopt();
    const known = new Set(leases.records().map(({ id }) => formatLeaseId(id)));
    const orphans = found.filter(({ id }) => !known.has(formatLeaseId(id)));
    // Before anything else: until then the record here is the only one.
    const forgotten = found.filter(({ id, spec }) => spec === undefined && known.has(formatLeaseId(id)));
    await Promise.all(forgotten.map(({ id }) => leases.leaseForgotten(id)));
    for (const orphan of orphans) {
      const { id, generation, spec } = orphan;
      const text =
        spec === undefined
          ? "workload without a stored manifest stays"
          : "the record of a lease was lost; it is made again from what the cluster runs";
      log.warn(text, { lease: formatLeaseId(id), generation });
      if (await isNotOver(id, options)) leases.leaseAdopted(orphan);
    }
    return orphans.map(({ id }) => formatLeaseId(id));
  } catch (error) {
    log.warn("the cluster's leases cannot be queried", { err: causeText(error) });
    return undefined;
  }
}

/** Whether the lease may still be in force; if the chain says that it has ended, its workload is removed. */
async function isNotOver(id: LeaseKey, options: ReconcileOptions): Promise<boolean> {
  const proof = await closeProof(id, options);
  if (proof === undefined) return true;
  // The record makes the removal durable and repeated until it is done.
  options.leases.leaseAdopted({ id, version: "", generation: 0, spec: undefined });
  await noteEnd(id, proof, options);
  return false;
}

async function closeIfProven(id: LeaseKey, options: ReconcileOptions, questions: Semaphore): Promise<void> {
  const proof = await questions.run(() => closeProof(id, options));
  if (proof !== undefined) await noteEnd(id, proof, options);
}

/** A failed write of one lease affects no other; the next comparison finds its end again. */
async function noteEnd(id: LeaseKey, proof: CloseProof, { leases, log }: ReconcileOptions): Promise<void> {
  await leases.closeWithProof(id, proof).catch((error: unknown) => {
    log.error("the end of a lease could not be noted", { lease: formatLeaseId(id), err: errorText(error) });
  });
}

/**
 * The chain's word that this lease has ended, or that it keeps nothing of the closed deployment any more. No answer, an error
 * or "no such lease" does not count.
 */
async function closeProof(id: LeaseKey, { chain, log }: ReconcileOptions): Promise<CloseProof | undefined> {
  try {
    const lease = await chain.lease(id);
    if (lease === undefined) {
      const height = await chain.prunedAt(id);
      if (height !== undefined) return { source: "query", height };
      log.warn("the chain does not know the lease; its workload stays", { lease: formatLeaseId(id) });
      return undefined;
    }
    return lease.state === "active" || lease.closedOn <= 0n ? undefined : { source: "query", height: lease.closedOn };
  } catch (error) {
    log.warn("the chain cannot be asked about the lease; its workload stays", {
      lease: formatLeaseId(id),
      err: errorText(error),
    });
    return undefined;
  }
}
