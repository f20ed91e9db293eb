import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sampleService, sampleSpec, scriptService } from "../../../../../test/support/conformance/index.ts";
import { silentLogger, Turns } from "../../../../util/index.ts";
import { leaseNamespace } from "../../contract/index.ts";
import { EngineFailure } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { CommandError } from "../host/command.ts";
import type { VolumeKey } from "../host/volumes.ts";
import { LABEL, Naming } from "../labels.ts";
import { settingsOf } from "../options.ts";
import type { Observed } from "../replica/observe.ts";
import { planService } from "../replica/plan.ts";
import type { LeaseImages } from "./images.ts";
import { Lease } from "./lease.ts";
import { replaceLost, startContainer, stopContainer } from "./operations.ts";
import { reconcileService } from "./service-pass.ts";
import { LeaseState } from "./state.ts";

const MOUNT = "mounting storage for container c: creating overlay mount to /s/merged: no such file or directory";
const NO_OUTPUT = { code: 32, output: "" };
const BACKOFF = { first: 1_000, initial: 2_000, max: 4_000, resetAfter: 600_000 };

/** An engine that keeps containers by their ids, refuses calls about them with these words, and has nothing else. */
class Engine {
  readonly containers = new Map<string, { labels: Record<string, string>; refusal: string | undefined }>();
  readonly events: string[] = [];
  /** Replicas whose volumes were removed. */
  readonly discarded: string[] = [];
  /** Processes of containers that run. */
  readonly pids = new Map<string, number>();
  /** Words of mounts that fail, by the name of the volume. */
  readonly mounts = new Map<string, string>();
  starts = 0;
  /** Why no volumes can be mounted, as the first mount that fails shows. */
  noMounts: string | undefined;
  isAway = false;
  /** Why no container can be removed. */
  stuck: string | undefined;
  readonly #damagedMs: number;

  constructor(damagedMs = 0) {
    this.#damagedMs = damagedMs;
  }

  get context(): DriverContext {
    const settings = settingsOf({
      socket: "",
      stateDir: "/nowhere",
      timing: { backoff: BACKOFF, damaged: this.#damagedMs },
    });
    const quiet = () => {};
    const given = {
      api: this,
      settings,
      naming: new Naming("svc"),
      log: silentLogger,
      starts: new Turns({ each: 1, all: 1 }),
      news: { failed: quiet, started: quiet },
      health: { observe: quiet, answered: quiet, reachable: true },
      init: { isLacking: () => false },
      limits: { refused: () => false },
      volumes: this.#volumes(),
      host: { hide: (text: string) => text, service: (status: object) => status },
      events: {
        add: (_: string, { reason, note }: { reason: string; note: string }) => this.events.push(`${reason} ${note}`),
      },
      moved: quiet,
      firewall: { allow: quiet },
      users: { first: () => 0 },
      journal: { save: async () => {} },
    };
    return given as unknown as DriverContext;
  }

  #volumes(): object {
    let unavailable: string | undefined;
    return {
      ensure: async ({ volume }: VolumeKey) => {
        const words = this.mounts.get(volume.name);
        if (words !== undefined) throw new CommandError("mount", `/v/web-0.${volume.name}.mnt: ${words}`, NO_OUTPUT);
      },
      lackOf: async () => undefined,
      unavailable: async () => unavailable,
      mountLease: async () => {
        unavailable = this.noMounts;
      },
      removeReplica: async (_: string, replica: string) => this.discarded.push(replica),
    };
  }

  async start(id: string): Promise<void> {
    this.starts++;
    this.#look(id);
  }

  async inspect(id: string): Promise<object> {
    this.#look(id);
    const pid = this.pids.get(id) ?? 0;
    const labels = this.containers.get(id)?.labels;
    return { id, pid, running: pid > 0, startedAt: 0, labels, ports: new Map(), addresses: new Map() };
  }

  async remove(id: string): Promise<void> {
    if (this.stuck !== undefined) throw new EngineFailure("refused", this.stuck);
    this.containers.delete(id);
  }

  async listContainers(): Promise<object[]> {
    return [...this.containers].map(([id, { labels }]) => ({ id, labels }));
  }

  /** Podman looks at all containers of a network. */
  async inspectNetwork(): Promise<object> {
    for (const id of this.containers.keys()) this.#look(id);
    if (this.pids.size > 0) return { name: "lease", subnet: "10.0.0.0/24", gateway: "10.0.0.1" };
    throw new EngineFailure("refused", "the rest of this pass");
  }

  #look(id: string): void {
    if (this.isAway) throw new EngineFailure("unreachable", "connection refused");
    const known = this.containers.get(id);
    if (known === undefined) throw new EngineFailure("notFound", "no such container");
    if (known.refusal !== undefined) throw new EngineFailure("refused", known.refusal);
  }
}

const record = {
  spec: sampleSpec([scriptService("app", "true"), sampleService("app", { name: "other" })]),
  images: {},
  earlier: [],
  volumes: [],
  failed: {},
  closing: false,
};

