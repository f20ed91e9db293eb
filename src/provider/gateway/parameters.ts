import * as v from "valibot";
import { fromUtf8 } from "../../util/index.ts";
import { readBoundedJson } from "../../wire/index.ts";
import { gatewayErrors } from "./errors.ts";

const MAX_TAIL = 1_000_000;
const MAX_COMMAND = 256;

/** The query of an address. A parameter that the route does not know is refused rather than silently ignored. */
export function readParameters(url: string, known: readonly (string | RegExp)[]): URLSearchParams {
  const parameters = new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "");
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    const isKnown = known.some((each) => (typeof each === "string" ? each === name : each.test(name)));
    if (!isKnown) throw gatewayErrors.badRequest(`unknown parameter "${name.slice(0, 64)}"`);
    if (seen.has(name)) throw gatewayErrors.badRequest(`parameter "${name.slice(0, 64)}" appears twice`);
    seen.add(name);
  }
  return parameters;
}

export interface StreamParameters {
  readonly follow: boolean;
  /** Lines from the end, -1 for all. */
  readonly tail: number;
  readonly services: readonly string[];
}

export interface LogParameters extends StreamParameters {
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly previous: boolean;
}

/** Parameters of every stream, plus `since` (a time of RFC 3339) and `previous`. */
export function readLogParameters(url: string): LogParameters {
  const parameters = readParameters(url, ["follow", "tail", "service", "since", "previous"]);
  const stream = readStreamWishes(parameters);
  const previous = readSwitch(parameters, "previous") ?? false;
  if (previous && stream.follow) throw gatewayErrors.badRequest("previous and follow cannot be used together");
  return { ...stream, since: readSince(parameters.get("since")), previous };
}

/** `follow`, `tail` and `service` of logs and events. */
export function readStreamParameters(url: string): StreamParameters {
  return readStreamWishes(readParameters(url, ["follow", "tail", "service"]));
}

function readStreamWishes(parameters: URLSearchParams): StreamParameters {
  return {
    follow: readSwitch(parameters, "follow") ?? false,
    tail: readTail(parameters.get("tail")),
    services: readServices(parameters.get("service")),
  };
}

export interface ShellParameters {
  readonly service: string;
  readonly replica: number;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
}

/** All of `cmd0` up to `cmdN`, `tty`, `stdin`, `service` and `podIndex`. */
export function readShellParameters(url: string): ShellParameters {
  const parameters = readParameters(url, ["tty", "stdin", "service", "podIndex", /^cmd\d{1,3}$/]);
  const tty = readSwitch(parameters, "tty");
  const stdin = readSwitch(parameters, "stdin");
  const [service, ...others] = readServices(parameters.get("service"));
  const index = parameters.get("podIndex");
  if (tty === undefined || stdin === undefined) throw gatewayErrors.badRequest("tty and stdin must each be 0 or 1");
  if (service === undefined || others.length > 0) throw gatewayErrors.badRequest("service must name one service");
  if (index === null || !/^\d{1,4}$/.test(index)) throw gatewayErrors.badRequest("podIndex must be a number from 0");
  return { service, replica: Number(index), command: readCommand(parameters), tty, stdin };
}

function readCommand(parameters: URLSearchParams): string[] {
  const count = [...parameters.keys()].filter((name) => name.startsWith("cmd")).length;
  const words = Array.from({ length: count }, (_, index) => parameters.get(`cmd${index}`));
  const command = words.filter((word) => word !== null);
  if (command.length === 0 || command.length !== count || count > MAX_COMMAND) {
    throw gatewayErrors.badRequest(
      `the command must be in cmd0, cmd1, ... without a gap, at most ${MAX_COMMAND} words`,
    );
  }
  if (command[0] === "" || command.some((word) => word.includes("\0"))) {
    throw gatewayErrors.badRequest("the command is empty or holds a NUL byte");
  }
  return command;
}

function readSwitch(parameters: URLSearchParams, name: string): boolean | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  if (text === "1" || text === "true") return true;
  if (text === "0" || text === "false") return false;
  throw gatewayErrors.badRequest(`${name} must be 0 or 1`);
}

function readSince(text: string | null): number | undefined {
  if (text === null) return undefined;
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!(time >= 0)) throw gatewayErrors.badRequest("since must be a time like 2026-01-31T12:00:00Z");
  return time;
}

function readTail(text: string | null): number {
  if (text === null || text === "-1") return -1;
  const tail = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(tail <= MAX_TAIL)) throw gatewayErrors.badRequest(`tail must be a number from 0 to ${MAX_TAIL}, or -1 for all`);
  return tail;
}

function readServices(text: string | null): string[] {
  if (text === null || text === "") return [];
  const names = text.split(",");
  if (names.some((name) => !/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))) {
    throw gatewayErrors.badRequest("service must be names of services separated by single commas");
  }
  return names;
}

/** Names that a request is about at most; no lease has more host names. */
export const hostNames = v.pipe(v.array(v.pipe(v.string(), v.maxLength(255))), v.minLength(1), v.maxLength(100));

/** The body as the schema has it; throws one sentence about the first thing that is not. */
export function readBody<T extends v.GenericSchema>(schema: T, body: Uint8Array): v.InferOutput<T> {
  const result = v.safeParse(schema, parsed(body));
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = issue?.path?.map(({ key }) => String(key)).join(".") ?? "";
  throw gatewayErrors.body(path === "" ? "the body is not an object" : `field ${path}`);
}

function parsed(body: Uint8Array): unknown {
  try {
    return readBoundedJson(fromUtf8(body));
  } catch (cause) {
    throw gatewayErrors.body("the body is not readable JSON", { cause });
  }
}
