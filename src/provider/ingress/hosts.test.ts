import { describe, expect, it } from "vitest";
import type { LeaseKey } from "../../wire/index.ts";
import { uuidV5 } from "./hostname.ts";
import { generatedHost, HostRegistry, normalHost } from "./index.ts";

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
    for (const host of ["ingress.test", "x.ingress.test"]) {
      expect(() => registry.claim(ALICE, [host])).toThrow(/belongs to the provider/);
    }
    for (const host of ["", "a b", "-x.com", "x.com:80", "http://x.com", `${"a".repeat(64)}.com`, "ä.com"]) {
      expect(() => registry.check(ALICE, [host])).toThrow(/not a host name/);
    }
  });

  it("drops the hosts that an update no longer names", () => {
    const registry = new HostRegistry();
    registry.claim(ALICE, ["a.example.com", "b.example.com"]);
    registry.retain(ALICE, ["B.example.com"]);
    expect(registry.heldBy(ALICE)).toEqual(["b.example.com"]);
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