/** A lease with container `c`, which does not run. */
function stopped(engine: Engine): { state: LeaseState; unit: Observed } {
  const state = new LeaseState(engine.context, record);
  const place = { id: "c", service: "web", index: 0, generation: 1, config: "", labels: {}, pid: 0 };
  const unit = { ...place, running: false, status: "exited", createdAt: 0, exitCode: 0 } as unknown as Observed;
  state.units = [unit];
  return { state, unit };
}

/** Starts container `c` once more. */
function starting(engine: Engine): { start: () => Promise<void> } {
  const { state, unit } = stopped(engine);
  const history = state.historyOf(unit);
  const volumes = [{ name: "data", mount: "/data", size: 1n << 20n, readOnly: false, persistent: true }];
  const plan = { ...planService(scriptService("app", "true")), volumes };
  const start = () => startContainer(state, { id: "c", unit, replica: "web-0", service: "web", history, plan });
  return { start };
}

describe("a container that cannot be started", () => {
  it("goes with the third start that fails, after pauses, so that it is made anew on its volumes", async () => {
    const engine = new Engine();
    engine.containers.set("c", { labels: {}, refusal: MOUNT });
    const { start } = starting(engine);
    for (const isThere of [true, true, false]) {
      await start();
      expect(engine.containers.has("c")).toBe(isThere);
    }
    const told = "web-0 could not be started: the provider's host cannot mount the file systems of a container";
    expect(engine.events).toEqual([
      `Failed ${told}; next try in 1 s`,
      `Failed ${told}; next try in 2 s`,
      `Failed ${told}; next try in 4 s`,
      "Failed web-0 could not be started 3 times in a row; its container is created again",
    ]);
  });

  it("stays where a start between has succeeded", async () => {
    const engine = new Engine();
    const container: { labels: Record<string, string>; refusal: string | undefined } = { labels: {}, refusal: MOUNT };
    engine.containers.set("c", container);
    const { start } = starting(engine);
    for (const refusal of [MOUNT, MOUNT, undefined, MOUNT, MOUNT]) {
      container.refusal = refusal;
      await start();
    }
    expect(engine.containers.has("c")).toBe(true);
  });

  it.each([
    "mounting storage for container c: creating overlay mount to /s/merged: input/output error",
    "mounting storage for container c: creating overlay mount to /s/merged: operation not permitted",
    "mkdir /s/overlay-containers/c/userdata: read-only file system",
    "database is locked",
    "database or disk is full",
    "container state improper",
    "conmon exited prematurely, exit code could not be retrieved: internal libpod error",
    "dial unix /run/containerd/containerd.sock: connect: no such file or directory",
    "dial unix /run/containerd/containerd.sock: connect: connection refused",
    "fork/exec /usr/bin/conmon: no such file or directory",
    'OCI runtime error (open /run/log.json: no such file or directory): exec: "runc": executable file not found in $PATH',
    "fork/exec /usr/bin/runc: cannot allocate memory",
    "netavark: unable to append rule",
    "crun: cannot set memory.max of the cgroup",
    'default OCI runtime "crun" not found: invalid argument',
    "error setting rlimit type 6: operation not permitted",
    "context deadline exceeded",
  ])("stays where the host is at fault: %s", async (refusal) => {
    const engine = new Engine();
    engine.containers.set("c", { labels: {}, refusal });
    const { start } = starting(engine);
    for (let tries = 0; tries < 5; tries++) await start();
    expect(engine.containers.has("c")).toBe(true);
  });
});

describe("a volume that cannot be mounted", () => {
  const SUPERBLOCK = "wrong fs type, bad option, bad superblock on /dev/loop1.";
  it.each([
    [".layer", SUPERBLOCK, "takes", false],
    [".layer", "failed to setup loop device for /v/web-0..layer.img.", "leaves", true],
    ["data", SUPERBLOCK, "leaves", true],
  ])("%s, for this reason: %s %s its container", async (volume, words, _, isThere) => {
    const engine = new Engine();
    engine.containers.set("c", { labels: {}, refusal: undefined });
    engine.mounts.set(volume, words);
    const { start } = starting(engine);
    for (let tries = 0; tries < 3; tries++) await start();
    expect(engine.containers.has("c")).toBe(isThere);
  });
});

describe("a container that the driver stopped itself", () => {
  it("starts at once, and after a pause where that has failed", async () => {
    const engine = new Engine();
    engine.containers.set("c", { labels: {}, refusal: MOUNT });
    const { state, unit } = stopped(engine);
    await stopContainer(state, unit);
    const images = { resolve: async () => undefined, nextTry: () => undefined } as unknown as LeaseImages;
    for (let pass = 0; pass < 5; pass++) {
      await reconcileService(state, images, planService(scriptService("app", "true")));
    }
    expect(engine.starts).toBe(1);
    expect(engine.containers.has("c")).toBe(true);
  });
});

