import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestApiServer } from "../../../../../test/support/kubernetes/api-server.ts";
import { silentLogger } from "../../../../util/index.ts";
import type { KubernetesApi } from "../api/api.ts";
import { REFUSED_ADDRESSES, REFUSED_PODS, type RefusalSource, Refusals } from "./refusals.ts";

const EVENTS = "/api/v1/namespaces/a/events";

let server: TestApiServer;
let api: KubernetesApi;
let refusals: Refusals;

beforeEach(async () => {
  server = await TestApiServer.start();
  api = server.client({ pageItems: 20_000 });
});

afterEach(async () => {
  await refusals.stop();
  api.close();
  await server.close();
});

/** Puts an event about a stateful set of the namespace `a`. */
function tell(
  name: string,
  about: string,
  { message = "", reason = "FailedCreate", at = 1, kind = "StatefulSet" } = {},
) {
  const event = {
    metadata: { name, namespace: "a" },
    involvedObject: { kind, namespace: "a", name: about },
    reason,
    message,
    lastTimestamp: new Date(at * 1_000).toISOString(),
  };
  server.put(EVENTS, event);
}

function follow(source: RefusalSource = REFUSED_PODS): void {
  refusals = new Refusals({ api, log: silentLogger }, source);
}

const until = (key: string, message: string) =>
  vi.waitFor(() => expect(refusals.last(key)?.message).toBe(message), { timeout: 20_000 });

test("the last report about an object is the one with the latest time", async () => {
  tell("one", "web", { message: "quota", at: 5 });
  tell("two", "web", { message: "older", at: 4 });
  follow();
  await until("a/web", "quota");
  tell("three", "web", { message: "as late", at: 5 });
  await until("a/web", "as late");
  tell("four", "web", { message: "older", at: 4 });
  tell("five", "db", { message: "x".repeat(1_001) });
  await until("a/db", "x".repeat(1_000));
  expect(refusals.last("a/web")).toEqual({ at: 5_000, reason: "FailedCreate", message: "as late" });
  refusals.forget("a/web");
  expect(refusals.last("a/web")).toBeUndefined();
});

test("reports of other kinds and reasons are ignored", async () => {
  tell("one", "web", { message: "of a service", kind: "Service", reason: "AllocationFailed" });
  tell("two", "db", { message: "of another reason", reason: "Killing", kind: "Service" });
  tell("three", "cache", { message: "of another kind", reason: "AllocationFailed" });
  follow(REFUSED_ADDRESSES);
  await until("a/web", "of a service");
  for (const name of ["db", "cache"]) expect(refusals.last(`a/${name}`)).toBeUndefined();
});

test("reports about 10,000 objects are kept, and newer ones about these", async () => {
  for (let i = 0; i <= 10_000; i++) tell(`event-${i}`, `object-${i}`, { message: "first" });
  follow();
  await until("a/object-9999", "first");
  tell("last", "object-0", { message: "second", at: 2 });
  await until("a/object-0", "second");
  expect(refusals.last("a/object-10000")).toBeUndefined();
});
