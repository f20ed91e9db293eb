import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestApiServer } from "../../../../../test/support/kubernetes/api-server.ts";
import type { KubernetesApi } from "./api.ts";
import type { ApiLimits } from "./limits.ts";
import type { ApiObject, Resource } from "./objects.ts";
import type { Change } from "./watch.ts";

const PODS: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods" };
const COLLECTION = "/api/v1/namespaces/a/pods";

let server: TestApiServer;
let abort: AbortController;
let client: KubernetesApi;

beforeEach(async () => {
  server = await TestApiServer.start();
  abort = new AbortController();
});

afterEach(async () => {
  abort.abort();
  client.close();
  await server.close();
});

function watch(limits: Partial<ApiLimits> = {}): AsyncGenerator<Change<ApiObject>, void> {
  client = server.client(limits);
  return client.watch(PODS, { namespace: "a" }, abort.signal);
}

/** The next change as text: `all one two`, `set one`. */
async function next(changes: AsyncGenerator<Change<ApiObject>, void>): Promise<string> {
  const { value } = await changes.next();
  if (value === undefined) return "end";
  if (value.type === "lost") return `lost ${value.failure.kind}`;
  const objects = value.type === "all" ? value.objects : [value.object];
  return [value.type, ...objects.map(({ metadata }) => metadata.name)].join(" ");
}

/** Resolves when the server has as many watches. */
async function untilWatched(count = 1): Promise<void> {
  while (server.watches !== count) await new Promise((resolve) => setTimeout(resolve, 2));
}

const put = (name: string) => server.put(COLLECTION, { metadata: { name } });

describe("a watch", () => {
  test("lists everything, then reports every change, and ends with the signal", async () => {
    put("one");
    const changes = watch();
    expect(await next(changes)).toBe("all one");
    put("two");
    expect(await next(changes)).toBe("set two");
    put("one");
    expect(await next(changes)).toBe("set one");
    server.remove(COLLECTION, "two");
    expect(await next(changes)).toBe("removed two");
    const last = next(changes);
    abort.abort();
    expect(await last).toBe("end");
    await untilWatched(0);
  });

  test.each(["end", "cut"] as const)("goes on at the same place after the %s of a stream", async (how) => {
    const changes = watch();
    expect(await next(changes)).toBe("all");
    const first = next(changes);
    await untilWatched();
    put("one");
    expect(await first).toBe("set one");
    const second = next(changes);
    server.endWatches(how);
    put("two");
    expect(await second).toBe("set two");
    expect(server.requests.filter((each) => each.startsWith("GET"))).toHaveLength(1);
  });

  test("lists again if its version is too old, which is not reported as a loss", async () => {
    put("one");
    const changes = watch();
    expect(await next(changes)).toBe("all one");
    put("two");
    server.oldest = 2;
    expect(await next(changes)).toBe("all one two");
  });

  test("takes the version of a bookmark", async () => {
    const changes = watch();
    expect(await next(changes)).toBe("all");
    const first = next(changes);
    await untilWatched();
    server.say(`${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "900" } } })}\n`);
    let asked: string | null = null;
    server.intercept = (_request, _response, url) => {
      asked ??= url.searchParams.get("resourceVersion");
      return false;
    };
    server.endWatches("end");
    while (asked === null) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(asked).toBe("900");
    abort.abort();
    expect(await first).toBe("end");
  });

  test("reports that it is lost while the server is away, and lists everything again afterwards", async () => {
    put("one");
    const changes = watch();
    expect(await next(changes)).toBe("all one");
    server.intercept = (request) => {
      request.socket.destroy();
      return true;
    };
    expect(await next(changes)).toBe("lost unreachable");
    expect(await next(changes)).toBe("lost unreachable");
    put("two");
    server.intercept = () => false;
    expect(await next(changes)).toBe("all one two");
  });

  test("whose server has gone silent is opened anew", async () => {
    const changes = watch({ silenceMs: 50 });
    expect(await next(changes)).toBe("all");
    const first = next(changes);
    let opened = 0;
    server.intercept = (_request, _response, url) => {
      if (url.searchParams.has("watch")) opened++;
      return false;
    };
    while (opened < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    put("one");
    expect(await first).toBe("set one");
  });

  test.each([
    ["no JSON", "{]\n", "all"],
    ["no type", "{}\n", "lost refused"],
    ["a type that nobody knows", `{"type":"OTHER","object":{"metadata":{"name":"x"}}}\n`, "lost refused"],
    ["an object without a name", `{"type":"ADDED","object":{"metadata":{}}}\n`, "lost refused"],
    ["null", "null\n", "lost refused"],
    ["an error of the server", `{"type":"ERROR","object":{"kind":"Status","code":500}}\n`, "lost unreachable"],
    ["a line over the most", `${"x".repeat(1_001)}\n`, "lost refused"],
  ])("outlives %s", async (_, line, told) => {
    const changes = watch({ lineBytes: 1_000 });
    expect(await next(changes)).toBe("all");
    const first = next(changes);
    await untilWatched();
    server.say(line);
    expect(await first).toBe(told);
    if (told !== "all") expect(await next(changes)).toBe("all");
  });

  test("takes a line of exactly the most, and lines that come in pieces", async () => {
    const changes = watch({ lineBytes: 1_000 });
    expect(await next(changes)).toBe("all");
    const first = next(changes);
    await untilWatched();
    const line = JSON.stringify({ type: "ADDED", object: { metadata: { name: "ä" }, text: "" } });
    const whole = Buffer.from(line.replace('""', `"${"x".repeat(1_000 - Buffer.byteLength(line))}"`));
    expect(whole.length).toBe(1_000);
    // Within the letter of two bytes.
    const cut = whole.indexOf("ä") + 1;
    server.say(whole.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 20));
    server.say(whole.subarray(cut));
    server.say("\n");
    expect(await first).toBe("set ä");
  });
});
