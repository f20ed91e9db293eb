import { type ErrorFactory, SvcError, sdkErrors } from "../../util/index.ts";
import type { AbciQueryResult } from "./node.ts";

/** Status words of gRPC for query errors, as the ecosystem's clients print them. */
export type QueryFault = "InvalidArgument" | "Unauthenticated" | "NotFound" | "Unknown";

/** A query that the application refused: codespace and code of its own error if the answer has them. */
class QueryRefusal extends SvcError {
  readonly fault: QueryFault;

  constructor(fault: QueryFault, error: Pick<SvcError, "codespace" | "code" | "message">) {
    super(error.codespace, error.code, error.message);
    this.fault = fault;
  }
}

function faultOf({ codespace, code }: Pick<SvcError, "codespace" | "code">): QueryFault {
  return (codespace === "sdk" ? FAULTS[code] : undefined) ?? "Unknown";
}

const FAULTS: Readonly<Record<number, QueryFault>> = { 18: "InvalidArgument", 4: "Unauthenticated", 22: "NotFound" };

/** Classifies an error of a query. */
export function queryFault(error: unknown): QueryFault {
  if (error instanceof QueryRefusal) return error.fault;
  return error instanceof SvcError ? faultOf(error) : "Unknown";
}

/**
 * The underlying error of a refusal. Applications wrap errors of their handlers in gRPC text, `rpc error: code =
 * NotFound desc = ...: key not found`, once or twice, with one of four codes: that text is removed, and the code is the
 * inner error's if it can be recognised.
 */
export function readRefusal(answer: Pick<AbciQueryResult, "codespace" | "code" | "log" | "info">): SvcError {
  const { codespace, code, log } = answer;
  const fault = faultOf(answer);
  if (!STATUS.test(log)) return new QueryRefusal(fault, { codespace, code, message: log });
  const words = log.replace(STATUS, "");
  const inner = withoutCarrier(words, code);
  const own = named(answer.info) ?? described(inner);
  // The wrapper stays if only it gives the kind of error; "unknown request" does not.
  const isCarrier = own === undefined || (own.codespace === codespace && own.code === code);
  const message = isCarrier && code !== sdkErrors.unknownRequest.code ? words : inner;
  return new QueryRefusal(fault, { ...(own ?? { codespace, code }), message });
}

const STATUS = /^(?:rpc error: code = \w+ desc = )+/;
const GAS = /\s+with gas (?:used|wanted): '\d+'(?: and gas used: '\d+')?\s*$/i;

/** The inner text, without the description of the outer code and the gas used by a simulation. */
function withoutCarrier(words: string, code: number): string {
  const tail = `: ${SDK_ROWS.find((row) => row.code === code)?.description}`;
  return (words.endsWith(tail) ? words.slice(0, -tail.length) : words).replace(GAS, "");
}

const SDK_ROWS: readonly ErrorFactory[] = Object.values(sdkErrors);

/** The error that our own chain names. */
function named(info: string): { codespace: string; code: number } | undefined {
  const [, codespace, code] = /^(\w+)\/(\d{1,6})$/.exec(info) ?? [];
  return codespace === undefined ? undefined : { codespace, code: Number(code) };
}

/** Other chains return only the text, which ends in the description of the error. */
function described(message: string): { codespace: string; code: number } | undefined {
  const row = SDK_ROWS.find(({ description }) => message === description || message.endsWith(`: ${description}`));
  return row === undefined ? undefined : { codespace: "sdk", code: row.code };
}
