import { describe, expect, test } from "vitest";
import { GatewayRefusal, type LeaseStatus } from "../../client/index.ts";
import { missingServices } from "../ready/ready.ts";
import { manifestOutcome, readState } from "./live-gateway.ts";

describe("a manifest that was not taken", () => {
  const answer = { code: "hostname_unproven", message: "not yours", hint: "add a record" };

  test.each([
    [422, "refused"],
    [404, "later"],
    [503, "later"],
  ])("status %i: %s, with the provider's remedy", (status, kind) => {
    expect(manifestOutcome(new GatewayRefusal(status, answer))).toEqual({
      kind,
      reason: "not yours",
      remedy: "add a record",
    });
    expect(manifestOutcome(new GatewayRefusal(status, { code: "a", message: "b" }))).toEqual({ kind, reason: "b" });
  });
});

describe("a provider's status", () => {
  const service = {
    name: "web",
    available: 2,
    total: 2,
    uris: ["a.example"],
    observed_generation: 1,
    replicas: 2,
    updated_replicas: 2,
    ready_replicas: 2,
    available_replicas: 2,
    urls: ["http://127.0.0.1:1/", "javascript:alert(1)"],
    pods: [],
  };
  const status: LeaseStatus = {
    services: { web: service },
    forwarded_ports: { web: [{ host: "h", port: 9000, externalPort: 30_000, proto: "UDP", name: "web" }] },
    state: "running",
    health: "ok",
    version: "ab",
    generation: 1,
    withheld_hosts: [],
    withheld_endpoints: [],
    ips: {},
  };

  test("in our terms", () => {
    expect(readState(status)).toEqual({
      version: "ab",
      services: [{ name: "web", available: 2, total: 2, updated: 2, urls: ["http://127.0.0.1:1/"] }],
      ports: [{ service: "web", host: "h", port: 30_000, containerPort: 9000, proto: "UDP" }],
    });
    expect(missingServices(readState(status), "ab")).toBeUndefined();
    expect(readState({ ...status, health: "unknown" }).unknown).toBe(true);
    expect(readState({ ...status, withheld_hosts: ["www.example"] }).withheld).toEqual(["www.example"]);
    const plain = { ...status, services: { web: { ...service, urls: [] } } };
    expect(readState(plain).services[0]?.urls).toEqual(["http://a.example"]);
  });

  test("leased addresses are ports like others once they lead here", () => {
    const ip = { Port: 53, ExternalPort: 53, Protocol: "UDP", Endpoint: "public" };
    const given = [
      { ...ip, IP: "203.0.113.1", Assigned: true },
      { ...ip, IP: "2001:db8::1", Assigned: true, Protocol: "TCP" },
      { ...ip, IP: "not an address", Assigned: true },
      { ...ip, IP: "203.0.113.2", Assigned: false },
      { ...ip, IP: "203.0.113.3", Assigned: false, Problem: "no balancer" },
    ];
    const state = readState({ ...status, ips: { web: given }, withheld_endpoints: ["game"] });
    expect(state.ports.slice(1).map(({ host, port, proto }) => `${proto} ${host}:${port}`)).toEqual([
      "UDP 203.0.113.1:53",
      "TCP [2001:db8::1]:53",
    ]);
    expect(state.unassigned).toEqual(["203.0.113.2 (public)", "203.0.113.3 (public): no balancer"]);
    expect(state.withheldEndpoints).toEqual(["game"]);
  });

  test("replicas of the manifest before do not count", () => {
    expect(missingServices(readState({ ...status, generation: 2 }), "ab")).toBe("service web (0 of 2 replicas ready)");
    expect(missingServices(readState(status), "cd")).toBe("the provider to put the manifest in force");
    expect(missingServices({ version: "ab", services: [], ports: [] }, "ab")).toBe("the services");
    const failing = { ...status, services: { web: { ...service, available: 1, error: "image not found" } } };
    expect(missingServices(readState(failing), "ab")).toBe("service web (1 of 2 replicas ready)");
  });
});
