import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { ChainClient, type TxSigner } from "../../client/index.ts";
import { loadSdlFile } from "../../sdl/index.ts";
import type { MarketTxOptions } from "../chain/chain-market.ts";
import type { DeployResult } from "../result.ts";
import { runDeploy } from "../run.ts";
import { unlessInterrupted } from "../session/clock.ts";
import { type DeployReporter, SILENT } from "../session/progress.ts";
import { type DeployChoices, type DeployRequest, deploySettings } from "../session/session.ts";
import { liveParts } from "./live.ts";

/** The file, the account and the settings of a deployment. */
export interface DeployOptions extends DeployChoices {
  readonly file: string;
  /** Directory of certificates and of the records by which an interrupted deployment is continued. */
  readonly home: string;
  /** Address of a node. */
  readonly node: string;
  /** Queried from the node when left out. */
  readonly chainId?: string;
  /** The tenant's key. */
  readonly signer: TxSigner;
  readonly signal?: AbortSignal;
  /** Gas, fees and the like of the transactions. */
  readonly tx?: MarketTxOptions;
}

/**
 * Deploys a file: certificate, order, bids, lease, manifest, ready services. Continues an earlier run of the same file.
 * Rejects with `SdlError`, one of `deployErrors`, or an error of the chain or a provider.
 */
export async function deploy(options: DeployOptions, reporter: DeployReporter = SILENT): Promise<DeployResult> {
  const { home, signer, chainId, tx = {}, signal = new AbortController().signal } = options;
  const request = deployRequest(options, signal);
  const onRetry = (reason: string): void => reporter.waiting(`the node (${reason})`, { for: "node", reason });
  const chain = new ChainClient(options.node, { onRetry, ...(chainId === undefined ? {} : { chainId }) });
  try {
    const run = async () => runDeploy(await liveParts({ home, chain, signer, tx, signal }), request, reporter);
    return await unlessInterrupted(run, signal);
  } finally {
    chain.close();
  }
}

/** The request, with the defaults filled in; reads the file. */
export function deployRequest(
  options: Pick<DeployOptions, "file" | keyof DeployChoices>,
  signal: AbortSignal,
): DeployRequest {
  return {
    ...deploySettings(options),
    sdl: loadSdlFile(options.file),
    reread: (chain) => loadSdlFile(options.file, chain),
    file: absolutePath(options.file),
    signal,
  };
}

/** The same path for a file, whichever links lead to it. */
function absolutePath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}
