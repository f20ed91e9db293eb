import type { ChainClient, GatewayClient, ProviderRecord, TxSigner } from "../../client/index.ts";
import { certifiedBy, type DeployParts, deployErrors, gatewayOf, type MarketTxOptions } from "../../tenant/index.ts";
import { credentialOnce, type LiveOptions, liveParts } from "../../tenant/node/index.ts";
import { SINGLE_TX_FLAGS } from "../command/global-flags.ts";
import type { CommandInput } from "../command/spec.ts";
import { createContext } from "../context/context.ts";
import { usageError } from "../errors.ts";
import { keyringSigner, requireSigningKey, signingKeyName } from "../keys/signer.ts";
import { type OnItsWay, onItsWay } from "../tx/session/hand-in.ts";
import { readTxSettings, type TxSettings } from "../tx/session/settings.ts";
import { is } from "./ending.ts";

/** Who deploys, and through which node. */
export interface Tenant extends LiveOptions {
  readonly chain: ChainClient;
  readonly signer: TxSigner;
  readonly parts: DeployParts;
  /** Height of the newest proof; undefined where no block is trusted. */
  verifiedAt(): bigint | undefined;
  /** The client of a provider's gateway, with the tenant's credential. */
  gateway(provider: ProviderRecord): Promise<GatewayClient>;
}

/** Runs work as the tenant of `--from`, or of the keyring's only key; closes the connections to the node afterwards. */
export async function asTenant<T>(
  input: CommandInput,
  { tx, signal }: Pick<LiveOptions, "tx" | "signal">,
  work: (tenant: Tenant) => Promise<T>,
): Promise<T> {
  const context = createContext(input);
  const from = await signingKeyName(context, ["local"]);
  const signer = await keyringSigner(context, await requireSigningKey(context, from));
  const { chain, proven } = await context.partly();
  const query = proven?.query ?? chain.query;
  const options = { home: context.home, chain, signer, tx, signal, ...(proven === undefined ? {} : { proven: query }) };
  try {
    const credential = credentialOnce(options);
    const target = certifiedBy(query);
    const gateway = (provider: ProviderRecord): Promise<GatewayClient> => gatewayOf({ target, credential }, provider);
    const verifiedAt = (): bigint | undefined => proven?.height();
    return await work({ ...options, gateway, verifiedAt, parts: await liveParts(options) });
  } catch (error) {
    throw withTransaction(error, onItsWay(chain, input));
  } finally {
    chain.close();
  }
}

/** An interruption says what becomes of the transaction that may be on its way, or that has just arrived. */
function withTransaction(error: unknown, way: OnItsWay | undefined): unknown {
  if (!is(error, "interrupted") || way === undefined || (way.isIncluded && error.hint !== undefined)) return error;
  const hints = error.hint === undefined ? [way.hint] : [way.hint, error.hint];
  return deployErrors.interrupted(way.text, { hint: hints.join("; ") });
}

/** The commands that make the transactions of a command of `svc deploy` one by one. */
const SEPARATE = {
  deploy: "build each transaction separately: svc tx deployment create --help, svc tx market lease create --help",
  update: "build the transaction alone: svc tx deployment update --help",
  close: "build the transaction alone: svc tx deployment close --help",
};

/** The transaction flags, as far as a command that sends several transactions can follow them. */
export function sendSettings({ flags }: CommandInput, command: keyof typeof SEPARATE = "deploy"): TxSettings {
  const single = SINGLE_TX_FLAGS.find((name) => flags.bool(name) || flags.text(name) !== "");
  if (single !== undefined) {
    const text = `--${single} cannot be used with svc deploy, which sends transactions and waits for them`;
    throw usageError(text, SEPARATE[command]);
  }
  if (flags.bool("ledger")) {
    const hint = "leave it out, and use a key of the keyring";
    throw usageError("--ledger cannot be used with svc deploy: it signs more than transactions", hint);
  }
  return readTxSettings(flags);
}

/** The transaction flags; unless given, the gas depends on the number of messages. */
export function marketTx(input: CommandInput): MarketTxOptions {
  const { gas, gasAdjustment, fees, gasPrices, memo, timeoutHeight, signMode } = sendSettings(input);
  const options = { gasAdjustment, fees, gasPrices, memo, timeoutHeight, signMode };
  return input.flags.given("gas") ? { ...options, gas } : options;
}
