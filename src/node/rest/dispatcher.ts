import type { IncomingHttpHeaders } from "node:http";
import { SvcError, sdkErrors } from "../../util/index.ts";
import {
  decodeMessage,
  encodeMessage,
  methodPath,
  type Namespace,
  namespaceOf,
  toJson,
  toNamespace,
} from "../../wire/index.ts";
import type { Dispatcher } from "../dispatch.ts";
import { heightAsked } from "../services/height.ts";
import { statusOf } from "../services/status.ts";
import { NOT_IMPLEMENTED, type RestAnswer, refusalAnswer, restText } from "./answer.ts";
import { MAX_ANSWER_BYTES, MAX_SEGMENTS } from "./limits.ts";
import { requestMessage } from "./request.ts";
import { type PathValues, type Route, RouteTable, routesOf } from "./routes.ts";

/** The parts of an HTTP request that are known before its body is read. */
export interface RestTarget {
  readonly route: Route;
  readonly values: PathValues;
  readonly query: string;
  /** The spelling of the request, which the answer uses too. */
  readonly namespace: Namespace;
  readonly headers: IncomingHttpHeaders;
}

/** From requests over HTTP to rpcs and back, by the routes in the options of the rpcs. */
export class RestDispatcher {
  readonly routes: readonly Route[];
  readonly #dispatcher: Pick<Dispatcher, "methods" | "query">;
  readonly #table: RouteTable;

  constructor(dispatcher: Pick<Dispatcher, "methods" | "query">) {
    this.#dispatcher = dispatcher;
    this.routes = routesOf(dispatcher.methods);
    this.#table = new RouteTable(this.routes);
  }

  /** The rpc that a request is for, or the answer that it gets without one. */
  find(verb: string, url: string, headers: IncomingHttpHeaders): RestTarget | RestAnswer {
    const [path = "", query = ""] = splitOnce(url, "?");
    const segments = segmentsOf(toNamespace(path, "sdk"));
    if (segments === undefined) return invalid("the path is not valid: two hex digits follow a percent sign");
    const found = segments.length > MAX_SEGMENTS ? undefined : this.#table.find(verb, segments);
    return found === undefined ? NOT_IMPLEMENTED : { ...found, query, namespace: namespaceOf(path), headers };
  }

  /** Answers a request; a refusal is an answer too. */
  async answer(target: RestTarget, body: string): Promise<RestAnswer> {
    try {
      return await this.#answer(target, body);
    } catch (error) {
      if (error instanceof SvcError) return invalid(withoutKind(error.message));
      throw error;
    }
  }

  async #answer(target: RestTarget, body: string): Promise<RestAnswer> {
    const { route, namespace, headers } = target;
    const { input, output } = route.method;
    const data = encodeMessage(input, requestMessage(route, { ...target, body }));
    const path = methodPath(route.method, namespace);
    const answer = await this.#dispatcher.query({
      path,
      data,
      height: heightAsked((name) => headers[name]?.toString()),
      prove: false,
    });
    if (answer.code !== 0) return refused(answer);
    if (answer.value.length > MAX_ANSWER_BYTES) return tooLarge();
    const text = restText(toJson(output, decodeMessage(output, answer.value), { namespace }));
    return { status: 200, text, height: answer.height };
  }
}

type Refused = Parameters<typeof statusOf>[0];

function refused(answer: Refused): RestAnswer {
  return refusalAnswer(statusOf(answer));
}

/** A wrong text in a URL is not an error of JSON. */
function withoutKind(text: string): string {
  const kind = `: ${sdkErrors.jsonUnmarshal.description}`;
  return text.endsWith(kind) ? text.slice(0, -kind.length) : text;
}

function invalid(text: string): RestAnswer {
  return refusalAnswer({ word: "InvalidArgument", text });
}

function tooLarge(): RestAnswer {
  const text = `the answer is larger than ${MAX_ANSWER_BYTES} bytes: ask for less with pagination.limit`;
  return refusalAnswer({ word: "ResourceExhausted", text });
}

/** The decoded segments of a path; undefined where an escape is wrong. A slash that was escaped is part of its segment. */
function segmentsOf(path: string): string[] | undefined {
  try {
    return path.split("/").slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
