import type { AppQueryResult } from "../../abci/index.ts";
import type { QueryStatus } from "../../runtime/index.ts";
import { PANIC_ERROR, sdkErrors } from "../../util/index.ts";

/** The gRPC status words of a node's answers. */
export type StatusWord = QueryStatus | "Internal" | "Unavailable";

/** Numbers of gRPC by their words. */
export const STATUS_CODE: Readonly<Record<StatusWord, number>> = {
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  ResourceExhausted: 8,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  Unauthenticated: 16,
};

/** A refusal in the terms of gRPC. */
export interface Status {
  readonly word: StatusWord;
  /** The error text, without the words in which queries carry a status. */
  readonly text: string;
}

type Refused = Pick<AppQueryResult, "code" | "codespace" | "log">;

const CARRIED = /^rpc error: code = (\w+) desc = (.*)$/s;
/** Ends of texts that only carry a status. */
const CARRIERS = [
  sdkErrors.invalidRequest,
  sdkErrors.keyNotFound,
  sdkErrors.unauthorized,
  sdkErrors.unknownRequest,
].map(({ description }) => `: ${description}`);

/** The status of a query that was refused, as `queryFailure` and `plainFailure` of the runtime report it. */
export function statusOf(refused: Refused): Status {
  const [, word = "", text = ""] = CARRIED.exec(refused.log) ?? [];
  if (isWord(word)) return { word, text: withoutCarrier(text) };
  return { word: plainWord(refused), text: refused.log };
}

function isWord(word: string): word is StatusWord {
  return Object.hasOwn(STATUS_CODE, word);
}

function withoutCarrier(text: string): string {
  const carrier = CARRIERS.find((each) => text.endsWith(each));
  return carrier === undefined ? text : text.slice(0, -carrier.length);
}

/** Refusals of the path or the height, and faults of the node. */
function plainWord({ codespace, code }: Refused): StatusWord {
  if (codespace === PANIC_ERROR.codespace) return "Internal";
  return codespace === "sdk" && code === sdkErrors.unknownRequest.code ? "Unimplemented" : "InvalidArgument";
}
