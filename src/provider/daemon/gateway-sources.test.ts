import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { DEFAULT_LIMITS } from "../../sdl/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { HostData } from "../cluster/index.ts";
import type { OrderStatus } from "../orders/index.ts";
import { countReasons, gatewaySources, type SourceParts } from "./gateway-sources.ts";

function refused(reason: string, count: number): OrderStatus[] {
  const id = { owner: "svc1x", dseq: 1n, gseq: 1, oseq: 1 };
  return Array.from({ length: count }, () => ({ id, phase: "refused", reason }));
}

it("names the most frequent reasons and counts the others together", () => {
  const many = Array.from({ length: 50 }, (_, i) => refused(`the order requires attribute k${i}=x`, 1)).flat();
  const counts = countReasons([...many, ...refused("our price is too high", 7), ...refused("y".repeat(5_000), 2)]);
  expect(Object.keys(counts)).toHaveLength(21);
  expect(counts["our price is too high"]).toBe(7);
  expect(counts["y".repeat(200)]).toBe(2);
  expect(counts["other reasons"]).toBe(32);
});

it("tells strangers nothing of the host", async () => {
  const folder = "/srv/of-the-provider";
  const secrets = [folder, "podman.sock", "10.1.2.3"];
  const reason = `the disk of ${folder} has 3 MiB free; unix:///run/podman/podman.sock and 10.1.2.3:5000 do not answer`;
  const [order] = refused(reason, 1);
  const orders: SourceParts["orders"] = {
    status: () => [order as OrderStatus],
    find: () => order,
    screen: async () => reason,
  };
  const limits = async () => DEFAULT_LIMITS;
  const pricing = { description: "", price: () => Promise.reject(new Error(reason)) };
  const inventory = { all: () => [], available: () => [], addresses: 0, addressesLeft: () => 0 };
  const host = new HostData([folder]);
  const [init] = sampleDeployment().groups;
  const group = create(GroupSpecSchema, init);
  const sources = gatewaySources({ inventory, orders, outbox: { depth: 0 }, pricing, limits, host });
  const id = { owner: "svc1x", dseq: 1n, gseq: 1, oseq: 1 };
  const price = sources.price(group).catch((error) => String(error));
  const told = JSON.stringify([
    await sources.screen(group),
    sources.refusals(),
    sources.order(id)?.reason,
    await price,
  ]);
  expect(told.match(/3 MiB free/g)).toHaveLength(3);
  expect(secrets.filter((each) => told.includes(each))).toEqual([]);
});

it("counts refusals alone", () => {
  const [won] = refused("lease lost", 1);
  expect(countReasons(won === undefined ? [] : [{ ...won, phase: "lost" }])).toEqual({});
});

it("shows the pool of leased addresses if there is one, and never fewer than zero", async () => {
  const told = async (addresses: number, left: number) => {
    const inventory = { all: () => [], available: () => [], addresses, addressesLeft: () => left };
    return (await gatewaySources({ inventory } as unknown as SourceParts).inventory()).leasedIps;
  };
  expect(await told(4, 3)).toEqual({ total: 4, left: 3 });
  expect(await told(2, -1)).toEqual({ total: 2, left: 0 });
  expect(await told(0, 0)).toBeUndefined();
});
