import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { ChainClient, sendTx } from "../../client/index.ts";
import type { LoadedSdl } from "../../sdl/index.ts";
import { type TestNode, testNode } from "../../testing/index.ts";
import { MsgSignProviderAttributesSchema } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { AttributeSchema, PlacementRequirementsSchema } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { MsgUpdateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { type Any, packAny } from "../../wire/index.ts";

const WAIT = { timeout: 60_000, interval: 100 };
const ATTRIBUTES = [create(AttributeSchema, { key: "region", value: "eu-west" })];
const UNSIGNED = "the order requires the signature of an auditor that this provider does not have";

test("an order that asks for audited attributes gets a bid once the auditors named have signed them", async () => {
  const node = await testNode({ blockIntervalMs: 200, accounts: ["alice", "bob", "carol", "dave"] });
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-audited-")));
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 } });
  onTestFinished(() => daemon.stop());
  const owner = market.provider.address;
  const record = { owner, hostUri: "https://localhost:8443", attributes: ATTRIBUTES };
  await send(node, "alice", packAny(MsgUpdateProviderSchema, record));
  await daemon.start();
  const auditor = node.key("carol").address;
  const sign = (name: string, attributes = ATTRIBUTES) =>
    send(node, name, packAny(MsgSignProviderAttributesSchema, { auditor: node.key(name).address, owner, attributes }));

  await daemon.deploy(signedBy({ anyOf: [auditor] }));
  await expect.poll(() => daemon.logged("declined to bid")?.reason, WAIT).toBe(UNSIGNED);
  // Another auditor's signature, and this one's about something else, do not satisfy the order.
  await sign("dave");
  await sign("carol", [create(AttributeSchema, { key: "region", value: "us-east" })]);
  const early = await daemon.deploy(signedBy({ anyOf: [auditor] }));
  const declined = () => daemon.logs.filter(({ fields }) => fields.reason === UNSIGNED).length;
  await expect.poll(declined, WAIT).toBe(2);
  await sign("carol");
  const all = await daemon.deploy(signedBy({ allOf: [auditor, node.key("dave").address] }));
  await expect.poll(async () => (await daemon.chain.bid(all))?.state, WAIT).toBe("open");
  expect(await daemon.chain.bid(early)).toBeUndefined();
});

function signedBy(signed: { readonly anyOf?: string[]; readonly allOf?: string[] }): LoadedSdl {
  const loaded = sampleDeployment();
  const requirements = create(PlacementRequirementsSchema, { signedBy: signed, attributes: ATTRIBUTES });
  return { ...loaded, groups: loaded.groups.map((group) => ({ ...group, requirements })) };
}

async function send(node: TestNode, name: string, message: Any): Promise<void> {
  const client = new ChainClient(node.url);
  const { sign, ...key } = node.key(name);
  const signer = { ...key, sign: async (bytes: Uint8Array) => sign(bytes) };
  try {
    expect(await sendTx(client, signer, [message], { gas: 1_000_000n })).toMatchObject({ code: 0 });
  } finally {
    client.close();
  }
}
