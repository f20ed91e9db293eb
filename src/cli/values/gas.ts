import { type BroadcastMode, clientErrors, DEFAULT_GAS, type GasSetting } from "../../client/index.ts";
import { type Dec, tryParseDec } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { BROADCAST_MODES } from "../command/global-flags.ts";
import { inFlag } from "../command/in-flag.ts";

const MAX_GAS = (1n << 63n) - 1n;

/** Reads a `--gas` value: an integer, `auto`, or nothing for the default. */
export function parseGas(text: string): GasSetting {
  if (text === "") return DEFAULT_GAS;
  if (text === "auto") return "auto";
  const gas = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (gas !== undefined && gas <= MAX_GAS) return gas;
  if (/^\d+$/.test(text)) throw clientErrors.gas(`${quote(text)} is more gas than any transaction may have`);
  throw clientErrors.gas(`gas must be either integer or auto, not ${quote(text)}`);
}

/** Reads a `--gas-adjustment` value: a positive decimal. */
export function parseGasAdjustment(text: string): Dec {
  const value = tryParseDec(text);
  if (value !== undefined && value > 0n) return value;
  throw clientErrors.gas(`the gas adjustment ${quote(text)} is not a positive number`);
}

export function gasAdjustmentFlag(flags: Flags): Dec {
  return inFlag(flags, "gas-adjustment", () => parseGasAdjustment(flags.text("gas-adjustment")));
}

/** `--broadcast-mode`, which is one of its choices. */
export function broadcastMode(flags: Flags): BroadcastMode {
  return BROADCAST_MODES.find((mode) => mode === flags.text("broadcast-mode")) ?? "sync";
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
