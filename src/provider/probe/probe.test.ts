import { expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/support/provider/clock.ts";
import { silentLogger } from "../../util/index.ts";
import { type ClusterNews, type ClusterProbe, probeLease } from "../cluster/index.ts";
import { type HostFault, hostFault } from "../reasons.ts";
import { Probe } from "./probe.ts";

const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const MINUTE_MS = 60_000;
const fault = hostFault("cgroup", "no cgroup");

/** A cluster whose containers answer, or fail while `fails` is set; trials are counted. */
function setUp() {
  const listeners = new Set<(news: ClusterNews) => void>();
  const world = { fails: false, trials: 0, left: 0 };
  const tell = (news: ClusterNews): void => {
    for (const listener of listeners) listener(news);
  };
  const probe: ClusterProbe = {
    image: async () => {
      world.trials += 1;
      if (world.fails) throw new Error("no cgroup");
      return undefined;
    },
    explain: (): HostFault => fault,
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const driver = {
    probe,
    deploy: async () => {
      world.left += 1;
    },
    teardown: async () => {
      world.left = 0;
    },
  };
  const clock = new ManualClock();
  const room = new Probe({
    driver,
    provider: LEASE.provider,
    router: { route: async () => ({}), unroute: async () => {} },
    ingress: () => ({ host: "127.0.0.1", port: 1 }),
    log: silentLogger,
    clock,
    changed: () => {},
  });
  const failed = (lease = LEASE): void => tell({ kind: "failed", lease, reason: "cgroup", cause: "no cgroup" });
  return { room, world, clock, tell, failed, driver };
}

const state = (room: Probe) => expect.poll(() => room.state.kind);

it("is not known at first, and then what the trial says; a failure is tried again, a success after an hour", async () => {
  const { room, world, clock } = setUp();
  world.fails = true;
  room.begin();
  expect(room.state.kind).toBe("probing");
  await room.settled();
  expect(room.fault).toEqual(fault);
  world.fails = false;
  await clock.advance(15_000);
  await state(room).toBe("passed");
  expect(world).toMatchObject({ trials: 2, left: 0 });
  await clock.advance(59 * MINUTE_MS);
  expect(world.trials).toBe(2);
  await clock.advance(MINUTE_MS);
  await expect.poll(() => world.trials).toBe(3);
  await room.close();
});

it("begins again when the cluster is back, also while the last trial is being cleared", async () => {
  const { room, world, tell } = setUp();
  room.begin();
  await room.settled();
  tell({ kind: "returned" });
  expect(room.state.kind).toBe("probing");
  await settle();
  await state(room).toBe("passed");
  expect(world.trials).toBe(2);
  await room.close();
});

it("stops the bids when every lease of the last minutes failed, until a trial passed", async () => {
  const { room, world, failed } = setUp();
  room.begin();
  await state(room).toBe("passed");
  world.fails = true;
  failed();
  expect(room.fault?.text).toMatch(/no lease of the last 5 minutes could be started.*no cgroup/);
  await expect.poll(() => room.fault).toEqual(fault);
  expect(world.trials).toBe(2);
  await room.close();
});

it("keeps nobody out for a lease that fails where a trial passes, or beside others that start", async () => {
  const { room, world, clock, tell, failed } = setUp();
  room.begin();
  await state(room).toBe("passed");
  failed();
  await state(room).toBe("passed");
  failed();
  expect(room.state.kind).toBe("passed");
  expect(world.trials).toBe(2);
  tell({ kind: "started", lease: LEASE });
  failed({ ...LEASE, dseq: 8n });
  expect(room.state.kind).toBe("passed");
  failed(probeLease(LEASE.provider));
  await clock.advance(5 * MINUTE_MS);
  failed({ ...LEASE, dseq: 8n });
  expect(room.state.kind).toBe("failed");
  await room.close();
});

it("is passed where the cluster has no trial", () => {
  const room = new Probe({
    driver: { deploy: async () => {}, teardown: async () => {} },
    provider: LEASE.provider,
    router: { route: async () => ({}), unroute: async () => {} },
    ingress: () => ({ host: "127.0.0.1", port: 1 }),
    log: silentLogger,
    changed: () => {},
  });
  room.begin();
  expect(room.state.kind).toBe("passed");
});

it("is closed although the container of its trial cannot be removed", async () => {
  const { room, clock, driver } = setUp();
  driver.teardown = () => new Promise(() => {});
  room.begin();
  const closed = room.close();
  await settle();
  await clock.advance(10_000);
  await closed;
});
