import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { sampleDeployment } from "../../../../test/support/provider/deployment.ts";
import { leaseOf } from "../../../../test/support/provider/leases.ts";
import { isPortFree, PortAllocator } from "./port-allocator.ts";

function groupWith(...nodePorts: number[]) {
  const [group] = sampleDeployment({ nodePorts }).manifest;
  if (group === undefined) throw new Error("the sample has a group");
  return group;
}

const free = async () => true;

describe("ports of the host", () => {
  it("stay with their expose when others come and go", async () => {
    const ports = new PortAllocator({ first: 30_000, last: 30_010 }, free);
    const id = leaseOf(1n);
    const before = await ports.assign(id, groupWith(9000, 9001));
    ports.hold(id, before);
    const after = await ports.assign(id, groupWith(9001, 9002));
    ports.hold(id, after);
    expect(after[0]).toEqual(before[1]);
    expect(after[1]?.hostPort).toBe(30_002);
  });

  it("that were given back are given out last", async () => {
    const ports = new PortAllocator({ first: 30_000, last: 30_002 }, free);
    const take = async (dseq: bigint) => (await ports.assign(leaseOf(dseq), groupWith(9000)))[0]?.hostPort;
    expect(await take(1n)).toBe(30_000);
    ports.release(leaseOf(1n));
    expect([await take(2n), await take(3n), await take(4n)]).toEqual([30_001, 30_002, 30_000]);
    await expect(take(5n)).rejects.toThrow(/all of 30000 to 30002 are taken/);
  });

  it("that somebody else on this machine has are passed over", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await isPortFree(port, "TCP")).toBe(false);
    await expect(new PortAllocator({ first: port, last: port }).assign(leaseOf(1n), groupWith(9000))).rejects.toThrow();
    await new Promise((resolve) => server.close(resolve));
    expect(await isPortFree(port, "TCP")).toBe(true);
    expect(await isPortFree(0, "UDP")).toBe(true);
  });
});
