import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ManualClock } from "../../../test/support/provider/clock.ts";
import { readFileText, silentLogger } from "../../util/index.ts";
import { acmeIssuer } from "./acme.ts";
import {
  AUTHORITY,
  AuthorityBusy,
  CertificateKeeper,
  type HostCertificateText,
  type Issuer,
  KEEPING,
  OURSELVES,
  openAuthority,
} from "./index.ts";

const HOST = "app.example.com";
const DAY_MS = 86_400_000;
const never = new AbortController().signal;
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-certificates-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("an authority of one's own", () => {
  it("signs certificates that its own certificate verifies", async () => {
    const place = join(folder, "authority");
    const authority = await openAuthority(place);
    const { chain, key } = await authority.issue("*.apps.example.com", never);
    const root = new X509Certificate(readFileText(join(place, AUTHORITY.certificate), { maxBytes: 10_000 }));
    const leaf = new X509Certificate(chain);
    expect(root.ca && leaf.verify(root.publicKey) && leaf.checkIssued(root)).toBe(true);
    expect(leaf.ca).toBe(false);
    expect(leaf.checkHost("one.apps.example.com")).toBe("*.apps.example.com");
    expect(key).toContain("BEGIN PRIVATE KEY");
    expect(statSync(join(place, AUTHORITY.key)).mode & 0o777).toBe(0o600);
  });

  it("stays the same from start to start", async () => {
    await openAuthority(folder);
    const before = readFileText(join(folder, AUTHORITY.certificate), { maxBytes: 10_000 });
    const { chain } = await (await openAuthority(folder)).issue(HOST, never);
    const root = new X509Certificate(readFileText(join(folder, AUTHORITY.certificate), { maxBytes: 10_000 }));
    expect(root.toString()).toBe(new X509Certificate(before).toString());
    expect(new X509Certificate(chain).verify(root.publicKey)).toBe(true);
  });

  it("is refused without its key, with the key of another, and when it has expired", async () => {
    await openAuthority(folder);
    await openAuthority(join(folder, "other"));
    const key = join(folder, AUTHORITY.key);
    await expect(openAuthority(folder, () => Date.now() + 3_651 * DAY_MS)).rejects.toThrow("has expired");
    writeFileSync(key, readFileText(join(folder, "other", AUTHORITY.key), { maxBytes: 10_000 }));
    await expect(openAuthority(folder)).rejects.toThrow("the key is that of another certificate");
    rmSync(key);
    await expect(openAuthority(folder)).rejects.toThrow("are not an authority's certificate and key");
    expect(existsSync(key)).toBe(false);
  });
});

