import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { clientErrors } from "../../../client/index.ts";
import { errorText, isOneOf } from "../../../util/index.ts";
import { formatLeaseId } from "../../../wire/index.ts";
import { parseJson, readText, saveJson } from "../../durable.ts";
import { daemonErrors } from "../../errors.ts";
import type { ProviderRequest, StartRequest } from "../request.ts";
import { untilAnswered } from "./wait.ts";

/** In the provider's folder. */
const FILE = "chain.json";
/** Leases that an error names. */
const NAMED = 3;

/** The chain that a provider's folder was last used with. */
interface KnownChain {
  readonly chainId: string;
  /** `NodeApi.genesisHash`. */
  readonly genesis: string;
}

/**
 * Compares the chain with the one that this folder was last used with. A restarted chain knows nothing of the
 * workloads here and may give their numbers to others: it cannot prove their end, so the operator must end them first.
 */
export async function checkGenesis(request: StartRequest): Promise<void> {
  const { client, config, log } = request;
  const genesis = await untilAnswered(() => genesisOf(request), request);
  if (genesis === undefined) return;
  const chainId = await client.chainId();
  const known = knownChain(config.stateDir);
  if (known?.genesis === genesis) return;
  if (known !== undefined) await checkNothingLeft(request, { was: known, is: { chainId, genesis } });
  const path = join(config.stateDir, FILE);
  try {
    // Something other than a file may be there.
    if (known === undefined) rmSync(path, { recursive: true, force: true });
    saveJson(path, { chainId, genesis });
  } catch (error) {
    log.warn("the genesis of the chain could not be recorded", { err: errorText(error) });
  }
}

/** Undefined if the node refuses to tell; rejects if it does not answer. */
async function genesisOf({ client, log }: StartRequest): Promise<string | undefined> {
  try {
    return await client.node.genesisHash();
  } catch (error) {
    if (isOneOf([clientErrors.unreachable], error)) throw error;
    log.warn("the node does not give the genesis of the chain, so it cannot be compared", { err: errorText(error) });
    return undefined;
  }
}

/** Undefined if nothing was noted or the note is damaged: then there is nothing to compare with. */
export function knownChain(stateDir: string): KnownChain | undefined {
  const path = join(stateDir, FILE);
  if (!existsSync(path)) return undefined;
  try {
    const { chainId, genesis } = parseJson(path, readText(path)) as Partial<KnownChain>;
    return typeof chainId === "string" && typeof genesis === "string" ? { chainId, genesis } : undefined;
  } catch {
    return undefined;
  }
}

async function checkNothingLeft(
  { config, log }: ProviderRequest,
  { was, is }: { readonly was: KnownChain; readonly is: KnownChain },
): Promise<void> {
  const left = (await config.driver.adopt()).map(({ id }) => formatLeaseId(id));
  const change =
    was.chainId === is.chainId
      ? `${is.chainId} was restarted from genesis`
      : `it was ${was.chainId}, not ${is.chainId}`;
  if (left.length === 0) {
    log.warn("the chain has changed; no workloads of the former one are left", { change });
    return;
  }
  const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : "";
  throw daemonErrors.otherGenesis(`${change}; still running here: ${left.slice(0, NAMED).join(", ")}${more}`);
}
