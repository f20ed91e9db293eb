import { createServer } from "node:net";
import { expect, test } from "vitest";
import { clusterNodePorts, localnetPorts, requireFreePorts } from "./ports.ts";

test.each([50, 34_600, 100_000])("an offset of %i is refused", (offset) => {
  expect(() => localnetPorts(offset)).toThrow("--port-offset takes a multiple of 100 up to");
});

test.each([
  [0, "30000-30078"],
  [100, "30079-30157"],
  [3_400, "32686-32764"],
])("the node ports of a localnet with offset %i on a cluster are %s", (offset, ports) => {
  expect(clusterNodePorts(offset)).toBe(ports);
});

test("nodes and providers of one localnet have other ports, and share its node ports", () => {
  const [first, third] = [0, 2].map((index) => localnetPorts(200, { index, count: 3 }));
  expect(third).toMatchObject({ rpc: 26_877, p2p: 26_876, gateway: 8_663, ingressHttp: 8_300 });
  expect(first).toMatchObject({ rpc: 26_857, nodePortFirst: 32_000, nodePortLast: 32_332 });
  expect(third).toMatchObject({ nodePortFirst: 32_666, nodePortLast: 32_998 });
  expect(clusterNodePorts(100, { index: 1, count: 2 })).toBe("30118-30156");
});

test("a port that is taken is named, with an offset at which none is", async () => {
  const offset = await freeOffset();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(localnetPorts(offset).gateway, "127.0.0.1", resolve));
  try {
    const text = `port ${localnetPorts(offset).gateway}, needed for the provider's gateway, is used by another program`;
    const hint = expect.stringMatching(/^stop it, or use other ports: --port-offset \d+00$/);
    await expect(requireFreePorts(offset)).rejects.toMatchObject({ message: text, hint });
    const peer = localnetPorts(offset, { index: 1, count: 2 }).p2p;
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(peer, "127.0.0.1", resolve));
    const network = requireFreePorts(offset, { validators: 2, providers: 0 });
    await expect(network).rejects.toThrow(`port ${peer}, needed for other nodes (2), is used by another program`);
    await new Promise((resolve) => other.close(resolve));
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  await requireFreePorts(offset);
});

/** An offset that nothing else on this machine uses. */
async function freeOffset(): Promise<number> {
  for (let offset = 2000; offset < 3000; offset += 100) {
    const isFree = await requireFreePorts(offset).then(
      () => true,
      () => false,
    );
    if (isFree) return offset;
  }
  throw new Error("no free ports from 2000 on");
}
