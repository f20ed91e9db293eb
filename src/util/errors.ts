/** Parts of a numbered error besides its text. */
export interface ErrorOptions {
  /** The user's next step, one sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * The one error class of the product. `codespace` and `code` are stable forever and part of transaction results;
 * `message` has the form `detail: description`, outermost context first (the ecosystem's wrapping order).
 */
export class SvcError extends Error {
  readonly codespace: string;
  readonly code: number;
  readonly hint: string | undefined;

  constructor(codespace: string, code: number, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SvcError";
    this.codespace = codespace;
    this.code = code;
    this.hint = options.hint;
  }

  /** The same error with an outer context in front of its text. */
  wrap(context: string): SvcError {
    const options: ErrorOptions = { cause: this, ...(this.hint === undefined ? {} : { hint: this.hint }) };
    return new SvcError(this.codespace, this.code, `${context}: ${this.message}`, options);
  }
}

/** A request that was understood but cannot be met, for which no table has a row. */
export function commandError(text: string, options: ErrorOptions = {}): SvcError {
  return new SvcError("cli", 1, text, options);
}

/** One row of a module's error table: number, description, and the remedy where there is one. */
export type ErrorRow = readonly [code: number, description: string, hint?: string];

/** Makes an error of a table's row; `detail` is put in front of the row's description. */
export interface ErrorFactory {
  (detail?: string, options?: ErrorOptions): SvcError;
  readonly codespace: string;
  readonly code: number;
  readonly description: string;
  /** Whether it says that a record does not exist. */
  readonly isAbsence: boolean;
}

/** Identifies an error, or a result of the chain. */
export interface ErrorId {
  readonly codespace: string;
  readonly code: number;
}

/** Whether an error or a result belongs to one of some rows. */
export function isOneOf(rows: readonly ErrorId[], error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { codespace, code }: Partial<ErrorId> = error;
  return rows.some((row) => row.codespace === codespace && row.code === code);
}

/**
 * Turns a table of rows into named factories: `errors.notFound("order/...")`. The row `notFound` says that a record does
 * not exist; a table with several such rows names them in `absences`.
 */
export function defineErrors<T extends Record<string, ErrorRow>>(
  codespace: string,
  table: T,
  absences?: readonly (keyof T)[],
): { readonly [K in keyof T]: ErrorFactory };
export function defineErrors(
  codespace: string,
  table: Readonly<Record<string, ErrorRow>>,
  absences: readonly PropertyKey[] = ["notFound"],
): Record<string, ErrorFactory> {
  const factories: Record<string, ErrorFactory> = {};
  for (const [name, [code, description, hint]] of Object.entries(table)) {
    const make = (detail?: string, options: ErrorOptions = {}): SvcError => {
      const message = detail === undefined ? description : `${detail}: ${description}`;
      return new SvcError(codespace, code, message, hint === undefined ? options : { hint, ...options });
    };
    factories[name] = Object.assign(make, { codespace, code, description, isAbsence: absences.includes(name) });
  }
  return factories;
}

/** Errors of codespace `sdk`, shared by the ante checks and all modules (numbers of the ecosystem). */
export const sdkErrors = defineErrors(
  "sdk",
  {
    txDecode: [2, "tx parse error"],
    invalidSequence: [3, "invalid sequence"],
    unauthorized: [4, "unauthorized"],
    insufficientFunds: [5, "insufficient funds"],
    unknownRequest: [6, "unknown request"],
    invalidAddress: [7, "invalid address"],
    invalidPubKey: [8, "invalid pubkey"],
    unknownAddress: [9, "unknown address"],
    invalidCoins: [10, "invalid coins"],
    outOfGas: [11, "out of gas", "raise --gas, or let --gas auto find it"],
    memoTooLarge: [12, "memo too large"],
    insufficientFee: [13, "insufficient fee", "raise --fees or --gas-prices"],
    tooManySignatures: [14, "maximum number of signatures exceeded"],
    noSignatures: [15, "no signatures supplied"],
    jsonMarshal: [16, "failed to marshal JSON bytes"],
    jsonUnmarshal: [17, "failed to unmarshal JSON bytes"],
    invalidRequest: [18, "invalid request"],
    txInMempool: [19, "tx already in mempool"],
    mempoolFull: [20, "mempool is full"],
    txTooLarge: [21, "tx too large"],
    keyNotFound: [22, "key not found"],
    wrongPassword: [23, "invalid account password"],
    wrongSigner: [24, "tx intended signer does not match the given signer"],
    invalidGasAdjustment: [25, "invalid gas adjustment"],
    invalidHeight: [26, "invalid height"],
    invalidVersion: [27, "invalid version"],
    invalidChainId: [28, "invalid chain-id"],
    invalidType: [29, "invalid type"],
    txTimeoutHeight: [30, "tx timeout height"],
    unknownExtension: [31, "unknown extension options"],
    wrongSequence: [32, "incorrect account sequence"],
    packAny: [33, "failed packing protobuf message to Any"],
    unpackAny: [34, "failed unpacking protobuf message from Any"],
    logic: [35, "internal logic error"],
    conflict: [36, "conflict"],
    notSupported: [37, "feature not supported"],
    notFound: [38, "not found"],
    io: [39, "internal IO error"],
    invalidGasLimit: [41, "invalid gas limit"],
  },
  ["keyNotFound", "notFound"],
);

/** Code of an error that no table knows; its text is not shown to the network because it may differ between nodes. */
export const INTERNAL_ERROR = { codespace: "undefined", code: 1 } as const;

/** Code of a programming error met while a transaction ran. */
export const PANIC_ERROR = { codespace: "undefined", code: 111222 } as const;

/** The text of anything thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The text of an error and of its innermost cause, for logs. */
export function causeText(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  const [text, inner] = [errorText(error), errorText(cause)];
  return text.includes(inner) ? text : `${text} (${inner})`;
}

/** Stops on a broken invariant: a programming error, never bad input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
