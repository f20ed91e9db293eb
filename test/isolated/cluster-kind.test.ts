import { afterEach, describe, expect, it, vi } from "vitest";
import { CLUSTER_KINDS } from "../../src/provider/cluster/index.ts";
import { notedSettings, settingReader } from "../../src/util/index.ts";
import { cliPage } from "../../tools/docs/cli.ts";
import { runCli } from "../cli/run.ts";
import { clusterConformance } from "../support/conformance/index.ts";
import { destroyExamples, exampleCluster, MISSING_IMAGE } from "../support/example-cluster.ts";

/** A driver is a folder and a line in the list: here the line is added, and no other file knows the driver. */
vi.mock("../../src/provider/cluster/kinds.ts", async (original) => {
  const { exampleCluster: added } = await import("../support/example-cluster.ts");
  const { CLUSTER_KINDS: listed } = await original<typeof import("../../src/provider/cluster/kinds.ts")>();
  return { CLUSTER_KINDS: [...listed, added] };
});

afterEach(destroyExamples);

const PROVIDER = "svc1xwstnvj0d4nld4gzlna8ka9jp7kqxhtjk3xyq7";

describe("a driver in the list of clusters", () => {
  it("is there", () => expect(CLUSTER_KINDS).toContain(exampleCluster));

  it("has its settings in the help of the provider, below its heading", async () => {
    const { out } = await runCli(["provider", "run", "--help"]);
    const [, own = ""] = out.split("Flags of the example:");
    expect(out).toContain("--cluster <docker|kubernetes|example>");
    expect(own).toContain("--cluster-example-room <name>");
    expect(own).toContain("--cluster-example-addresses <addresses>");
    expect((await runCli(["provider", "purge", "--help"])).out).toContain("--cluster-example-room <name>");
  });

  it("has its settings in the reference", async () => {
    expect(await cliPage()).toMatch(/## Flags of the example\n[^#]*SVC_CLUSTER_EXAMPLE_ADDRESSES/);
  });

  it.each([
    ["by its name", ["--cluster", "example"], {}, "example 1 at nowhere"],
    ["by its place", ["--cluster-example-room", "cellar"], {}, "example 1 at cellar"],
    ["by a variable", [], { SVC_CLUSTER_EXAMPLE_ROOM: "attic" }, "example 1 at attic"],
  ])("is chosen %s", async (_, words, env, detail) => {
    const place = ["--node", "http://127.0.0.1:1", "--from", PROVIDER, "-o", "json"];
    const { out } = await runCli(["provider", "check", ...place, ...words], { env });
    const { checks } = JSON.parse(out) as { checks: { check: string; detail: string }[] };
    expect(checks.find(({ check }) => check === "cluster")).toMatchObject({ state: "ok", detail });
  });

  it("is not chosen together with another one", async () => {
    const words = ["--from", PROVIDER, "--cluster", "docker", "--cluster-example-room", "cellar"];
    const ran = await runCli(["provider", "check", ...words]);
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining("--cluster and --cluster-example-room cannot be")]);
  });

  it.each(clusterConformance)("keeps the contract: $name", async ({ run }) => {
    const cluster = exampleCluster.configure(settingReader(notedSettings({})));
    const { address } = await cluster.find();
    const open = () => cluster.open({ address, stateDir: "/nowhere" });
    await run({ open, image: "localhost/svc-sample:1", missingImage: MISSING_IMAGE });
  });
});
