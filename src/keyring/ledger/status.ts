import type { SvcError } from "../../util/index.ts";
import type { Answer } from "./apdu.ts";
import { ledgerErrors } from "./errors.ts";

/** Status words of the Cosmos app and of the device's own software that we distinguish. */
export const STATUS = {
  ok: 0x9000,
  wrongLength: 0x6700,
  emptyBuffer: 0x6982,
  dataInvalid: 0x6984,
  conditionsNotSatisfied: 0x6985,
  commandNotAllowed: 0x6986,
  tooMuchData: 0x6988,
  pathValue: 0x6989,
  prefixLength: 0x698a,
  pathCoin: 0x698b,
  unknownPrefix: 0x698c,
  badKeyHandle: 0x6a80,
  unknownInstruction: 0x6d00,
  unknownClass: 0x6e00,
} as const;

/** The device is locked: statuses of current and earlier software. */
const LOCKED: readonly number[] = [0x5515, 0x6804, 0x6b0c, STATUS.emptyBuffer];
const WRONG_APP: readonly number[] = [STATUS.unknownClass, 0x6e01, STATUS.unknownInstruction, 0x6d02, 0x6511];
const REFUSED: readonly number[] = [STATUS.commandNotAllowed, STATUS.conditionsNotSatisfied, 0x5501];
const PATH: readonly number[] = [STATUS.pathValue, STATUS.pathCoin];
const DOCUMENT: readonly number[] = [STATUS.dataInvalid, STATUS.badKeyHandle];

/** Facts about the command that the meaning of a refusal depends on. */
export interface Asked {
  /** The user was asked to press the buttons, so a refusal is the user's. */
  readonly confirmed: boolean;
  /** The derivation path, for the sentence that refuses it. */
  readonly path?: string;
}

/** Whether a device answered that another app, or none, is open. */
export function isWrongApp({ status }: Answer): boolean {
  return WRONG_APP.includes(status);
}

/** The error of an answer that is not `ok`. */
export function statusError({ status, data }: Answer, { confirmed, path }: Asked): SvcError {
  if (LOCKED.includes(status)) return ledgerErrors.locked();
  if (WRONG_APP.includes(status)) return ledgerErrors.wrongApp();
  if (REFUSED.includes(status)) return confirmed ? ledgerErrors.refused() : ledgerErrors.busy();
  if (PATH.includes(status)) return ledgerErrors.path(path);
  if (status === STATUS.tooMuchData) return ledgerErrors.tooLarge();
  if (DOCUMENT.includes(status)) return ledgerErrors.document(textOf(data));
  return ledgerErrors.badAnswer(`status 0x${status.toString(16).padStart(4, "0")}`);
}

const MAX_TEXT = 100;

/** The app's message about a document, reduced to plain letters. */
function textOf(data: Uint8Array): string | undefined {
  const text = String.fromCharCode(...data.subarray(0, 4 * MAX_TEXT))
    .replace(/[^\x20-\x7e]/g, "")
    .slice(0, MAX_TEXT);
  return text === "" ? undefined : text;
}
