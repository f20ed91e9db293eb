import type { BroadcastMode, GasSetting } from "../../../client/index.ts";
import { type Dec, type DecimalCoin, type IntCoin, parseCoins, parseDecCoins } from "../../../util/index.ts";
import { decodeAddress, SignMode } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import { inFlag } from "../../command/in-flag.ts";
import { usageError } from "../../errors.ts";
import { durationFlag } from "../../values/duration.ts";
import { broadcastMode, gasAdjustmentFlag, parseGas } from "../../values/gas.ts";

/** Purpose of a transaction: it is sent, printed unsigned, printed signed, or only simulated. */
export type TxPurpose = "send" | "generate" | "sign" | "estimate";

/** The transaction flags, read and checked against each other. */
export interface TxSettings {
  readonly purpose: TxPurpose;
  readonly offline: boolean;
  /** No question before broadcasting. */
  readonly yes: boolean;
  readonly mode: BroadcastMode;
  readonly gas: GasSetting;
  readonly gasAdjustment: Dec;
  readonly fees: readonly IntCoin[];
  readonly gasPrices: readonly DecimalCoin[];
  readonly memo: string;
  readonly timeoutHeight: bigint;
  /** Latest time of a block in which it may commit, in milliseconds of the Unix clock. */
  readonly timeoutTimeMs: number | undefined;
  /** Without a sequence; the field is 0. */
  readonly unordered: boolean;
  readonly signMode: SignMode;
  /** `--chain-id`. */
  readonly chainId: string | undefined;
  readonly accountNumber: bigint | undefined;
  readonly sequence: bigint | undefined;
  /** Address of the account that pays the fee and signs for it; empty for the first signer. */
  readonly feePayer: string;
  /** Address of the account whose allowance pays the fee; empty for none. */
  readonly feeGranter: string;
}

/** Reads the transaction flags, and checks that they fit together before any request. */
export function readTxSettings(flags: Flags): TxSettings {
  const settings: TxSettings = {
    purpose: purposeOf(flags),
    offline: flags.bool("offline"),
    yes: flags.bool("yes"),
    mode: broadcastMode(flags),
    gas: inFlag(flags, "gas", () => parseGas(flags.text("gas"))),
    gasAdjustment: gasAdjustmentFlag(flags),
    fees: inFlag(flags, "fees", () => parseCoins(flags.text("fees"))).filter(({ amount }) => amount > 0n),
    gasPrices: inFlag(flags, "gas-prices", () => parseDecCoins(flags.text("gas-prices"))),
    memo: flags.text("memo"),
    timeoutHeight: flags.uint64("timeout-height"),
    timeoutTimeMs: timeoutTime(flags),
    unordered: flags.bool("unordered"),
    signMode: flags.text("sign-mode") === "amino-json" ? SignMode.LEGACY_AMINO_JSON : SignMode.DIRECT,
    chainId: flags.optional("chain-id"),
    ...readNumbers(flags),
    ...(flags.bool("unordered") ? { sequence: 0n } : {}),
    feePayer: addressFlag(flags, "fee-payer"),
    feeGranter: addressFlag(flags, "fee-granter"),
  };
  checkTogether(settings, flags);
  return settings;
}

function purposeOf(flags: Flags): TxPurpose {
  const [generate, dryRun] = [flags.bool("generate-only"), flags.bool("dry-run")];
  if (generate && dryRun) throw usageError("--generate-only and --dry-run cannot be used together");
  if (dryRun) return "estimate";
  return generate ? "generate" : flags.bool("offline") ? "sign" : "send";
}

function checkTogether(settings: TxSettings, flags: Flags): void {
  const { purpose, offline, gas, fees, gasPrices } = settings;
  checkTimeout(flags);
  if (fees.length > 0 && gasPrices.length > 0) throw usageError("cannot provide both fees and gas prices");
  if (!offline) return;
  if (purpose === "estimate") throw usageError("--dry-run needs a node and cannot be used with --offline");
  if (gas === "auto") throw usageError("cannot estimate gas in offline mode", "give --gas as a number");
  if (purpose === "sign") requireOffline(flags);
}

function timeoutTime(flags: Flags): number | undefined {
  if (flags.optional("timeout-duration") === undefined) return undefined;
  return Date.now() + durationFlag(flags, "timeout-duration");
}

function checkTimeout(flags: Flags): void {
  const [unordered, lasts] = [flags.bool("unordered"), flags.given("timeout-duration")];
  if (lasts && flags.given("timeout-height")) {
    throw usageError("--timeout-height and --timeout-duration cannot be used together");
  }
  if (unordered && flags.given("sequence")) {
    throw usageError("--unordered and --sequence cannot be used together", "leave out --sequence");
  }
  if (unordered && !lasts) {
    throw usageError("--unordered needs --timeout-duration", "say how long it stays valid: --timeout-duration 5m");
  }
}

/** Offline, a node's answers must be on the command line. */
export function requireOffline(flags: Flags): void {
  for (const name of ["account-number", "sequence", "chain-id"]) {
    if (name === "sequence" && flags.bool("unordered")) continue;
    if (!flags.given(name)) throw usageError(`required flag --${name} is not set: --offline cannot query it`);
  }
}

/** Account number and sequence of the flags. */
export function readNumbers(flags: Flags): Pick<TxSettings, "accountNumber" | "sequence"> {
  return { accountNumber: optionalUint(flags, "account-number"), sequence: optionalUint(flags, "sequence") };
}

function optionalUint(flags: Flags, name: string): bigint | undefined {
  return flags.given(name) ? flags.uint64(name) : undefined;
}

function addressFlag(flags: Flags, name: string): string {
  const text = flags.text(name);
  if (text !== "") inFlag(flags, name, () => decodeAddress(text, "account", flags.profile.bech32Prefix));
  return text;
}
