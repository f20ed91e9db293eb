import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { send, sendStatus, TestApiServer } from "../../../../../test/support/kubernetes/api-server.ts";
import { testCertificate } from "../../../../../test/support/provider/identities.ts";
import type { Credentials } from "../access/access.ts";
import { KubernetesApi } from "./api.ts";
import { ApiFailure } from "./failure.ts";
import { type Place, pathOf, type Resource } from "./objects.ts";

const MAPS: Resource = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" };
const DEPLOYMENTS: Resource = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments" };
const COLLECTION = "/api/v1/namespaces/a/configmaps";
const PLACE = { namespace: "a", name: "one" };

let server: TestApiServer;
let api: KubernetesApi;

beforeEach(async () => {
  server = await TestApiServer.start();
  api = server.client();
});

afterEach(async () => {
  api.close();
  await server.close();
});

/** Answers every request so. */
function answering(answer: (response: ServerResponse) => unknown): () => boolean {
  return (_request?: unknown, response?: ServerResponse) => {
    if (response !== undefined) answer(response);
    return true;
  };
}

/** The failure that the call ends with. */
async function failureOf(call: Promise<unknown>): Promise<ApiFailure> {
  const error = await call.then(
    () => undefined,
    (each: unknown) => each,
  );
  expect(error).toBeInstanceOf(ApiFailure);
  return error as ApiFailure;
}

describe("objects", () => {
  test.each<[Resource, Place, string]>([
    [MAPS, {}, "/api/v1/configmaps"],
    [MAPS, PLACE, `${COLLECTION}/one`],
    [DEPLOYMENTS, { namespace: "a" }, "/apis/apps/v1/namespaces/a/deployments"],
    [MAPS, { namespace: "a/b", name: "c?d" }, "/api/v1/namespaces/a%2Fb/configmaps/c%3Fd"],
  ])("%j at %j has the path %s", (resource, place, path) => {
    expect(pathOf(resource, place)).toBe(path);
  });

  test.each(["", ".", ".."])("the name %j is none", (name) => {
    expect(() => pathOf(MAPS, { namespace: "a", name })).toThrow(/not the name/);
  });

  test("applied, found again without the record of its fields, and deleted", async () => {
    const object = { metadata: { ...PLACE, labels: { is: "mine" } }, data: { text: "ä" } };
    expect((await api.apply(MAPS, object)).metadata.uid).toBe("uid-0");
    const found = await api.find(MAPS, PLACE);
    expect(found).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", ...object });
    expect(found?.metadata).not.toHaveProperty("managedFields");
    expect(await api.delete(MAPS, PLACE)).toBe(true);
    expect(await api.find(MAPS, PLACE)).toBeUndefined();
    expect(await api.delete(MAPS, PLACE)).toBe(false);
  });

  test("an object that has been made anew is not deleted in place of the old one", async () => {
    server.put(COLLECTION, { metadata: PLACE });
    const failure = await failureOf(api.delete(MAPS, PLACE, { uid: "of the old one" }));
    expect(failure).toMatchObject({ kind: "conflict", status: 409 });
    expect(await api.find(MAPS, PLACE)).toBeDefined();
  });

  test("an apply names its manager, and takes over fields unless told otherwise", async () => {
    const seen: string[] = [];
    server.intercept = ({ headers }, _response, url) => {
      seen.push(`${url.search} ${headers["content-type"]}`);
      return false;
    };
    await api.apply(MAPS, { metadata: PLACE });
    await api.apply(MAPS, { metadata: PLACE }, { force: false });
    expect(seen).toEqual([
      "?fieldManager=svc&force=true application/apply-patch+yaml",
      "?fieldManager=svc&force=false application/apply-patch+yaml",
    ]);
  });
});

