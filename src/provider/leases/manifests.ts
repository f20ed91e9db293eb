import type { DeploymentRecord, LeaseRecord } from "../../client/index.ts";
import { checkManifestAgainstGroups, type Manifest, type ManifestGroup, manifestHash } from "../../sdl/index.ts";
import { type Clock, equalBytes, errorText, type Logger, toHex } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import { endpointNames } from "../cluster/index.ts";
import { leaseErrors } from "./errors.ts";
import type { Together } from "./record/addresses.ts";

/** A lease and the group of the manifest that belongs to it. */
export interface LeaseGroup {
  readonly id: LeaseKey;
  readonly group: ManifestGroup;
}

export interface ManifestRequest {
  readonly owner: string;
  readonly dseq: bigint;
  readonly manifest: Manifest;
}

export interface ManifestCheck {
  readonly chain: ChainView;
  readonly provider: string;
  readonly clock: Clock;
  /** Waits in milliseconds before asking again: the tenant's node may be a block ahead of ours. */
  readonly settleMs: readonly number[];
}

/**
 * Checks a manifest against the chain: the owner has an active lease here, the hash is the deployment's version, and
 * the groups match the paid ones. Returns each lease's part.
 */
export async function matchManifest(request: ManifestRequest, check: ManifestCheck): Promise<readonly LeaseGroup[]> {
  const hash = manifestHash(request.manifest);
  const { leases, deployment } = await settled(request, hash, check);
  if (leases.length === 0 || deployment?.state !== "active") throw leaseErrors.notFound();
  if (!equalBytes(deployment.version, hash)) {
    throw leaseErrors.versionMismatch(`its hash is ${toHex(hash)}, the chain has ${toHex(deployment.version)}`);
  }
  checkManifestAgainstGroups(
    request.manifest,
    deployment.groups.map(({ spec }) => spec),
  );
  return leases.flatMap(({ id }) => {
    const name = deployment.groups.find(({ gseq }) => gseq === id.gseq)?.spec.name;
    const group = request.manifest.find((each) => each.name === name);
    return group === undefined ? [] : [{ id, group }];
  });
}

interface ChainFacts {
  readonly leases: readonly LeaseRecord[];
  readonly deployment: DeploymentRecord | undefined;
}

async function settled(request: ManifestRequest, hash: Uint8Array, check: ManifestCheck): Promise<ChainFacts> {
  let facts = await ask(request, check);
  for (const wait of check.settleMs) {
    const { leases, deployment } = facts;
    if (leases.length > 0 && deployment !== undefined && equalBytes(deployment.version, hash)) return facts;
    await new Promise<void>((resolve) => check.clock.after(wait, resolve));
    facts = await ask(request, check);
  }
  return facts;
}

async function ask({ owner, dseq }: ManifestRequest, { chain, provider }: ManifestCheck): Promise<ChainFacts> {
  const [leases, deployment] = await Promise.all([
    chain.activeLeases({ provider, owner, dseq }),
    chain.deployment({ owner, dseq }),
  ]);
  return { leases, deployment };
}

/** The part of a lease that takes manifests. */
interface Machine {
  readonly id: LeaseKey;
  /** The manifest in force. */
  readonly record: { readonly group: ManifestGroup | null; readonly version: string };
  /** Rejects if the manifest could not be put in force now. Its resources stay reserved until `relax`. */
  check(group: ManifestGroup, version: string): Promise<void>;
  /** Gives back what `check` has taken. */
  relax(): Promise<void>;
  /** Puts it in force, or rejects and keeps the previous one. */
  accept(group: ManifestGroup, version: string, together: Together): Promise<void>;
}

/** A lease and its new manifest. */
export interface Member {
  readonly machine: Machine;
  readonly group: ManifestGroup;
}

interface Dated extends Member {
  readonly version: string;
}

/** Puts the manifest in force for all groups or for none: they share addresses, which are paid for once. */
export async function acceptTogether(members: readonly Member[], version: string, log: Logger): Promise<void> {
  if (members.length > 1) await checkTogether(members, version);
  const together = togetherOf(members);
  const done: Dated[] = [];
  for (const { machine, group } of members) {
    const before = machine.record;
    try {
      await machine.accept(group, version, together);
    } catch (error) {
      for (const member of done) await takeBack(member, togetherOf(done), log);
      throw error;
    }
    // Where there was none, there is nothing to go back to.
    if (before.group !== null) done.push({ machine, group: before.group, version: before.version });
  }
}

/** The free resources must be enough for all leases together, not only for each alone. */
async function checkTogether(members: readonly Member[], version: string): Promise<void> {
  try {
    for (const { machine, group } of members) await machine.check(group, version);
  } finally {
    for (const { machine } of members) await machine.relax();
  }
}

function togetherOf(members: readonly Member[]): Together {
  return {
    ids: members.map(({ machine }) => machine.id),
    endpoints: [...new Set(members.flatMap(({ group }) => endpointNames(group)))],
  };
}

/** Another group cannot run the manifest after all, so this one has the manifest of before. */
async function takeBack({ machine, group, version }: Dated, together: Together, log: Logger): Promise<void> {
  const lease = formatLeaseId(machine.id);
  try {
    await machine.accept(group, version, together);
    log.warn("another group cannot run the manifest, so this one has that of before", { lease });
  } catch (error) {
    log.error("the manifest of before could not be put in force again", { lease, err: errorText(error) });
  }
}
