import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { KvNetwork } from "../../../../test/support/block-engine/network.ts";
import { bytesAsFile } from "../../../../test/support/bytes-as-file.ts";
import { TEST_NODE_INFO } from "../../../../test/support/node-info.ts";
import { embeddedSource } from "../../../engine/index.ts";
import { GivenUp } from "../../../runtime/index.ts";
import { sdkErrors } from "../../../util/index.ts";
import { Service } from "../../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { encodeMessage, methodPath } from "../../../wire/index.ts";
import type { RpcEnvironment } from "../../rpc/calls/method.ts";
import { QUICK, QUICK_REQUEST_BYTES, TRIES } from "../limits.ts";
import { Desk } from "./desk.ts";

/** A desk whose chain counts the tries, and whose other thread refuses. */
function desk() {
  const clock = { now: 0 };
  const asked: string[] = [];
  const whole = embeddedSource(new KvNetwork().engine());
  const within = () => {
    asked.push("tried");
    return whole;
  };
  const slow = {
    query: () => {
      asked.push("slow");
      return Promise.reject(sdkErrors.mempoolFull("busy"));
    },
    run: () => Promise.resolve('"slowly"'),
  };
  return { clock, asked, desk: new Desk({ chain: { within }, whole, slow }, () => clock.now) };
}

it("gives what is given up to the other thread, and nothing else that fails", async () => {
  const { desk: at } = desk();
  const slowly = () => Promise.resolve("slowly");
  const given = () => Promise.reject(new GivenUp("too long"));
  expect(await at.tryFirst("a", () => Promise.resolve("quickly"), slowly)).toBe("quickly");
  expect(await at.tryFirst("a", given, slowly)).toBe("slowly");
  await expect(at.tryFirst("a", () => Promise.reject(new Error("a fault")), slowly)).rejects.toThrow("a fault");
});

it("stops trying a kind of request that comes to nothing again and again, for a while and no other kind", async () => {
  const { desk: at, clock } = desk();
  let tries = 0;
  const heavy = (kind: string) =>
    at.tryFirst(
      kind,
      (budget) => {
        tries += 1;
        const end = performance.now() + 25;
        budget.run(() => {
          while (performance.now() < end);
        });
        return Promise.reject(new GivenUp("too long"));
      },
      () => Promise.resolve(),
    );
  // Both spellings are one kind.
  for (let i = 0; i < 20; i++) await heavy(i % 2 === 0 ? "/sdk.a.Query/B" : "/cosmos.a.Query/B");
  expect(tries).toBeGreaterThan(0);
  expect(tries).toBeLessThanOrEqual(Math.ceil(TRIES.savedMs / 25));
  const before = tries;
  await heavy("b");
  expect(tries).toBe(before + 1);
  clock.now += 60_000;
  await heavy("/sdk.a.Query/B");
  expect(tries).toBe(before + 2);
});

it("leaves a large part of the genesis file to the other thread, before it reads any of it", async () => {
  const { desk: at } = desk();
  const call = { method: "genesis_chunked", params: {}, source: "json" } as const;
  const askFor = async (bytes: number) => {
    const reads: number[] = [];
    const env = { genesis: bytesAsFile(new Uint8Array(bytes), reads) } as unknown as RpcEnvironment;
    return [(await at.run(call, env)) === '"slowly"', reads];
  };
  expect(await askFor(QUICK.bytes)).toEqual([false, [QUICK.bytes]]);
  expect(await askFor(QUICK.bytes + 1)).toEqual([true, []]);
});

it("never tries a large request, nor leaves a broadcast to the other thread", async () => {
  const { desk: at, asked } = desk();
  const dispatcher = at.dispatcher({ nodeInfo: () => TEST_NODE_INFO });
  const data = new Uint8Array(QUICK_REQUEST_BYTES + 1);
  const query = { data, height: 0n, prove: false };
  expect(await dispatcher.query({ ...query, path: "/sdk.tx.v1beta1.Service/Simulate" })).toMatchObject({
    info: "sdk/20",
    log: expect.stringContaining("busy"),
  });
  expect(asked).toEqual(["slow"]);
  const { input } = Service.method.broadcastTx;
  const broadcast = encodeMessage(input, create(input, { txBytes: data, mode: 2 }));
  for (const namespace of ["sdk", "cosmos"] as const)
    await dispatcher.query({ ...query, path: methodPath(Service.method.broadcastTx, namespace), data: broadcast });
  expect(asked).toEqual(["slow"]);
  await dispatcher.query({ ...query, path: "/nowhere", data: new Uint8Array() });
  expect(asked).toEqual(["slow", "tried"]);
});
