import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/provider/clock.ts";
import { silentLogger } from "../../util/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { uuidV5 } from "./generated.ts";
import { generatedHost, HOST_LIMITS, HostLedger, HostRegistry, normalHost } from "./index.ts";

const lease = (owner: string, dseq: bigint): LeaseKey => ({ owner, dseq, gseq: 1, oseq: 1, provider: "svc1p" });
const ALICE = lease("svc1alice", 1n);

describe("host registry", () => {
  it("gives a host to the first who claims it and refuses other owners", () => {
    const registry = new HostRegistry();
    expect(registry.claim(ALICE, ["a.example.com"])).toEqual({ accepted: ["a.example.com"], withheld: [] });
    expect(registry.claim(ALICE, ["A.Example.com"])).toEqual({ accepted: ["a.example.com"], withheld: [] });
    expect(() => registry.claim(lease("svc1bob", 2n), ["b.example.com", "a.example.com"])).toThrow(/in use/);
    expect(registry.heldBy(lease("svc1bob", 2n))).toEqual([]);
    registry.release(ALICE);
    expect(registry.claim(lease("svc1bob", 2n), ["a.example.com"]).accepted).toEqual(["a.example.com"]);
  });

  it("withholds a host that another deployment of the same owner has", () => {
    const registry = new HostRegistry();
    registry.claim(ALICE, ["a.example.com"]);
    const claim = registry.claim(lease("svc1alice", 2n), ["a.example.com", "b.example.com"]);
    expect(claim).toEqual({ accepted: ["b.example.com"], withheld: ["a.example.com"] });
  });

  it("refuses blocked names, the provider's domain and what is not a host name", () => {
    const registry = new HostRegistry({ blocked: ["bad.com", ".worse.com"], domain: "ingress.test" });
    for (const host of ["bad.com", "worse.com", "x.worse.com", "BAD.com"]) {
      expect(() => registry.claim(ALICE, [host])).toThrow(/blocked/);
    }
    expect(registry.claim(ALICE, ["sub.bad.com", "notworse.com"]).accepted).toHaveLength(2);
    for (const host of ["ingress.test", "x.ingress.test", "gateway.ingress.test"]) {
      expect(() => registry.claim(ALICE, [host])).toThrow(/belongs to the provider/);
    }
    for (const host of [
      "",
      "a b",
      "-x.com",
      "x.com:80",
      "http://x.com",
      `${"a".repeat(64)}.com`,
      "ä.com",
      "\u212Aelvin.com",
      "a。com",
      "a..com",
      "*.com",
    ]) {
      expect(() => registry.check(ALICE, [host])).toThrow(/not a host name/);
    }
  });

  it.each([{}, { domain: "" }])("keeps no name for itself without a domain of its own: %j", (rules) => {
    const names = ["undefined", "x.undefined", "example.com"];
    expect(new HostRegistry(rules).claim(ALICE, names).accepted).toEqual(names);
  });

  it("drops the hosts that an update no longer names", () => {
    const registry = new HostRegistry();
    registry.claim(ALICE, ["a.example.com", "b.example.com"]);
    registry.retain(ALICE, ["B.example.com"]);
    expect(registry.heldBy(ALICE)).toEqual(["b.example.com"]);
  });
});

describe("a host name that was given up", () => {
  const BOB = lease("svc1bob", 2n);
  const HOUR_MS = 3_600_000;

  function resting(clock = new ManualClock()) {
    const registry = new HostRegistry({ quarantineMs: HOUR_MS }, { clock });
    registry.claim(ALICE, ["a.example.com"]);
    return { clock, registry };
  }

  it("is its owner's alone until its time is over", async () => {
    const { clock, registry } = resting();
    registry.retain(ALICE, ["a.example.com"]);
    registry.release(ALICE);
    expect(() => registry.claim(BOB, ["a.example.com"])).toThrow(/gave it up a short time ago/);
    expect(registry.claim(lease("svc1alice", 9n), ["a.example.com"]).accepted).toEqual(["a.example.com"]);
    registry.release(lease("svc1alice", 9n));
    await clock.advance(HOUR_MS - 1);
    expect(() => registry.claim(BOB, ["a.example.com"])).toThrow(/gave it up/);
    await clock.advance(1);
    expect(registry.claim(BOB, ["a.example.com"]).accepted).toEqual(["a.example.com"]);
  });

  it("is free at once if nobody was served under it: a manifest that is refused keeps no names", () => {
    const { registry } = resting();
    registry.release(ALICE);
    expect(registry.claim(BOB, ["a.example.com"]).accepted).toEqual(["a.example.com"]);
  });

  it("of an owner with thousands ends the rest of none but his own", () => {
    const { registry } = resting();
    registry.retain(ALICE, ["a.example.com"]);
    registry.release(ALICE);
    for (let dseq = 0n; dseq <= BigInt(HOST_LIMITS.resting / HOST_LIMITS.perLease); dseq++) {
      const id = lease("svc1bob", dseq);
      const names = Array.from({ length: HOST_LIMITS.perLease }, (_, n) => `n${n}.of-${dseq}.example.org`);
      registry.claim(id, names);
      registry.retain(id, names);
      registry.release(id);
    }
    expect(registry.ownerOf("a.example.com")).toBe("svc1alice");
    expect(registry.ownerOf("n0.of-0.example.org")).toBeUndefined();
    expect(registry.ownerOf("n99.of-100.example.org")).toBe("svc1bob");
  });
});