describe("lists", () => {
  test("come by pages, with the objects that are selected", async () => {
    for (let i = 0; i < 7; i++) {
      server.put(COLLECTION, { metadata: { name: `n${i}`, labels: { odd: String(i % 2 === 1) } } });
    }
    const paged = server.client({ pageItems: 3 });
    const { objects, version } = await paged.list(MAPS, { namespace: "a" });
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(["n0", "n1", "n2", "n3", "n4", "n5", "n6"]);
    expect(version).toBe("7");
    expect(server.requests).toHaveLength(3);
    const odd = await paged.list(MAPS, { namespace: "a", labels: "odd=true" });
    expect(odd.objects.map(({ metadata }) => metadata.name)).toEqual(["n1", "n3", "n5"]);
    paged.close();
  });

  test.each([
    [7, 7, undefined],
    [7, 6, "refused"],
  ])("of %i objects where %i are the most: %s", async (count, listItems, kind) => {
    for (let i = 0; i < count; i++) server.put(COLLECTION, { metadata: { name: `n${i}` } });
    const few = server.client({ listItems, pageItems: 2 });
    const outcome = await few.list(MAPS, { namespace: "a" }).catch((error: unknown) => error);
    expect(outcome instanceof ApiFailure ? outcome.kind : undefined).toBe(kind);
    few.close();
  });

  test.each([
    ["null items", { metadata: { resourceVersion: "1" }, items: null }, undefined],
    ["no version", { metadata: {}, items: [] }, /not an API list/],
    ["no metadata", [], /not an API list/],
    ["a number among the items", { metadata: { resourceVersion: "1" }, items: [1] }, /not an API object/],
    ["an item without a name", { metadata: { resourceVersion: "1" }, items: [{ metadata: {} }] }, /not an API object/],
  ])("with %s", async (_, body, message) => {
    server.intercept = answering((response) => send(response, 200, body));
    const outcome = await api.list(MAPS).then(
      ({ objects }) => objects,
      (error: unknown) => error,
    );
    if (message === undefined) expect(outcome).toEqual([]);
    else expect(outcome).toMatchObject({ kind: "refused", message: expect.stringMatching(message) });
  });
});

describe("what proves nothing", () => {
  test.each([
    ["a proxy's page", 404, "<html>not found</html>", "refused"],
    ["a kind that the server does not know", 404, "404 page not found", "refused"],
    ["a way to another address", 302, "", "refused"],
    ["no access", 403, { kind: "Status", reason: "Forbidden", message: "no" }, "refused"],
    ["a fault of the server", 500, { kind: "Status", reason: "InternalError", message: "no" }, "unreachable"],
    ["a proxy without its server", 502, "bad gateway", "unreachable"],
    ["an account with the status of another", 500, { kind: "Status", reason: "NotFound" }, "unreachable"],
  ])("%s is not taken for an object that is gone", async (_, status, body, kind) => {
    server.intercept = answering((response) => send(response, status, body));
    expect(await failureOf(api.find(MAPS, PLACE))).toMatchObject({ kind, status });
    expect(await failureOf(api.delete(MAPS, PLACE))).toMatchObject({ kind, status });
  });

  test("nor is a server that is not there", async () => {
    const gone = await TestApiServer.start();
    const client = gone.client();
    await gone.close();
    const failure = await failureOf(client.find(MAPS, PLACE));
    expect(failure.kind).toBe("unreachable");
    expect(failure.toSvcError().message).toContain("the cluster does not answer");
    client.close();
  });

  test("nor an answer that is not JSON, or not an object", async () => {
    server.intercept = answering((response) => response.end("hello"));
    expect((await failureOf(api.find(MAPS, PLACE))).message).toMatch(/not JSON/);
    server.intercept = answering((response) => response.end("[]"));
    expect((await failureOf(api.find(MAPS, PLACE))).message).toMatch(/not an API object/);
    expect((await failureOf(api.version())).message).toMatch(/version/);
  });
});

describe("bounds", () => {
  test.each([
    [0, undefined],
    [1, "refused"],
  ])("an answer of %i bytes more than the most", async (more, kind) => {
    const body = JSON.stringify({ gitVersion: "v1.34.4" });
    server.intercept = answering((response) => response.end(body));
    const strict = server.client({ answerBytes: body.length - more });
    const outcome = await strict.version().catch((error: unknown) => error);
    expect(outcome instanceof ApiFailure ? outcome.kind : undefined).toBe(kind);
    strict.close();
  });

  test("an answer without end is cut, and so is one that does not come", async () => {
    const strict = server.client({ answerBytes: 1 << 20, callMs: 200 });
    server.intercept = (_request, response) => {
      const more = (error?: Error | null) => {
        if (!error && !response.destroyed) response.write(" ".repeat(64 << 10), more);
      };
      more();
      return true;
    };
    expect((await failureOf(strict.version())).kind).toMatch(/refused|unreachable/);
    server.intercept = () => true;
    expect((await failureOf(strict.version())).message).toMatch(/no answer within 0.2 seconds/);
    const log = strict.podLog(PLACE, { container: "c", follow: true, tail: -1 });
    expect((await failureOf(log)).message).toMatch(/no answer within 0.2 seconds/);
    server.intercept = answering((response) => response.write("{"));
    expect((await failureOf(strict.version())).message).toMatch(/no answer within 0.2 seconds/);
    strict.close();
  });

  test("a long account of a failure is one printable line of bounded length", async () => {
    server.intercept = answering((response) => send(response, 400, `\u001b[31m${"x\n".repeat(500_000)}`));
    const { message } = await failureOf(api.version());
    expect(message.length).toBeLessThan(1_100);
    expect(["\n", "\u001b"].some((each) => message.includes(each))).toBe(false);
  });
});

