import type { DescMethod } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as Gov } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import { OrderBy, Service as Tx } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { Query as Deployment } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { requestMessage } from "./request.ts";
import { routesOf } from "./routes.ts";

function read(method: DescMethod, query: string, parts: { values?: Record<string, string>; body?: string } = {}) {
  const [route] = routesOf([method]);
  if (route === undefined) throw new Error("the rpc has no route");
  return requestMessage(route, { query, values: new Map(Object.entries(parts.values ?? {})), body: parts.body ?? "" });
}

const { allBalances } = Bank.method;
const { getTxsEvent, broadcastTx } = Tx.method;

describe("the query of a URL", () => {
  it.each([
    ["pagination.limit=3&pagination.reverse=true", { limit: 3n, reverse: true }],
    ["pagination.countTotal=1&pagination.offset=18446744073709551615", { countTotal: true, offset: 2n ** 64n - 1n }],
    ["pagination.count_total=t&pagination.limit=1&pagination.limit=2", { countTotal: true, limit: 1n }],
    ["pagination.key=%2Bw%3D%3D", { key: new Uint8Array([251]) }],
    ["pagination.key=+w==", { key: new Uint8Array([251]) }],
    ["pagination.key=-w", { key: new Uint8Array([251]) }],
    ["pagination.key=", { key: new Uint8Array() }],
  ])("%s reads pages", (query, pagination) => {
    expect(read(allBalances, query)).toMatchObject({ pagination });
  });

  it("passes over what it does not know", () => {
    const strange =
      "x=1&address.x=1&pagination=1&pagination.limit.x=1&__proto__.limit=1&constructor=1&=1&.=2&pagination.=1";
    expect(read(allBalances, strange, { values: { address: "a" } })).toEqual(
      read(allBalances, "", { values: { address: "a" } }),
    );
  });

  it("does not stand above the path", () => {
    expect(read(allBalances, "address=b", { values: { address: "a" } })).toMatchObject({ address: "a" });
  });

  it("makes lists of what stands several times, and takes enumerations by name and number", () => {
    expect(read(getTxsEvent, "events=a%3D1&events=b%3D2&order_by=ORDER_BY_DESC&limit=5")).toMatchObject({
      events: ["a=1", "b=2"],
      orderBy: OrderBy.DESC,
      limit: 5n,
    });
    expect(read(getTxsEvent, "orderBy=2")).toMatchObject({ orderBy: OrderBy.DESC });
    expect(read(Gov.method.proposals, "proposal_status=2")).toMatchObject({ proposalStatus: 2 });
  });

  it("reaches into messages", () => {
    expect(read(Deployment.method.deployments, "filters.owner=a&filters.dseq=7")).toMatchObject({
      filters: { owner: "a", dseq: 7n },
    });
  });

  it.each([
    ["pagination.limit=-1", "pagination.limit: -1 is not between 0 and"],
    ["pagination.limit=1.5", "pagination.limit: an integer was expected"],
    ["pagination.limit=abc", "pagination.limit: an integer was expected"],
    ["pagination.limit=18446744073709551616", "is not between 0 and"],
    ["pagination.limit=", "pagination.limit: an integer was expected"],
    ["pagination.reverse=maybe", "pagination.reverse: true or false was expected"],
    ["pagination.key=!", "pagination.key: base64"],
    ["pagination.key==", "pagination.key: base64"],
  ])("%s is refused", (query, text) => {
    expect(() => read(allBalances, query)).toThrow(text);
  });

  it("has a bounded number of parameters", () => {
    expect(read(allBalances, "x=1&".repeat(1000))).toEqual(read(allBalances, ""));
    expect(() => read(allBalances, "x=1&".repeat(1001))).toThrow("more than 1000 parameters");
  });
});

describe("the body", () => {
  it("is the request, in either spelling of names", () => {
    const body = JSON.stringify({ txBytes: "AAAA", mode: "BROADCAST_MODE_SYNC" });
    expect(read(broadcastTx, "mode=1", { body })).toMatchObject({ txBytes: new Uint8Array(3), mode: 2 });
    expect(read(broadcastTx, "", { body: "" })).toMatchObject({ mode: 0 });
  });

  it.each([
    ["an object was expected, not a list", "[]"],
    ["an object was expected, not null", "null"],
    ["an object was expected, not a number", "7"],
    ["invalid JSON", '{"tx_bytes":"AAAA"'],
    ["tx_bytes: base64", '{"tx_bytes":"A A"}'],
    ['unknown value "BOGUS" for enum sdk.tx.v1beta1.BroadcastMode', '{"mode":"BOGUS"}'],
    ['unknown field "x"', '{"x":1}'],
    ["values in one another", `${"[".repeat(200_000)}`],
    ["values in one another", `{"tx":${'{"body":'.repeat(200)}`],
    ["more than 32768 values", `{"tx":{"signatures":[${'"",'.repeat(40_000)}""]}}`],
  ])("is refused: %s", (text, body) => {
    expect(() => read(broadcastTx, "", { body })).toThrow(text);
  });
});
