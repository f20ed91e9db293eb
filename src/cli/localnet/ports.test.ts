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

test("a port that is taken is named, with an offset at which none is", async () => {
  const offset = await freeOffset();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(localnetPorts(offset).gateway, "127.0.0.1", resolve));
  try {
    const text = `port ${localnetPorts(offset).gateway}, needed for the provider's gateway, is used by another program`;
    const hint = expect.stringMatching(/^stop it, or use other ports: --port-offset \d+00$/);
    await expect(requireFreePorts(offset)).rejects.toMatchObject({ message: text, hint });
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
