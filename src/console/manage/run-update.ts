import { GatewayClient, marketReader } from "../../client/index.ts";
import type { LoadedSdl } from "../../sdl/index.ts";
import {
  type DeployReporter,
  type DeployResult,
  fingerprintOf,
  gatewayParts,
  type Market,
  marketBy,
  runUpdate,
} from "../../tenant/index.ts";
import { chain } from "../live/chain.ts";
import { gatewayUrl, whyUnknown } from "../live/gateway/gateway.ts";
import { sendOwn } from "../live/wallet.ts";
import { t } from "../text/index.ts";
import { manage } from "../text/manage.ts";
import type { SendStage } from "../wallet/send.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { type FileText, keepBegun, keepDeployed, type Place } from "./texts.ts";

/** The workflow of an update with the marketplace behind it: loaded with the first update. */

/** Milliseconds for a provider's gateway to answer before anything is signed. */
const REACH_MS = 8_000;
/** Milliseconds for the provider to take the manifest, and for the services to be ready. */
const TIMEOUT_MS = 300_000;

export type UpdateStage = SendStage | "reaching" | "session";

export interface UpdateParts {
  readonly place: Place;
  readonly account: Wallet;
  readonly file: FileText;
  readonly sdl: LoadedSdl;
  readonly reporter: DeployReporter;
  /** The work of the page and the wallet; undefined while the workflow tells its own. */
  readonly onStage: (stage: UpdateStage | undefined) => void;
  readonly signal: AbortSignal;
}

/** Puts the hash of the file's manifest on the chain, sends the manifest, and waits until the services run. */
export async function update(parts: UpdateParts): Promise<DeployResult> {
  const { place, account, file, sdl, reporter, onStage, signal } = parts;
  onStage("reaching");
  await reachAll(place);
  onStage("session");
  const { gatewayCredential } = await import("../live/gateway/session.ts");
  const credential = await gatewayCredential(account);
  onStage(undefined);
  const market = await marketBy({ chain, owner: account.address, tx: {}, send: sender(parts) });
  const settings = {
    policy: { choice: { kind: "cheapest" } },
    bidWindow: 0n,
    timeoutMs: TIMEOUT_MS,
    fresh: false,
  } as const;
  const request = { ...settings, file: file.name, sdl, reread: () => sdl, signal, dseq: place.id.dseq };
  keepBegun(place, file);
  const result = await runUpdate({ market, ...gatewayParts({ credential, gatewayUrl }) }, request, reporter);
  await keep(parts);
  return result;
}

/** Where the browser refuses, the begun file stays, and the update goes on: the chain has it. */
async function keep({ place, file, sdl }: UpdateParts): Promise<void> {
  await keepDeployed(place, file, fingerprintOf(sdl)).catch(() => undefined);
}

/** A provider that does not answer would keep the old manifest while the chain has the new hash. */
async function reachAll({ id }: Place): Promise<void> {
  const reader = marketReader(chain.query);
  const leases = await reader.leases({ ...id, state: "active" });
  await Promise.all(
    leases.map(async ({ id: { provider: address } }) => {
      const provider = await reader.provider(address);
      if (provider === undefined) throw new Error(manage.unreached(address, t.gateway.unregistered));
      try {
        await new GatewayClient({ provider: address, url: gatewayUrl(provider), timeoutMs: REACH_MS }).version();
      } catch (error) {
        throw new Error(manage.unreached(address, whyUnknown(error)), { cause: error });
      }
    }),
  );
}

/** Sends by the wallet, which decides fee and memo. A transaction before it whose fate was not known comes first. */
function sender(parts: UpdateParts): Market["send"] {
  const { account, onStage } = parts;
  return async (messages) => {
    try {
      const sent = await sendOwn(account, messages, onStage);
      await keep(parts);
      return sent;
    } finally {
      onStage(undefined);
    }
  };
}
