import { describe, expect, it } from "vitest";
import { Door, type Visit } from "./door.ts";

const PORT = 41_234;
const HOST = `127.0.0.1:${PORT}`;
const ORIGIN = `http://${HOST}`;

/** A door and the cookie of a browser that has opened the link. */
function entered() {
  const door = new Door(PORT);
  const judged = door.judge(visit({ url: new URL(door.link).pathname + new URL(door.link).search }));
  if (judged.kind !== "enters") throw new Error("the link does not open the console");
  const [cookie = ""] = judged.cookie.split(";");
  return { door, cookie, whole: judged.cookie };
}

function visit({ headers = {}, ...others }: Partial<Visit> = {}): Visit {
  return { method: "GET", url: "/console/", isWebsocket: false, ...others, headers: { host: HOST, ...headers } };
}

describe("the link", () => {
  it("is changed for a cookie that no script and no other site sees, with the port in its name", () => {
    const { door, cookie, whole } = entered();
    expect(whole).toMatch(/^svc-console-41234=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/console$/);
    expect(door.judge(visit({ headers: { cookie } }))).toEqual({ kind: "admitted" });
  });

  it("works once, and not for HEAD or with another code", () => {
    const door = new Door(PORT);
    const url = door.link.slice(ORIGIN.length);
    expect(door.judge(visit({ url, method: "HEAD" }))).toMatchObject({ kind: "refused", status: 401 });
    expect(door.judge(visit({ url: "/console/?code=" }))).toMatchObject({ kind: "refused", status: 403 });
    expect(door.judge(visit({ url: `${url}x` }))).toMatchObject({ kind: "refused", status: 403 });
    expect(door.judge(visit({ url }))).toMatchObject({ kind: "enters" });
    expect(door.judge(visit({ url }))).toMatchObject({
      kind: "refused",
      sentence: "this link was used before, or is of another start of svc console: start it again for a new one",
    });
    expect(door.judge(visit({ url: "/console/?code=" }))).toMatchObject({ kind: "refused" });
  });

  it("leads the browser that has the cookie to the console again", () => {
    const { door, cookie } = entered();
    expect(door.judge(visit({ url: "/console/?code=used", headers: { cookie } }))).toMatchObject({ kind: "enters" });
    expect(door.judge(visit({ url: "/console/?code=used" }))).toMatchObject({ kind: "refused" });
  });

  it("opens nothing under a rebound name, and keeps its code then", () => {
    const door = new Door(PORT);
    const url = door.link.slice(ORIGIN.length);
    expect(door.judge(visit({ url, headers: { host: `evil.example:${PORT}` } }))).toMatchObject({ status: 403 });
    expect(door.judge(visit({ url }))).toMatchObject({ kind: "enters" });
  });
});

describe("a request", () => {
  it("is let in beside a cookie of the same name that another port has set", () => {
    const { door, cookie } = entered();
    const headers = { cookie: `svc-console-${PORT}=evil; ${cookie}` };
    expect(door.judge(visit({ headers }))).toEqual({ kind: "admitted" });
  });

  it.each([
    ["without a cookie", {}],
    ["with the cookie of a console on another port", { cookie: "svc-console-41235=abc" }],
    ["with another value", { cookie: `svc-console-${PORT}=${"A".repeat(43)}` }],
    ["with a name that only ends alike", { cookie: `x-svc-console-${PORT}=abc` }],
  ])("%s is refused, on every path", (_, headers) => {
    const { door } = entered();
    for (const url of ["/console/", "/console/assets/a.js", "/console/api/rpc/status", "/"]) {
      expect(door.judge(visit({ url, headers }))).toMatchObject({ kind: "refused", status: 401 });
    }
  });

  it.each([
    "evil.example",
    "localhost",
    `localhost:${PORT}`,
    "127.0.0.1",
    `127.0.0.1:${PORT + 1}`,
    `[::1]:${PORT}`,
    "",
  ])("to host %j is refused although it has the cookie", (host) => {
    const { door, cookie } = entered();
    expect(door.judge(visit({ headers: { host, cookie } }))).toMatchObject({ kind: "refused", status: 403 });
  });

  it("that changes or opens something names this origin", () => {
    const { door, cookie } = entered();
    const judge = (wish: Partial<Visit>, origin?: string) =>
      door.judge(visit({ ...wish, headers: { cookie, ...(origin === undefined ? {} : { origin }) } })).kind;
    const changes: Partial<Visit>[] = [
      { method: "POST", url: "/console/api/rpc" },
      { method: "PUT", url: "/console/api/gateway/svc1/deployment/1/manifest" },
      { method: "DELETE" },
      { method: "OPTIONS" },
      { isWebsocket: true, url: "/console/api/rpc/websocket" },
      { url: "/console/api/rpc/broadcast_tx_sync?tx=0x00" },
      { url: "/console/api/rpc/%62roadcast_tx_sync?tx=0x00" },
      { url: "/console/api/rpc//broadcast_tx_sync?tx=0x00" },
      { url: "/console/api/rpc/unsafe_flush_mempool" },
    ];
    for (const change of changes) {
      expect(judge(change, ORIGIN)).toBe("admitted");
      for (const origin of [
        undefined,
        "null",
        "https://evil.example",
        "http://127.0.0.1:80",
        `http://localhost:${PORT}`,
      ]) {
        expect(judge(change, origin)).toBe("refused");
      }
    }
    expect(judge({ url: "/console/api/rpc/status" })).toBe("admitted");
    expect(judge({ url: "/console/api/rpc/status" }, "https://evil.example")).toBe("refused");
  });

  it("of another site, or from a frame, is refused where the browser says so", () => {
    const { door, cookie } = entered();
    const judge = (url: string, headers: Visit["headers"]) =>
      door.judge(visit({ url, headers: { cookie, ...headers } })).kind;
    const api = "/console/api/rpc/status";
    for (const site of ["cross-site", "same-site"]) expect(judge(api, { "sec-fetch-site": site })).toBe("refused");
    expect(judge(api, { "sec-fetch-site": "same-origin" })).toBe("admitted");
    for (const place of ["iframe", "frame", "object", "embed"]) {
      expect(judge("/console/", { "sec-fetch-dest": place })).toBe("refused");
    }
    expect(judge("/console/", { "sec-fetch-dest": "document", "sec-fetch-site": "none" })).toBe("admitted");
    const frame = { "sec-fetch-dest": "iframe" };
    expect(judge("/console/terminal.html", { ...frame, "sec-fetch-site": "same-origin" })).toBe("admitted");
    expect(judge("/console/terminal.html", { ...frame, "sec-fetch-site": "cross-site" })).toBe("refused");
    expect(judge("/console/?terminal.html", { ...frame, "sec-fetch-site": "same-origin" })).toBe("refused");
  });
});