it("a lease has a hundred host names at most", () => {
  const registry = new HostRegistry();
  const names = Array.from({ length: HOST_LIMITS.perLease + 1 }, (_, n) => `n${n}.example.com`);
  expect(() => registry.claim(ALICE, names)).toThrow(/101 host names, at most 100/);
  expect(registry.claim(ALICE, names.slice(1)).accepted).toHaveLength(100);
});

it("nobody takes the names under which the provider is reached", () => {
  const registry = new HostRegistry({ own: ["gateway.example.com"] });
  expect(() => registry.claim(ALICE, ["Gateway.example.com."])).toThrow(/belongs to the provider/);
});

describe("the list of owners", () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  function ledger() {
    const folder = mkdtempSync(join(tmpdir(), "svc-hosts-"));
    folders.push(folder);
    const path = join(folder, "hostnames.json");
    return { path, open: () => new HostLedger(path, silentLogger) };
  }

  it("outlives a crash: names in use rest from the next start on, until they are claimed", async () => {
    const { open } = ledger();
    const clock = new ManualClock();
    const rules = { quarantineMs: 60_000 };
    const before = new HostRegistry(rules, { ledger: open(), clock });
    before.claim(ALICE, ["a.example.com", "b.example.com"]);
    before.retain(ALICE, ["a.example.com", "b.example.com"]);
    await clock.advance(3_600_000);
    const after = new HostRegistry(rules, { ledger: open(), clock });
    expect(after.ownerOf("a.example.com")).toBe("svc1alice");
    after.claim(ALICE, ["a.example.com"]);
    after.retain(ALICE, ["a.example.com"]);
    await clock.advance(60_000);
    expect([after.ownerOf("a.example.com"), after.ownerOf("b.example.com")]).toEqual(["svc1alice", undefined]);
  });

  it("keeps the end of a rest over restarts, and follows a shorter setting", async () => {
    const { open } = ledger();
    const clock = new ManualClock();
    const start = (quarantineMs: number) => new HostRegistry({ quarantineMs }, { ledger: open(), clock });
    const first = start(60_000);
    first.claim(ALICE, ["a.example.com"]);
    first.retain(ALICE, ["a.example.com"]);
    first.release(ALICE);
    await clock.advance(50_000);
    expect(start(60_000).ownerOf("a.example.com")).toBe("svc1alice");
    expect(start(0).ownerOf("a.example.com")).toBeUndefined();
    await clock.advance(10_000);
    expect(start(60_000).ownerOf("a.example.com")).toBeUndefined();
  });

  it("that is damaged is set aside", () => {
    const { path, open } = ledger();
    writeFileSync(path, "[{]");
    expect(new HostRegistry({}, { ledger: open() }).ownerOf("a.example.com")).toBeUndefined();
    expect(existsSync(`${path}.damaged`)).toBe(true);
  });
});

describe("host names", () => {
  it("makes UUIDs of version 5 as the standard's own example", () => {
    const namespace = Buffer.from("6ba7b8109dad11d180b400c04fd430c8", "hex");
    const uuid = Buffer.from(uuidV5(namespace, "www.example.com")).toString("hex");
    expect(uuid).toBe("2ed6657de927568b95e12665a8aea6a2");
  });

  it("generates the same legal name for the same service, another for another", () => {
    const host = generatedHost(ALICE, "web", "ingress.test");
    expect(host).toMatch(/^[0-9a-v]{26}\.ingress\.test$/);
    expect(generatedHost(ALICE, "web", "ingress.test")).toBe(host);
    expect(generatedHost(ALICE, "api", "ingress.test")).not.toBe(host);
    expect(generatedHost(lease("svc1alice", 2n), "web", "ingress.test")).not.toBe(host);
    expect(normalHost(host)).toBe(host);
  });
});