test("no more than 64 KiB of a failure are waited for", async () => {
  const first = JSON.stringify({ kind: "Status", reason: "Forbidden", message: "not yours" }).padEnd(64 << 10);
  server.intercept = answering((response) => response.writeHead(403).write(first));
  expect((await failureOf(api.find(MAPS, PLACE))).message).toContain("not yours");
});

describe("calls that are made again", () => {
  test.each([429, 503])("status %i: the server has too much to do", async (status) => {
    let left = 3;
    server.intercept = (_request, response) => {
      if (left-- <= 0) return false;
      sendStatus(response, status, "TooManyRequests", { "retry-after": "0" });
      return true;
    };
    server.put(COLLECTION, { metadata: PLACE });
    expect(await api.find(MAPS, PLACE)).toBeDefined();
    left = 4;
    expect(await failureOf(api.find(MAPS, PLACE))).toMatchObject({ kind: "unreachable", status });
  });

  test("a connection that the server closed while it was idle", async () => {
    server.put(COLLECTION, { metadata: PLACE });
    await api.find(MAPS, PLACE);
    let isFirst = true;
    server.intercept = (request) => {
      if (!isFirst) return false;
      isFirst = false;
      request.socket.destroy();
      return true;
    };
    expect(await api.find(MAPS, PLACE)).toBeDefined();
  });

  test("a token that was refused is read anew, once", async () => {
    let number = 0;
    const credentials: Credentials = {
      current: async () => ({ token: `token-${number}` }),
      renew: () => {
        number++;
        return true;
      },
    };
    const client = new KubernetesApi(server.access(credentials));
    server.intercept = ({ headers }, response) => {
      if (headers.authorization === "Bearer token-1") return false;
      sendStatus(response, 401, "Unauthorized");
      return true;
    };
    server.put(COLLECTION, { metadata: PLACE });
    expect(await client.find(MAPS, PLACE)).toBeDefined();
    number = 5;
    expect(await failureOf(client.find(MAPS, PLACE))).toMatchObject({ kind: "refused", status: 401 });
    expect(number).toBe(6);
    client.close();
  });
});

test("many calls share few connections", async () => {
  server.put(COLLECTION, { metadata: PLACE });
  await Promise.all(Array.from({ length: 200 }, () => api.find(MAPS, PLACE)));
  expect(server.connections).toBeLessThanOrEqual(32);
});

test("the log of a container comes as it is read, and ends with the signal", async () => {
  let query = "";
  server.intercept = (_request, response, url) => {
    query = `${url.pathname}${url.search}`;
    response.write("2026-01-02T03:04:05.678901234Z hello\n");
    return true;
  };
  const abort = new AbortController();
  const since = "2026-01-02T00:00:00Z";
  const options = { container: "web", follow: true, tail: 5, since, previous: false, signal: abort.signal };
  const log = await api.podLog({ namespace: "a", name: "web-1" }, options);
  const [part] = await once(log, "data");
  expect(String(part)).toBe("2026-01-02T03:04:05.678901234Z hello\n");
  const failed = once(log, "error");
  abort.abort();
  await failed;
  expect(query).toBe(
    "/api/v1/namespaces/a/pods/web-1/log?container=web&follow=true&timestamps=true&tailLines=5&sinceTime=2026-01-02T00%3A00%3A00Z&previous=false",
  );
});

test("over TLS the server's certificate has to be of the authority that is named", async () => {
  const [own, other] = await Promise.all(
    ["svc1own", "svc1other"].map((address) => testCertificate({ address, hosts: ["127.0.0.1"] })),
  );
  if (own === undefined || other === undefined) throw new Error("no certificate");
  const secure = await TestApiServer.start({ cert: own.certificate, key: own.privateKey });
  secure.intercept = answering((response) => send(response, 200, { gitVersion: "v1.34.4" }));
  const client = (ca: string) => new KubernetesApi({ ...secure.access(), tls: { ca } });
  const [right, wrong] = [client(own.certificate), client(other.certificate)];
  expect(await right.version()).toBe("v1.34.4");
  expect(await failureOf(wrong.version())).toMatchObject({ kind: "unreachable" });
  right.close();
  wrong.close();
  await secure.close();
});
