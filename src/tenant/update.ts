import type { DeploymentRecord, LeaseRecord } from "../client/index.ts";
import type { LoadedSdl, Manifest } from "../sdl/index.ts";
import { equalBytes, isOneOf, shellWord } from "../util/index.ts";
import { updateDeployment } from "./chain/messages.ts";
import { groupDifferences } from "./groups.ts";
import { pickDeployment } from "./manage/pick.ts";
import { sendManifests, withProviders } from "./ready/manifest.ts";
import { waitReady } from "./ready/ready.ts";
import { type DeployResult, deployResult } from "./result.ts";
import { unlessInterrupted } from "./session/clock.ts";
import { deployErrors } from "./session/errors.ts";
import { activeLeases } from "./session/market.ts";
import { type DeployReporter, Progress } from "./session/progress.ts";
import { type DeployParts, type DeployRequest, fingerprintOf, type Session } from "./session/session.ts";

/** An update names its deployment; if left out, it is the one made from the file, else the only one. */
export interface UpdateRequest extends DeployRequest {
  readonly dseq?: bigint;
}

/**
 * Gives a deployment a new manifest: its hash to the chain, the manifest to the providers. Groups stay as they were
 * ordered; a file that changes them is refused.
 */
export async function runUpdate(
  parts: DeployParts,
  request: UpdateRequest,
  reporter: DeployReporter,
): Promise<DeployResult> {
  const progress = new Progress(parts.clock, reporter);
  const session: Session = { ...parts, request, progress, fingerprint: fingerprintOf(request.sdl) };
  progress.waiting("the node", { for: "node" });
  const deployment = await pickDeployment(parts, request.dseq ?? (await madeFrom(session)));
  checkGroups(session, deployment);
  const leases = await needLeases(session, deployment);
  await session.market.confirmLeases(leases);
  await putHash(session, deployment);
  const running = await bringUp(session, deployment, leases).catch((error: unknown) => {
    throw isOneOf([deployErrors.interrupted], error) ? halfway(session, deployment) : error;
  });
  record(session, deployment, leases);
  return deployResult({ session, deployment, running });
}

async function bringUp(session: Session, { dseq }: DeploymentRecord, leases: readonly LeaseRecord[]) {
  const leased = await withProviders(session, leases);
  await sendManifests(session, leased, { onlyMissing: false });
  return waitReady(session, dseq, leased);
}

/** An interruption when the chain has the new manifest already. */
function halfway({ request }: Session, { dseq }: DeploymentRecord): Error {
  const hint = `svc deploy update ${shellWord(request.file)} --dseq ${dseq} sends it again and waits for the services`;
  return deployErrors.interrupted(`the chain has the new manifest of deployment ${dseq}`, { hint });
}

/** The active deployment that was made from this file, if there is exactly one. */
async function madeFrom({ market, journal, request }: Session): Promise<bigint | undefined> {
  const entries = journal.entries(market.owner, market.chainId).filter(({ file }) => file === request.file);
  const found = await Promise.all(entries.map(({ dseq }) => market.deployment(dseq)));
  const active = found.filter((each) => each?.state === "active");
  return active.length === 1 ? active[0]?.dseq : undefined;
}

/** Changes of a deployment's groups by a file, one sentence each: an update that has any is refused. */
export function groupChanges(
  { groups }: Pick<DeploymentRecord, "groups">,
  sdl: Pick<LoadedSdl, "groups" | "manifest">,
): readonly string[] {
  const before = groups.map(({ spec }) => spec);
  return groupDifferences(before, sdl.groups, serviceNames(sdl.manifest));
}

function checkGroups({ request }: Session, deployment: DeploymentRecord): void {
  const { dseq } = deployment;
  const changes = groupChanges(deployment, request.sdl);
  if (changes.length === 0) return;
  const hint =
    `image, command, args, env and hosts can be changed; for the rest make a new deployment: ` +
    `svc deploy close --dseq ${dseq} and svc deploy ${shellWord(request.file)}`;
  throw deployErrors.groupsChanged(`deployment ${dseq}: ${changes.join("; ")}`, { hint });
}

/** Names of the services of a resource in a group. */
function serviceNames(manifest: Manifest): (group: string, resource: number) => string {
  return (group, resource) => {
    const services = manifest.find(({ name }) => name === group)?.services ?? [];
    return services
      .filter(({ resources }) => resources.id === resource)
      .map(({ name }) => name)
      .join(", ");
  };
}

async function needLeases({ market, request }: Session, { dseq }: DeploymentRecord): Promise<readonly LeaseRecord[]> {
  const leases = activeLeases(await market.leases(dseq));
  if (leases.length > 0) return leases;
  throw deployErrors.noLease(`deployment ${dseq}`, {
    hint: `svc deploy ${shellWord(request.file)} continues until it has one`,
  });
}

/** Puts the new hash on the chain. Rejects with `deployErrors.cancelled` if the user declines. */
async function putHash({ market, request, progress }: Session, deployment: DeploymentRecord): Promise<void> {
  const { dseq, version } = deployment;
  if (equalBytes(version, request.sdl.hash)) {
    progress.note(`deployment ${dseq} has this manifest already; it is sent to the providers again`);
    return;
  }
  const ask = request.questions?.confirm;
  progress.waiting("", { for: "user" });
  const agreed = ask === undefined || (await unlessInterrupted(() => ask(`update deployment ${dseq}`), request.signal));
  if (!agreed) throw deployErrors.cancelled("nothing was sent");
  progress.waiting("the block with the new manifest hash", { for: "update" });
  const message = updateDeployment({ owner: market.owner, dseq }, request.sdl.hash);
  const { height } = await unlessInterrupted(() => market.send([message]), request.signal);
  progress.done("update", `manifest hash of deployment ${dseq} changed in block ${height}`);
}

function record(session: Session, { dseq }: DeploymentRecord, leases: readonly LeaseRecord[]): void {
  const { journal, market, request, fingerprint } = session;
  const chosen = leases.map(({ id }) => ({ gseq: id.gseq, provider: id.provider }));
  const { owner, chainId } = market;
  journal.save({ dseq, owner, chainId, file: request.file, fingerprint, step: "done", chosen });
}
