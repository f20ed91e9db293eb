import type { Signal } from "@preact/signals";
import { clientErrors } from "../../../client/index.ts";
import {
  type DeployParts,
  type DeployReporter,
  type DeployRequest,
  type DeployResult,
  deployErrors,
  gatewayParts,
  type Market,
  marketBy,
  type Questions,
  runDeploy,
} from "../../../tenant/index.ts";
import { equalBytes, errorText, isOneOf, SvcError } from "../../../util/index.ts";
import { chain } from "../../live/chain.ts";
import { gatewayUrl } from "../../live/gateway/gateway.ts";
import { gasPrices, sendOwn } from "../../live/wallet.ts";
import { deploying } from "../../text/deploying.ts";
import { walletErrors } from "../../wallet/errors.ts";
import type { SendStage } from "../../wallet/send.ts";
import type { Wallet } from "../../wallet/wallet.ts";
import { type RunJournal, type RunRecord, runJournal } from "./records.ts";

/** The workflow with the marketplace behind it: loaded with the first deployment that is run. */

export interface RunRequest {
  readonly run: Signal<RunRecord>;
  readonly account: Wallet;
  readonly request: DeployRequest;
  readonly reporter: DeployReporter;
  readonly choose: Questions["choose"];
  /** The work of the wallet; undefined when it is done. */
  readonly onStage: (stage: SendStage | "session" | undefined) => void;
}

/** Takes the file of a record to running services; what an earlier call has done is not done again. */
export async function deployRun({
  run,
  account,
  request,
  reporter,
  choose,
  onStage,
}: RunRequest): Promise<DeployResult> {
  // Nothing is signed yet, and the page of the file may have known the providers as they were.
  if (run.peek().progress === undefined) {
    const { checkReach } = await import("../offers.ts");
    await checkReach(request.sdl.groups, request.signal);
  }
  const journal = runJournal(run);
  const parts = await partsOf({ account, journal, onStage });
  await checkOurs(parts.market, run.peek(), request.sdl.hash);
  try {
    return await runDeploy(parts, { ...request, questions: { choose } }, reporter);
  } catch (error) {
    throw error instanceof WalletFault ? error.cause : error;
  }
}

interface PartsRequest extends Pick<RunRequest, "account" | "onStage"> {
  readonly journal: RunJournal;
}

/** Signatures of tokens first: a wallet that makes none is found out before anything is paid. */
async function partsOf({ account, journal, onStage }: PartsRequest): Promise<DeployParts> {
  onStage("session");
  const { gatewayCredential } = await import("../../live/gateway/session.ts");
  const credential = await gatewayCredential(account);
  onStage(undefined);
  const tx = { gas: "auto", gasPrices: await gasPrices() } as const;
  const send = sender(account, journal, onStage);
  const market = await marketBy({ chain, owner: account.address, tx, send });
  return { market, ...gatewayParts({ credential, gatewayUrl, journal }) };
}

/** A fault of the wallet, which says nothing about the chain: the workflow keeps its record. */
class WalletFault extends Error {}

/** Sends by the wallet. It decides fee and memo, and a transaction whose fate is not known is looked for first. */
function sender(account: Wallet, journal: RunJournal, onStage: RunRequest["onStage"]): Market["send"] {
  return async (messages) => {
    await journal.written();
    try {
      return await sendOwn(account, messages, onStage);
    } catch (error) {
      if (isOneOf([walletErrors.unknownFate], error))
        throw clientErrors.unreachable(errorText(error), { cause: error });
      const isOfWallet = error instanceof SvcError && error.codespace === walletErrors.refused().codespace;
      throw isOfWallet ? new WalletFault(error.message, { cause: error }) : error;
    } finally {
      onStage(undefined);
    }
  };
}

/** A deployment that was closed, or changed, elsewhere is not made anew: that would be paid again. */
async function checkOurs(market: Market, { progress, name }: RunRecord, hash: Uint8Array): Promise<void> {
  if (progress === undefined) return;
  const found = await market.deployment(progress.dseq);
  const isSame = found !== undefined && equalBytes(found.version, hash);
  // The order may not have arrived, and its number may be another deployment's.
  if (progress.step === "order" && !isSame) return;
  if (found?.state !== "active")
    throw deployErrors.closed(`deployment ${progress.dseq}`, { hint: deploying.closedHint });
  if (!isSame) throw deployErrors.changed(`deployment ${progress.dseq} of ${name}`, { hint: deploying.changedHint });
}
