import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { Fixture, fetchPage, svcOk, waitFor, webFile } from "../support/index.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { nodePrograms } from "./node-programs.ts";

/** A localnet whose provider is on a cluster: what it prints opens from this machine. */

const programs = await nodePrograms();
const fixture = new Fixture();
const PORT_OFFSET = 2400;

afterAll(() => fixture.close());

test("a file that is deployed on a cluster answers on this machine, and goes with the localnet", async ({ skip }) => {
  if ("missing" in programs) {
    if (process.env.CI !== "true") skip(programs.missing);
    throw new Error(programs.missing);
  }
  const bed = await TestKubernetesNode.start(fixture, programs);
  const home = join(fixture.folder, "localnet");
  const flags = ["-o", "json", "--home", home, "--block-interval", "300ms", "--port-offset", String(PORT_OFFSET)];
  const cluster = ["--clusterconfig", bed.config, "--deploy", fileOf("it runs on a cluster")];
  const localnet = await fixture.start("localnet", ["localnet", ...flags, ...cluster]);
  fixture.defer(() => localnet.stop());
  const ready = JSON.parse(await localnet.line(/"type":"ready"/, 180_000));
  expect(ready).toMatchObject({ home, rpc: `http://127.0.0.1:${26_657 + PORT_OFFSET}`, deployments: [{}] });
  const [{ dseq, uris, ports }] = ready.deployments;
  expect(await fetchPage(uris[0])).toBe("200 it runs on a cluster\n");
  expect(ports).toMatchObject([{ host: "localhost", port: 30_000 + 79 * 24 }]);
  await waitFor(async () => (await fetchPage(`http://127.0.0.1:${ports[0].port}/`)).startsWith("200"), "the node port");
  const here = ["--dseq", dseq, "--from", "alice"];
  expect(await svcOk(["deploy", "logs", "web", ...here], { home })).toContain("serving");
  await localnet.stop();
  expect(existsSync(home)).toBe(false);
  const api = new KubernetesApi(readKubeconfig(bed.config));
  fixture.defer(() => api.close());
  const namespaces = { apiVersion: "v1", kind: "Namespace", plural: "namespaces" };
  expect((await api.list(namespaces, { labels: "svc.lease" })).objects).toEqual([]);
});

/** A web service on a host name and on a node port. */
function fileOf(page: string): string {
  const path = join(fixture.folder, "app.yaml");
  const text = webFile({ page })
    .replace("localhost/svc-sample:latest", TestKubernetesNode.image)
    .replace(/exec httpd -f(.*)/, "httpd$1 && echo serving && trap exit TERM && while :; do sleep 1; done")
    .replace("expose:\n", "expose:\n      - port: 80\n        as: 8080\n        to:\n          - global: true\n");
  writeFileSync(path, text);
  return path;
}