describe("a container that is lost", () => {
  it("takes along the volumes of an earlier generation, which no other container would have", async () => {
    const engine = new Engine();
    const { state, unit } = stopped(engine);
    await replaceLost(state, unit, "it is gone");
    expect(engine.discarded).toEqual([]);
    await state.update(() => ({ ...record, spec: { ...record.spec, generation: 2 } }));
    await replaceLost(state, unit, "it is gone");
    expect(engine.discarded).toEqual(["web-0-g1"]);
  });

  it("is not said to be created again where the engine does not remove it", async () => {
    const engine = new Engine();
    engine.stuck = "cannot unmount";
    const { state, unit } = stopped(engine);
    await expect(replaceLost(state, unit, "it is gone")).rejects.toThrow("cannot unmount");
    expect(engine.events).toEqual([]);
    expect(state.historyOf(unit).restarts).toBe(0);
  });
});

describe("a container that the engine cannot describe", () => {
  const labels = (service: string) => ({
    [LABEL.namespace]: leaseNamespace(record.spec.id),
    [LABEL.service]: service,
    [LABEL.replica]: "0",
    [LABEL.generation]: "1",
  });

  /** The containers that are left after a pass. */
  async function passOver(
    refusal: string,
    damagedMs = 0,
    engine = new Engine(damagedMs),
  ): Promise<{ left: string[]; engine: Engine }> {
    engine.containers.set("c", { labels: labels("web"), refusal });
    engine.containers.set("d", { labels: labels("other"), refusal: undefined });
    const lease = new Lease(engine.context, record);
    lease.poke();
    await lease.settled();
    lease.stop();
    return { left: [...engine.containers.keys()], engine };
  }

  const GONE = 'getting graph driver info "c": stat /s/overlay/c: no such file or directory';

  it("goes where files of it are lost, and is made anew after a pause", async () => {
    const { left, engine } = await passOver(GONE);
    expect(left).toEqual(["d"]);
    expect(engine.events).toEqual(["Failed web-0: files of its container are lost; it is created again"]);
  });

  it("stays until its files were lost for as long as the driver waits", async () => {
    expect((await passOver(GONE, 60_000)).left).toEqual(["c", "d"]);
  });

  it("stays where its files were there between two such looks, or the engine was away", async () => {
    const between = [
      async (engine: Engine) => {
        for (const container of engine.containers.values()) container.refusal = undefined;
      },
      async (engine: Engine) => {
        engine.isAway = true;
      },
    ];
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (const happens of between) {
      const engine = new Engine(5_000);
      engine.containers.set("c", { labels: labels("web"), refusal: GONE });
      const lease = new Lease(engine.context, record);
      const pass = async () => {
        lease.poke();
        await lease.settled();
      };
      await pass();
      await happens(engine);
      await pass();
      vi.setSystemTime(Date.now() + 6_000);
      engine.isAway = false;
      engine.containers.set("c", { labels: labels("web"), refusal: GONE });
      await pass();
      expect([...engine.containers.keys()]).toEqual(["c"]);
      vi.setSystemTime(Date.now() + 6_000);
      await pass();
      expect([...engine.containers.keys()]).toEqual([]);
      lease.stop();
    }
  });

  it("stays where layers cannot be mounted", async () => {
    const engine = new Engine();
    engine.noMounts = "no loop device is left";
    expect((await passOver(GONE, 0, engine)).left).toEqual(["c", "d"]);
  });

  it.each(["readlink /s/overlay: invalid argument", "RWLayer of container c is unexpectedly nil", "layer not known"])(
    "goes where a file of it is empty or gone: %s",
    async (words) => {
      expect((await passOver(words)).left).toEqual(["d"]);
    },
  );

  it("stays where a disk cannot be read at the moment", async () => {
    expect((await passOver("stat /s/overlay/c: input/output error")).left).toEqual(["c", "d"]);
  });

  it("stays where the engine has another reason", async () => {
    expect((await passOver("database is locked")).left).toEqual(["c", "d"]);
  });

  it("is not ready when its process is gone", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const engine = new Engine();
    const program = spawn("sleep", ["1000"]);
    onTestFinished(() => void program.kill("SIGKILL"));
    engine.pids.set("c", program.pid ?? 0).set("d", process.pid);
    for (const [id, service] of [
      ["c", "web"],
      ["d", "other"],
    ] as const) {
      engine.containers.set(id, { labels: labels(service), refusal: undefined });
    }
    const lease = new Lease(engine.context, record);
    onTestFinished(() => lease.stop());
    lease.poke();
    await lease.settled();
    expect(lease.status().health).toBe("ok");
    for (const container of engine.containers.values()) container.refusal = "input/output error";
    program.kill("SIGKILL");
    await once(program, "exit");
    vi.advanceTimersByTime(2_000);
    await vi.waitFor(() => expect(lease.status().health).toBe("bad"));
    expect(lease.status().services.map(({ available }) => available)).toEqual([0, 1]);
  });
});
