import type { LeaseRecord, ProviderRecord } from "../../client/index.ts";
import { shellWord, toHex } from "../../util/index.ts";
import { checkInterrupted, sleep, unlessInterrupted } from "../session/clock.ts";
import { deployErrors } from "../session/errors.ts";
import type { ManifestOutcome } from "../session/gateway.ts";
import type { Session } from "../session/session.ts";

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;

/** A lease and who has it. */
export interface Leased {
  readonly lease: LeaseRecord;
  readonly provider: ProviderRecord;
}

/** The leases, confirmed, with their providers' records: a manifest may hold secrets. */
export async function withProviders({ market }: Session, leases: readonly LeaseRecord[]): Promise<readonly Leased[]> {
  await market.confirmLeases(leases);
  return Promise.all(
    leases.map(async (lease) => {
      const provider = await market.provider(lease.id.provider);
      if (provider === undefined) {
        throw deployErrors.manifest(`provider ${lease.id.provider} is no longer registered on the chain`);
      }
      return { lease, provider };
    }),
  );
}

/** Sends the manifest to every provider. With `onlyMissing`, skips providers that already have one for the lease. */
export async function sendManifests(
  session: Session,
  leased: readonly Leased[],
  { onlyMissing }: { readonly onlyMissing: boolean },
): Promise<void> {
  const { progress } = session;
  const sent = await Promise.all(leased.map((each) => sendManifest(session, each, onlyMissing)));
  const to = leased.map(({ provider }) => provider.hostUri).join(", ");
  progress.done("manifest", sent.includes(true) ? `accepted by ${to}` : `was accepted by ${to} before`);
}

/** Returns whether the manifest had to be sent. */
async function sendManifest(session: Session, { lease, provider }: Leased, onlyMissing: boolean): Promise<boolean> {
  const { openGateway, clock, request, progress } = session;
  const deadline = clock.now() + request.timeoutMs;
  const gateway = openGateway(provider);
  if (onlyMissing && (await hasManifest(session, { lease, provider }))) return false;
  const { manifest } = request.sdl;
  const wait = { for: "manifest", provider: provider.address } as const;
  progress.waiting(`${provider.hostUri} to accept the manifest`, wait);
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const outcome = await unlessInterrupted(() => gateway.sendManifest(lease.id.dseq, manifest), request.signal);
    if (outcome.kind === "taken") return true;
    if (outcome.kind === "refused" || clock.now() + pause > deadline)
      throw notTaken(session, { lease, provider }, outcome);
    const { reason } = outcome;
    progress.waiting(`${provider.hostUri} to accept the manifest: ${reason}`, { ...wait, reason });
    await sleep(clock, pause, request.signal);
  }
}

async function hasManifest({ openGateway, request }: Session, { lease, provider }: Leased): Promise<boolean> {
  try {
    const state = await unlessInterrupted(() => openGateway(provider).status(lease.id), request.signal);
    return state?.version === toHex(request.sdl.hash);
  } catch {
    checkInterrupted(request.signal);
    return false;
  }
}

function notTaken({ request }: Session, { lease, provider }: Leased, outcome: ManifestOutcome): Error {
  const { reason, remedy } = outcome.kind === "taken" ? { reason: "", remedy: undefined } : outcome;
  const file = shellWord(request.file);
  const update = `svc deploy update ${file} --dseq ${lease.id.dseq}`;
  const change =
    remedy === undefined
      ? `change ${file} and send it with ${update}`
      : `${remedy}; then svc deploy ${file} sends the manifest again, and ${update} a changed one`;
  const what = outcome.kind === "refused" ? change : `svc deploy ${file} tries again`;
  const hint = `${what}; svc deploy close --dseq ${lease.id.dseq} ends it; a lease without a manifest ends by itself`;
  return deployErrors.manifest(`${provider.address} at ${provider.hostUri}: ${reason}`, { hint });
}
