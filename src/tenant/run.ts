import { ensureLeases, needActive } from "./lease/lease.ts";
import { ensureOrder } from "./order/order.ts";
import { sendManifests, withProviders } from "./ready/manifest.ts";
import { waitReady } from "./ready/ready.ts";
import { type DeployResult, deployResult } from "./result.ts";
import { type DeployReporter, Progress } from "./session/progress.ts";
import { type DeployParts, type DeployRequest, fingerprintOf, type Session } from "./session/session.ts";

/**
 * Takes a deployment file to running services. Each step first checks the existing state, so a run after an
 * interruption continues where the previous one stopped. Rejects with one of `deployErrors`, including `cancelled` and
 * `interrupted`, or with an error of the chain or a provider.
 */
export async function runDeploy(
  parts: DeployParts,
  request: DeployRequest,
  reporter: DeployReporter,
): Promise<DeployResult> {
  const progress = new Progress(parts.clock, reporter);
  const session: Session = { ...parts, request, progress, fingerprint: fingerprintOf(request.sdl) };
  progress.waiting("the node", { for: "node" });
  const placed = await ensureOrder(session);
  const { entry } = placed;
  const leases = await ensureLeases(session, placed);
  const chosen = leases.map(({ id }) => ({ gseq: id.gseq, provider: id.provider }));
  const leased = await withProviders(session, leases);
  parts.journal.save({ ...entry, step: "manifest", chosen });
  await sendManifests(session, leased, {
    onlyMissing: entry.step === "manifest" || entry.step === "ready" || entry.step === "done",
  });
  parts.journal.save({ ...entry, step: "ready", chosen });
  const running = await waitReady(session, entry.dseq, leased);
  parts.journal.save({ ...entry, step: "done", chosen });
  const deployment = await needActive(session, entry.dseq);
  return deployResult({ session, deployment, running });
}
