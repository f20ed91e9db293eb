import { expect, test } from "vitest";
import { sampleFile } from "../../../test/support/provider/deployment.ts";
import { leaseOf } from "../../../test/support/provider/leases.ts";
import { loadSdl } from "../../sdl/index.ts";
import { HostRegistry } from "../hostnames/index.ts";
import { claimHosts, serviceRoutes } from "./hosts.ts";

const OPTIONS = { domain: "apps.example", staticHosts: true };

/** Where the host names of a service with these HTTP ports lead. */
function routesOf(ports: readonly { readonly port: number; readonly accept?: readonly string[] }[]) {
  const file = JSON.parse(sampleFile());
  const to = [{ global: true }];
  file.services.web.expose = ports.map(({ port, accept = [] }) => ({ port, as: 80, to, accept }));
  const [group] = loadSdl(JSON.stringify(file)).manifest;
  if (group === undefined) throw new Error("no group");
  const registry = new HostRegistry();
  const lease = { id: leaseOf(1n), group };
  const { hosts } = claimHosts(registry, lease, OPTIONS);
  const generated = hosts.web?.[0] ?? "";
  return serviceRoutes(registry, lease, hosts).map(({ target, hosts: names }) => [
    target.port,
    names.map((name) => (name === generated ? "generated" : name)),
  ]);
}

test("host names lead to the HTTP port that accepts them, the generated one to the port without names", () => {
  const shop = { port: 3000, accept: ["shop.example"] };
  const admin = { port: 4000, accept: ["admin.example", "ops.example"] };
  expect(routesOf([shop, admin, { port: 8080 }])).toEqual([
    [8080, ["generated"]],
    [3000, ["shop.example"]],
    [4000, ["admin.example", "ops.example"]],
  ]);
  expect(routesOf([admin, shop])).toEqual([
    [3000, ["generated", "shop.example"]],
    [4000, ["admin.example", "ops.example"]],
  ]);
  expect(routesOf([shop])).toEqual([[3000, ["generated", "shop.example"]]]);
});

test("two HTTP ports of one service without names of their own are refused", () => {
  expect(() => routesOf([{ port: 3000 }, { port: 4000 }])).toThrow("port 80/TCP already leads to port 3000");
  expect(() => routesOf([{ port: 3000 }, { port: 4000, accept: ["shop.example"] }])).not.toThrow();
});
