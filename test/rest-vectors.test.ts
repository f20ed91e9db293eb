import { create, type DescMethod } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { broadcastResponse, queryFault } from "../src/client/index.ts";
import { SvcError, sdkErrors, toHexUpper } from "../src/util/index.ts";
import { GetTxRequestSchema, GetTxsEventRequestSchema } from "../src/wire/gen/sdk/tx/v1beta1/service_pb.js";
import {
  allServices,
  decodeMessage,
  encodeMessage,
  fromJson,
  httpRule,
  isArray,
  isObject,
  type JsonValue,
  MAX_TX_BYTES,
  printJson,
  readJson,
  toJson,
  toNamespace,
  txHash,
  wireErrors,
} from "../src/wire/index.ts";
import recorded from "./vectors/rest-live-sdk042.json" with { type: "json" };

/**
 * Requests and answers of the REST interface of the reference chain. Our rpcs and messages are the same underneath: the
 * request becomes one of ours, and the answer, read and written again, is the same text.
 */

interface Exchange {
  readonly http: string;
  readonly body: JsonValue;
  readonly status: number;
  readonly response: string;
}
const exchanges = (recorded as readonly Exchange[]).map((each) => ({ ...each, url: new URL(each.http) }));
const named = exchanges.map((each) => [`${each.body === null ? "GET" : "POST"} ${each.url.pathname}`, each] as const);

interface Route {
  readonly method: DescMethod;
  /** Values of the words in braces. */
  readonly words: Readonly<Record<string, string>>;
}

