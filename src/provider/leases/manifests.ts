import type { DeploymentRecord, LeaseRecord } from "../../client/index.ts";
import { checkManifestAgainstGroups, type Manifest, type ManifestGroup, manifestHash } from "../../sdl/index.ts";
import { type Clock, equalBytes, toHex } from "../../util/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import { leaseErrors } from "./errors.ts";

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
 * Checks a manifest against the chain: there is an active lease of the owner here, the hash is the deployment's version,
 * and the groups ask for what was paid for. Returns what belongs to each lease.
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