describe("an ACME server", () => {
  async function answering(listener: RequestListener): Promise<Issuer> {
    const server = createServer(listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const challenges = { show: async () => {}, hide: async () => {} };
    return acmeIssuer({ settings: { directory: `http://127.0.0.1:${port}/` }, folder, challenges });
  }

  it.each([
    [429, { "retry-after": "120" }, 120_000],
    [503, {}, 3_600_000],
    [429, { "retry-after": "-5" }, 3_600_000],
  ])("that answers %i is left alone for as long as it says", async (status, headers, waitMs) => {
    const issuer = await answering((_request, response) => response.writeHead(status, headers).end());
    await expect(issuer.issue(HOST, never)).rejects.toMatchObject({ name: "AuthorityBusy", waitMs });
  });

  it.each<[string, RequestListener]>([
    ["what is no directory", (_request, response) => response.end("hello")],
    ["without end", (_request, response) => response.end(Buffer.alloc(2 << 20, " "))],
    ["with another address", (_request, response) => response.writeHead(302, { location: "/elsewhere" }).end()],
    ["an error", (_request, response) => response.writeHead(500).end("{}")],
  ])("that answers %s gives nothing, and is asked once", async (_, listener) => {
    let asked = 0;
    const issuer = await answering((request, response) => {
      asked++;
      listener(request, response);
    });
    await expect(issuer.issue(HOST, never)).rejects.toThrow();
    expect(asked).toBe(1);
  });

  it("that does not answer is given up", async () => {
    const issuer = await answering(() => {});
    await expect(issuer.issue(HOST, AbortSignal.timeout(50))).rejects.toThrow("timeout");
  });
});

describe("keeping certificates", () => {
  const B = "b.example.com";
  const C = "c.example.com";
  const NAMES = [HOST, B, C];
  const lease = (name: string, owner = name) => ({ lease: name, owner });
  let first: readonly HostCertificateText[] = [];
  let renewed: readonly HostCertificateText[] = [];
  beforeAll(async () => {
    const place = mkdtempSync(join(tmpdir(), "svc-authority-"));
    const start = new ManualClock().now();
    const made = async (now: number) => {
      const authority = await openAuthority(place, () => now);
      return Promise.all(NAMES.map((name) => authority.issue(name, never)));
    };
    first = await made(start);
    renewed = await made(start + 60 * DAY_MS);
    rmSync(place, { recursive: true });
  });

  /** An authority that can be told to refuse. */
  function keeping(change: { readonly isPrompt?: boolean; readonly covered?: readonly string[] } = {}) {
    const asked: string[] = [];
    const state = {
      refuses: new Set<string>(),
      gives: undefined as string | undefined,
      busyMs: 0,
      during: async () => {},
    };
    const issuer: Issuer = {
      isPrompt: change.isPrompt ?? false,
      issue: async (host) => {
        const made = asked.includes(host) ? renewed : first;
        asked.push(host);
        await state.during();
        const text = made[NAMES.indexOf(state.gives ?? host)];
        if (state.busyMs > 0) throw new AuthorityBusy("too many", state.busyMs);
        if (state.refuses.has(host) || text === undefined) throw new Error("the authority refuses");
        return text;
      },
    };
    const clock = new ManualClock();
    const kept = join(folder, "kept");
    const isCovered = (host: string) => change.covered?.includes(host) === true;
    const open = () =>
      new CertificateKeeper({ folder: kept, issuer, isCovered, clock, random: () => 0, log: silentLogger });
    return { keeper: open(), open, asked, state, clock, kept };
  }

  it("asks for each new host once it has settled, one at a time", async () => {
    const { keeper, asked, clock, kept } = keeping();
    await keeper.want(lease("one"), [HOST, B, "localhost"]);
    await keeper.want(lease("two"), [HOST]);
    await clock.advance(KEEPING.settle - 1);
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(asked).toEqual([HOST]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, B]);
    expect(readdirSync(kept).sort()).toEqual([`${HOST}.pem`, `${B}.pem`]);
    expect(statSync(join(kept, `${HOST}.pem`)).mode & 0o777).toBe(0o600);
    await keeper.close();
  });

  it("has asked an authority of its own before it returns", async () => {
    const { keeper, asked, kept } = keeping({ isPrompt: true });
    await Promise.all([keeper.want(lease("one"), [HOST]), keeper.want(lease("two"), [B])]);
    expect([asked.length, readdirSync(kept).length]).toEqual([2, 2]);
    await keeper.close();
  });

  it("renews when a third of the time is left, also after a start", async () => {
    const { keeper, open, asked, clock } = keeping({ isPrompt: true });
    await keeper.want(lease("one"), [HOST]);
    await keeper.close();
    const next = open();
    await next.want(lease("one"), [HOST]);
    await clock.advance(59 * DAY_MS);
    expect(asked).toHaveLength(1);
    await clock.advance(2 * DAY_MS);
    expect(asked).toHaveLength(2);
    await next.close();
  });

  it("asks again after a failure, later each time, and others first", async () => {
    const { keeper, asked, state, clock } = keeping();
    state.refuses.add(HOST);
    await keeper.want(lease("one"), [HOST]);
    await clock.advance(KEEPING.settle);
    await clock.advance(KEEPING.again.first - 1);
    expect(asked).toEqual([HOST]);
    await clock.advance(1);
    await clock.advance(KEEPING.again.first);
    expect(asked).toEqual([HOST, HOST]);
    // Both are due at the same moment.
    await clock.advance(KEEPING.again.first - KEEPING.settle);
    await keeper.want(lease("two"), [B]);
    await clock.advance(KEEPING.settle);
    expect(asked).toEqual([HOST, HOST, B]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, HOST, B, HOST]);
    await keeper.close();
  });

  it("tries more often before a certificate in use ends, and counts its host name as failing", async () => {
    const { keeper, asked, state, clock } = keeping();
    await keeper.want(lease("one"), [HOST]);
    expect(keeper.counts()).toEqual({ ok: 0, waiting: 1, failing: 0 });
    await clock.advance(KEEPING.settle);
    expect(keeper.counts()).toEqual({ ok: 1, waiting: 0, failing: 0 });
    state.refuses.add(HOST);
    await clock.advance(89 * DAY_MS);
    expect(keeper.counts()).toEqual({ ok: 0, waiting: 0, failing: 1 });
    const before = asked.length;
    await clock.advance(DAY_MS - KEEPING.look);
    expect(asked.length - before).toBeGreaterThan(3);
    // Never more often than authorities allow: some ten in the last day.
    expect(asked.length - before).toBeLessThan(12);
    state.refuses.clear();
    await clock.advance(KEEPING.look);
    expect(keeper.counts()).toEqual({ ok: 1, waiting: 0, failing: 0 });
    await keeper.close();
  });

  it("leaves an authority that is busy alone, for all hosts and at most for a day", async () => {
    const { keeper, asked, state, clock } = keeping();
    state.busyMs = 400 * DAY_MS;
    await keeper.want(lease("one"), [HOST]);
    await keeper.want(lease("two"), [B]);
    await clock.advance(KEEPING.settle);
    expect(asked).toEqual([HOST]);
    state.busyMs = 0;
    await clock.advance(DAY_MS - 1);
    expect(asked).toEqual([HOST]);
    await clock.advance(1);
    expect(asked).toEqual([HOST, B]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, B, HOST]);
    await keeper.close();
  });

  it("lets no lease with many names keep the others waiting", async () => {
    const { keeper, asked, clock } = keeping();
    await keeper.want(lease("one"), [HOST, B, "d.example.com", "e.example.com"]);
    await keeper.want(lease("two"), [C]);
    await clock.advance(KEEPING.settle);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, C]);
    await keeper.close();
  });

  it("asks for the provider's own name after those of tenants that come at the start", async () => {
    const { keeper, asked, clock } = keeping();
    await keeper.want(lease("own", OURSELVES), [C]);
    await clock.advance(KEEPING.settle);
    expect(asked).toEqual([]);
    await keeper.want(lease("one"), [HOST, B]);
    await clock.advance(KEEPING.settle);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, B]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, B, C]);
    await keeper.close();
  });

  it("counts what a tenant has had over all of his leases, also those that are gone", async () => {
    const { keeper, asked, clock } = keeping();
    await keeper.want(lease("one", "alice"), [HOST]);
    await clock.advance(KEEPING.settle);
    keeper.drop("one");
    await keeper.want(lease("two", "alice"), [B]);
    await keeper.want(lease("three", "carol"), [C]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, C]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST, C, B]);
    await keeper.close();
  });

  it("asks no sooner for a name that failed when its lease gives it up and takes it again", async () => {
    const { keeper, asked, state, clock } = keeping();
    state.refuses.add(HOST);
    await keeper.want(lease("one"), [HOST]);
    await clock.advance(KEEPING.settle);
    for (let n = 0; n < 5; n++) {
      await keeper.want(lease("one"), []);
      await keeper.want(lease("one"), [HOST]);
      await clock.advance(KEEPING.apart);
    }
    keeper.drop("one");
    await keeper.want(lease("two"), [HOST]);
    await clock.advance(KEEPING.apart);
    expect(asked).toEqual([HOST]);
    await clock.advance(KEEPING.again.first);
    expect(asked).toEqual([HOST, HOST]);
    await keeper.close();
  });

  it("notes the failure of a name that is given up while it is asked for", async () => {
    const { keeper, asked, state, clock } = keeping();
    state.refuses.add(HOST);
    state.during = async () => {
      await keeper.want(lease("one"), []);
      await keeper.want(lease("one"), [HOST]);
    };
    await keeper.want(lease("one"), [HOST]);
    await clock.advance(KEEPING.settle);
    await clock.advance(KEEPING.again.first - KEEPING.apart);
    expect(asked).toEqual([HOST]);
    await keeper.close();
  });

  it("forgets the certificate of a host that nobody has once it would have to be renewed, at its hourly look", async () => {
    const { keeper, state, clock, kept } = keeping({ isPrompt: true });
    // It looks half an hour before and after the first certificate is due.
    await clock.advance(KEEPING.look / 2);
    await keeper.want(lease("one"), [HOST]);
    await keeper.want(lease("two"), [B]);
    keeper.drop("one");
    await clock.advance(60 * DAY_MS - KEEPING.look / 2 - 20 * 60_000);
    state.refuses.add(C);
    await keeper.want(lease("three"), [C]);
    await clock.advance(49 * 60_000);
    expect(readdirSync(kept).sort()).toEqual([`${HOST}.pem`, `${B}.pem`]);
    await clock.advance(KEEPING.look);
    expect(readdirSync(kept)).toEqual([`${B}.pem`]);
    await keeper.close();
  });

  it("does not ask again and again for one that ends at once", async () => {
    const { keeper, asked, clock } = keeping({ isPrompt: true });
    await clock.advance(89 * DAY_MS);
    await keeper.want(lease("one"), [HOST]);
    expect(asked).toHaveLength(1);
    await clock.advance(KEEPING.again.first);
    expect(asked).toHaveLength(2);
    await keeper.close();
  });

  it("keeps nothing that is for another name", async () => {
    const { keeper, state, clock, kept } = keeping();
    state.gives = B;
    await keeper.want(lease("one"), [HOST]);
    await clock.advance(KEEPING.settle);
    expect(readdirSync(kept)).toEqual([]);
    await keeper.close();
  });

  it("asks for nothing that others keep, nor for hosts that are no longer served", async () => {
    const { keeper, asked, clock } = keeping({ covered: [HOST] });
    await keeper.want(lease("one"), [HOST, B]);
    await keeper.want(lease("one"), [HOST]);
    await keeper.want(lease("two"), [C]);
    keeper.drop("two");
    await clock.advance(DAY_MS);
    expect(asked).toEqual([]);
    await keeper.close();
  });
});
