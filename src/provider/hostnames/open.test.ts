import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { testCertificate } from "../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../test/support/provider/leases.ts";
import { silentLogger } from "../../util/index.ts";
import { PROBE_HOST } from "../cluster/index.ts";
import { openHostnames } from "./index.ts";

/** The registry of a provider whose certificate has these names. */
async function opened(hosts: string[], { publicHostname = "gw.example.com", blockedHosts = [""].slice(1) } = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-open-hosts-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const { certificate } = await testCertificate({ address: PROVIDER, hosts });
  const hostnames = { isProven: false, resolvers: [], quarantineMs: 0 };
  const ingress = { domain: "apps.example.com", staticHosts: true, blockedHosts, hostnames };
  const { registry } = openHostnames({ config: { stateDir, publicHostname, ingress }, certificate, log: silentLogger });
  return (host: string) => registry.allows({ owner: "svc1alice", dseq: 1n, gseq: 1 }, host);
}

it("keeps every name of the gateway's certificate from tenants, those of a wildcard as well", async () => {
  const allows = await opened(["Status.example.net", "*.edge.example.com"]);
  for (const host of ["gw.example.com", "status.example.net", "a.edge.example.com", "A.Edge.example.com."])
    expect(allows(host), host).toBe(false);
  for (const host of ["example.net", "a.status.example.net", "edge.example.org"]) expect(allows(host), host).toBe(true);
});

it("keeps the name of the trial at the ingress from tenants: the provider stops bidding where another answers for it", async () => {
  const allows = await opened([]);
  for (const host of [PROBE_HOST, `${PROBE_HOST.toUpperCase()}.`]) expect(allows(host), host).toBe(false);
});

it("reads names with a final dot as DNS does", async () => {
  const allows = await opened([], {
    publicHostname: "gw.example.com.",
    blockedHosts: ["bad.example.org.", ".worse.example.org."],
  });
  for (const host of ["gw.example.com", "bad.example.org", "a.worse.example.org"])
    expect(allows(host), host).toBe(false);
});
