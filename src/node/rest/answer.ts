import { type JsonValue, printJson } from "../../wire/index.ts";
import { STATUS_CODE, type Status, type StatusWord } from "../services/status.ts";

/** A line that ends with an empty list. Within a text, the brackets would be followed by a quotation mark. */
const EMPTY_LIST = /^( *)(.*)\[\](,?)$/gm;

/** JSON in the form of the reference's gateway: two spaces for each level, brackets of empty lists on two lines. */
export function restText(value: JsonValue): string {
  return printJson(value, { indent: 2 }).replace(EMPTY_LIST, "$1$2[\n$1]$3");
}

/**
 * The status line of HTTP for each of gRPC. A refused simulation is the caller's fault: 500 would say that it is the
 * node's.
 */
const HTTP_STATUS: Readonly<Record<StatusWord, number>> = {
  Unknown: 400,
  InvalidArgument: 400,
  DeadlineExceeded: 504,
  NotFound: 404,
  ResourceExhausted: 429,
  Unimplemented: 501,
  Internal: 500,
  Unavailable: 503,
  Unauthenticated: 401,
};

/** An answer before it is sent. */
export interface RestAnswer {
  readonly status: number;
  readonly text: string;
  /** Height of the state that the answer shows. */
  readonly height?: bigint;
}

/** A refusal with the body that clients of the ecosystem look for. */
export function refusalAnswer({ word, text }: Status, status: number = HTTP_STATUS[word]): RestAnswer {
  return { status, text: restText({ code: STATUS_CODE[word], message: text, details: [] }) };
}

/** The reference's answer for a path or a verb that it does not have; wallets probe for features with it. */
export const NOT_IMPLEMENTED: RestAnswer = refusalAnswer({ word: "Unimplemented", text: "Not Implemented" });
