import { afterEach, expect, it } from "vitest";
import { KvNetwork } from "../../../test/support/block-engine/network.ts";
import { brokenClients } from "../../../test/support/broken-clients.ts";
import { bytesAsFile } from "../../../test/support/bytes-as-file.ts";
import { TEST_NODE_INFO } from "../../../test/support/node-info.ts";
import { seedFrom } from "../../../test/support/rng.ts";
import { sized } from "../../../test/support/runs.ts";
import { embeddedSource } from "../../engine/index.ts";
import { nodeConfig } from "../config.ts";
import { RpcServer } from "./server.ts";

let server: RpcServer | undefined;
afterEach(() => server?.close());

// An error that escapes ends a node; here it fails the run.
it("answers after hundreds of clients that broke every rule", async () => {
  const engine = new KvNetwork().engine();
  engine.produceBlock();
  const query = engine.app.query.bind(engine.app);
  const env = {
    chain: embeddedSource(engine),
    nodeInfo: () => TEST_NODE_INFO,
    genesis: bytesAsFile(Buffer.from("{}")),
    query,
  };
  server = new RpcServer(env, { ...nodeConfig({}).rpc, host: "127.0.0.1", port: 0 });
  const { port } = await server.listen();
  await brokenClients(port, {
    rng: seedFrom("SVC_TEST_SEED"),
    hosts: ["127.0.0.1", "evil.example"],
    count: sized(500, 2_000),
  });
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});