/** The rpc that is bound to a path. */
function routeOf({ url, body }: { readonly url: URL; readonly body: JsonValue }): Route | undefined {
  for (const method of allServices().flatMap(({ methods }) => methods)) {
    const rule = httpRule(method);
    const { case: verb, value: pattern = "" } = rule?.pattern ?? {};
    if (verb !== (body === null ? "get" : "post")) continue;
    const expression = pattern.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${expression}$`).exec(toNamespace(url.pathname, "sdk"));
    if (match !== null) return { method, words: match.groups ?? {} };
  }
  return undefined;
}

/** The request in proto JSON, from the path, the query and the body. Dots lead into messages, repeated names make lists. */
function requestJson({ words }: Route, { url, body }: { readonly url: URL; readonly body: JsonValue }): JsonValue {
  if (isObject(body)) return body;
  const json: Record<string, JsonValue> = { ...words };
  for (const [name, value] of url.searchParams) {
    const [outer = "", inner] = name.split(".");
    if (inner === undefined) json[outer] = outer === "events" ? url.searchParams.getAll(name) : value;
    else json[outer] = { ...(json[outer] as object), [inner]: value };
  }
  return json;
}

/** Two spaces for each level; an empty list has its brackets on two lines. */
function restForm(json: JsonValue): string {
  return printJson(json, { indent: 2 }).replaceAll(/^( *)(.*)\[\](,?)$/gm, "$1$2[\n$1]$3");
}

/** Long answers were recorded up to a length. Open parts are closed behind the last whole line. */
function wholeLines(response: string): { readonly shown: string; readonly text: string } {
  if (response.trimEnd().endsWith("\n}")) return { shown: response.trimEnd(), text: response };
  const lines = response.split("\n").slice(0, -1);
  const open: string[] = [];
  for (const line of lines) {
    if (/^ *[}\]]/.test(line)) open.pop();
    if (/[{[]$/.test(line)) open.push(line.endsWith("{") ? "}" : "]");
  }
  const shown = lines.join("\n").replace(/,$/, "");
  return { shown, text: shown + open.reverse().join("") };
}

/** Fields that releases after 0.42 added; recorded answers lack them. */
const NEWER: ReadonlySet<string> = new Set([
  "msg_responses",
  "cosmos_sdk_version",
  "sdk_block",
  "unbonding_on_hold_ref_count",
  "unbonding_ids",
]);

function withoutNewer(json: JsonValue): JsonValue {
  if (isArray(json)) return json.map(withoutNewer);
  if (!isObject(json)) return json;
  const kept = Object.entries(json).filter(([key]) => !NEWER.has(key) && !(key === "total" && "tx_responses" in json));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutNewer(value)]));
}

test("there are recorded requests", () => {
  expect(exchanges.length).toBeGreaterThanOrEqual(22);
  expect(exchanges.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(14);
});

describe("requests are those of our rpcs", () => {
  const known = named.filter(([, { response }]) => !response.includes("Not Implemented"));

  test.each(known)("%s", (_, exchange) => {
    const route = routeOf(exchange);
    if (route === undefined) throw new Error(`no rpc is bound to ${exchange.url.pathname}`);
    const read = () => fromJson(route.method.input, requestJson(route, exchange));
    if (exchange.response.includes("unknown value")) {
      expect(read).toThrow('unknown value "BOGUS" for enum sdk.tx.v1beta1.BroadcastMode');
      return;
    }
    const again = decodeMessage(route.method.input, encodeMessage(route.method.input, read()), wireErrors.malformed);
    expect(again).toEqual(read());
  });

  test("a path that the reference does not know is not one of ours", () => {
    const others = named.filter(([, { response }]) => response.includes("Not Implemented"));
    expect(others.map(([, exchange]) => routeOf(exchange))).toEqual([undefined]);
  });

  test("values of path and query are where they belong", () => {
    const requestOf = (part: string) => {
      const exchange = exchanges.find(({ http }) => http.includes(part));
      const route = exchange && routeOf(exchange);
      if (exchange === undefined || route === undefined) throw new Error(`nothing recorded with ${part}`);
      return fromJson(route.method.input, requestJson(route, exchange));
    };
    expect(requestOf("pagination.limit=1")).toMatchObject({ pagination: { limit: 1n } });
    expect(requestOf("/txs/C26B")).toEqual(
      create(GetTxRequestSchema, { hash: "C26B9A5D484A0AD8216BB528F8DD41730027CDE16DD1E95C44C0632D43611EB6" }),
    );
    const events = ["message.action='send'"];
    expect(requestOf("events=message")).toEqual(
      create(GetTxsEventRequestSchema, { events, pagination: { limit: 1n } }),
    );
  });
});

describe("answers are read and written again the same", () => {
  test.each(named.filter(([, { status }]) => status === 200))("%s", (_, exchange) => {
    const schema = routeOf(exchange)?.method.output;
    if (schema === undefined) throw new Error(`no rpc is bound to ${exchange.url.pathname}`);
    const { shown, text } = wholeLines(exchange.response);
    const message = fromJson(schema, readJson(text));
    const written = restForm(withoutNewer(toJson(schema, message)));
    expect(shown.length).toBeGreaterThan(20);
    expect(written.slice(0, shown.length)).toBe(shown);
    if (shown.endsWith("\n}")) expect(written).toBe(shown);
    const again = decodeMessage(schema, encodeMessage(schema, message), wireErrors.malformed);
    expect(toJson(schema, again)).toEqual(toJson(schema, message));
  });
});

/** Numbers of gRPC by their words. */
const GRPC: Readonly<Record<string, number>> = { InvalidArgument: 3, NotFound: 5 };

describe("refusals are ours", () => {
  const refusals = exchanges
    .filter(({ status, response }) => status !== 200 && response.includes("rpc error"))
    .map(({ response }) => JSON.parse(response) as { readonly code: number; readonly message: string });

  test.each(refusals.map((each) => [each.message, each] as const))("%s", (_, { code, message }) => {
    const word = /code = (\w+)/.exec(message)?.[1] ?? "";
    expect(GRPC[word]).toBe(code);
    const error = Object.values(sdkErrors).find(({ description }) => message.endsWith(`: ${description}`));
    expect(queryFault(error?.())).toBe(word);
  });

  const broadcasts = exchanges.filter(({ http, body, response }) => {
    return http.endsWith("/txs") && body !== null && response.includes("tx_response");
  });

  test.each(broadcasts.map((each) => [JSON.parse(each.response).tx_response.code, each] as const))(
    "a broadcast with code %i has the words of our tables",
    (code, { body, response }) => {
      const { tx_response: answer } = JSON.parse(response);
      const bytes = Uint8Array.from(Buffer.from(String(isObject(body) ? body.tx_bytes : ""), "base64"));
      expect(bytes.length).toBeLessThan(MAX_TX_BYTES);
      expect(answer.txhash).toBe(txHash(bytes));
      const result = {
        hash: answer.txhash,
        code,
        codespace: answer.codespace,
        log: answer.raw_log,
        data: new Uint8Array(),
      };
      const ours = broadcastResponse(result);
      expect({ txhash: ours.txhash, code: ours.code, rawLog: ours.rawLog }).toEqual({
        txhash: answer.txhash,
        code,
        rawLog: answer.raw_log,
      });
      const error = Object.values(sdkErrors).find((each) => each.code === code);
      if (code === 0) expect(answer.codespace).toBe("");
      else if (answer.raw_log === "") expect(error?.()).toBeInstanceOf(SvcError);
      else expect(answer.raw_log.endsWith(error?.description)).toBe(true);
      expect(toHexUpper(result.data)).toBe("");
    },
  );
});
