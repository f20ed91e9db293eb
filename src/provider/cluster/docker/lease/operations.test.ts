import { describe, expect, it } from "vitest";
import { sampleService, sampleSpec, scriptService } from "../../../../../test/support/conformance/index.ts";
import { silentLogger, Turns } from "../../../../util/index.ts";
import { leaseNamespace } from "../../contract/index.ts";
import { EngineFailure } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { LABEL, Naming } from "../labels.ts";
import { settingsOf } from "../options.ts";
import type { Observed } from "../replica/observe.ts";
import { planService } from "../replica/plan.ts";
import { Lease } from "./lease.ts";
import { startContainer } from "./operations.ts";
import { LeaseState } from "./state.ts";

const MOUNT = "mounting storage for container c: creating overlay mount to /s/merged: no such file or directory";
const BACKOFF = { first: 1_000, initial: 2_000, max: 4_000, resetAfter: 600_000 };

/** An engine that keeps containers by their ids, refuses calls about them with these words, and has nothing else. */
class Engine {
  readonly containers = new Map<string, { labels: Record<string, string>; refusal: string | undefined }>();
  readonly events: string[] = [];
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
      // Volumes are mounted and never removed.
      volumes: { ensure: async () => "", unavailable: async () => undefined, mountLease: async () => {} },
      host: { hide: (text: string) => text },
      events: {
        add: (_: string, { reason, note }: { reason: string; note: string }) => this.events.push(`${reason} ${note}`),
      },
      moved: quiet,
    };
    return given as unknown as DriverContext;
  }

  async start(id: string): Promise<void> {
    this.#look(id);
  }

  async inspect(id: string): Promise<object> {
    this.#look(id);
    return { id, pid: 0, ports: new Map(), addresses: new Map() };
  }

  async remove(id: string): Promise<void> {
    this.containers.delete(id);
  }

  async listContainers(): Promise<object[]> {
    return [...this.containers].map(([id, { labels }]) => ({ id, labels }));
  }

  /** Podman looks at all containers of a network. */
  async inspectNetwork(): Promise<never> {
    for (const id of this.containers.keys()) this.#look(id);
    throw new EngineFailure("refused", "the rest of this pass");
  }

  #look(id: string): void {
    const known = this.containers.get(id);
    if (known === undefined) throw new EngineFailure("notFound", "no such container");
    if (known.refusal !== undefined) throw new EngineFailure("refused", known.refusal);
  }
}

const record = {
  spec: sampleSpec([scriptService("app", "true"), sampleService("app", { name: "other" })]),
  images: {},
  earlier: [],
  failed: {},
  closing: false,
};

/** Starts container `c` once more. */
function starting(engine: Engine): { start: () => Promise<void> } {
  const state = new LeaseState(engine.context, record);
  const unit = { id: "c", service: "web", index: 0, config: "", labels: {}, createdAt: 0 } as unknown as Observed;
  const history = state.historyOf(unit);
  const plan = planService(scriptService("app", "true"));
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

describe("a container that the engine cannot describe", () => {
  const labels = (service: string) => ({
    [LABEL.namespace]: leaseNamespace(record.spec.id),
    [LABEL.service]: service,
    [LABEL.replica]: "0",
    [LABEL.generation]: "1",
  });

  /** The containers that are left after a pass. */
  async function passOver(refusal: string, damagedMs = 0): Promise<{ left: string[]; engine: Engine }> {
    const engine = new Engine(damagedMs);
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

  it("stays where a disk cannot be read at the moment", async () => {
    expect((await passOver("stat /s/overlay/c: input/output error")).left).toEqual(["c", "d"]);
  });

  it("stays where the engine has another reason", async () => {
    expect((await passOver("database is locked")).left).toEqual(["c", "d"]);
  });
});
