import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { Fixture, ROOT } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The chart as Helm renders it, and the manifests beside it, on a real API server. */

const [helm, server] = await Promise.all([buildPeer("helm"), buildPeer("kubernetes")]);
const peers = [helm, server].filter((peer) => peer instanceof Peer);
const missing = peers.length < 2;
const fixture = new Fixture();
const CHART = join(ROOT, "deploy", "helm", "svc-provider");
const SPACE = "svc-provider";
const NEEDED = ["--set", "image.repository=registry.example.com/svc"];

let bed: TestKubernetes;

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly template: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly Container[]; readonly volumes: readonly object[] };
    };
  };
}

interface Container {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

beforeAll(async () => {
  if (missing || !(server instanceof Peer)) return;
  bed = await TestKubernetes.start(fixture, server.binary);
  const manifests = parseAllDocuments(readFileSync(join(ROOT, "deploy", "kubernetes", "install.yaml"), "utf8"));
  for (const each of manifests) {
    const { status, text } = await apply(each.toJS() as Rendered, "");
    expect([200, 201], text).toContain(status);
  }
});

afterAll(async () => {
  for (const peer of peers) peer.remove();
  await fixture.close();
});

const PLURALS: Readonly<Record<string, string>> = { NetworkPolicy: "networkpolicies" };

/** Server-side apply, by another client than the product's. */
function apply({ apiVersion, kind, metadata, ...rest }: Rendered, more: string, space = metadata.namespace) {
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
  const root = apiVersion.includes("/") ? "/apis" : "/api";
  const where = space === undefined ? "" : `namespaces/${space}/`;
  const path = `${root}/${apiVersion}/${where}${plural}/${metadata.name}?fieldManager=test&force=true${more}`;
  const object = { apiVersion, kind, metadata, ...rest };
  return bed.call("PATCH", path, { type: "application/apply-patch+yaml", object });
}

async function render(...args: string[]): Promise<Rendered[]> {
  if (!(helm instanceof Peer)) throw new Error("Helm is missing");
  const text = await helm.ok(["template", "shop", CHART, "-n", SPACE, "--kube-version", "v1.34.4", ...NEEDED, ...args]);
  return parseAllDocuments(text).map((each) => each.toJS() as Rendered);
}

function ofKind(objects: readonly Rendered[], kind: string): Rendered {
  const found = objects.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

test.skipIf(missing && process.env.CI !== "true")("the programs are there", () => {
  expect(peers).toHaveLength(2);
});

describe.skipIf(missing)("the chart", () => {
  test("has nothing that Helm finds wrong", async () => {
    if (helm instanceof Peer)
      expect(await helm.ok(["lint", "--strict", CHART, ...NEEDED])).toContain("0 chart(s) failed");
  });

  test.for([
    ["as it is", []],
    ["before there are keys", ["--set", "setup=true"]],
    ["with an ingress of its own", ["--set", "ingress.enabled=true", "--set", "gateway.type=NodePort"]],
    [
      "with everything else",
      [
        ...[
          "--set",
          "home.existingClaim=keys",
          "--set",
          "gateway.nodePort=30443",
          "--set",
          "imagePullSecrets[0].name=a",
        ],
        ...["--set", "nodeSelector.disk=ssd", "--set", "tolerations[0].operator=Exists", "--set", "image.tag=next"],
        ...["--set-string", "gateway.annotations.a=b", "--set", "settings.bid-price-cpu-scale=0.001"],
      ],
    ],
  ] as const)("%s is taken by the server, and its pod by the namespace of the installation", async ([, args]) => {
    const objects = await render(...args);
    for (const object of objects) {
      const { status, text } = await apply(object, "&dryRun=All", SPACE);
      expect([200, 201], text).toContain(status);
    }
    const { template } = ofKind(objects, "Deployment").spec;
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "shop" }, spec: template.spec };
    const { status, text } = await bed.call("POST", `/api/v1/namespaces/${SPACE}/pods?dryRun=All`, {
      type: "application/json",
      object: pod,
    });
    expect(status, text).toBe(201);
  });

  test("runs the provider with its settings as variables, without those that are empty", async () => {
    const [container] = ofKind(await render("--set", "settings.chain-id=svc-1"), "Deployment").spec.template.spec
      .containers;
    expect(container?.args).toEqual(["provider", "run"]);
    const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
    expect(env).toMatchObject({ SVC_CHAIN_ID: "svc-1", SVC_CLUSTER_ORCH: "true", SVC_FROM: "provider" });
    expect(env).not.toHaveProperty("SVC_NODE");
  });

  test("is refused without an image, with the remedy", async () => {
    if (!(helm instanceof Peer)) return;
    const { code, err } = await helm.run(["template", "shop", CHART, "--kube-version", "v1.34.4"]);
    expect([code, err]).toEqual([1, expect.stringContaining("image.repository: name the image of the provider")]);
  });
});
