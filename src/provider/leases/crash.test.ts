import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settle } from "../../../test/support/provider/clock.ts";
import { onChain, type SampleOptions, sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { LeaseHarness, leaseOf, TENANT } from "../../../test/support/provider/leases.ts";
import { Mortal } from "../../../test/support/provider/mortal.ts";
import { formatLeaseId } from "../../wire/index.ts";

const ID = leaseOf(1n);
const HOSTS = ["shop.example.com"];
const FIRST: SampleOptions = { hosts: HOSTS, nodePorts: [9000], count: 2 };
const SECOND: SampleOptions = { ...FIRST, env: ["A=b"] };
/** More than any life of the lease takes, so that a run without an end fails. */
const MOST_STEPS = 400;
const PATIENCE = 200;

/** The life of a lease at a daemon that is killed at one step, and again at another after its restart. */
class Life {
  readonly world: LeaseHarness;
  mortal: Mortal;
  readonly #again: number;
  readonly deaths: string[] = [];

  constructor(steps: number, again: number) {
    this.mortal = new Mortal(steps);
    this.#again = again;
    this.world = new LeaseHarness({ through: (part) => this.mortal.through(part) });
  }

  /** Starts the daemon again as often as it has died. */
  async #revive(): Promise<void> {
    while (this.mortal.isDead) {
      this.deaths.push(this.mortal.step);
      this.mortal = new Mortal(this.deaths.length === 1 ? this.#again : Number.POSITIVE_INFINITY);
      await Promise.race([this.world.crash(), this.mortal.died]);
    }
  }

  /** Time goes on, with a daemon that is started whenever it is gone, until the condition holds. */
  async until(what: string, condition: () => boolean): Promise<void> {
    for (let i = 0; i < PATIENCE; i++) {
      await this.#revive();
      if (condition()) return;
      await this.world.pass(5_000);
    }
    throw new Error(`${what}: not after ${this.deaths.join(", then ")}`);
  }

  /** The tenant sends the manifest until it is told that it was taken. */
  async send(options: SampleOptions): Promise<void> {
    const { manifest } = sampleDeployment(options);
    let isTaken = false;
    await this.until("manifest taken", () => {
      if (isTaken) return true;
      void this.world.service.manifestReceived(TENANT, 1n, manifest).then(
        () => {
          isTaken = true;
        },
        () => {},
      );
      return false;
    });
  }

  /** Environment of the running services; undefined unless all run. */
  running(): readonly string[] | undefined {
    const [lease, ...more] = this.world.cluster.leases.values();
    expect(more).toEqual([]);
    const record = this.world.service.find(ID);
    if (record?.phase !== "running") return undefined;
    return lease?.spec.group.services[0]?.env ?? [];
  }
}

/** Returns the step of each death; none if the lease's life was over before. */
async function live(steps: number, again: number, isAwayAtEnd: boolean): Promise<readonly string[]> {
  const life = new Life(steps, again);
  const { world } = life;
  try {
    await Promise.race([world.service.start(), life.mortal.died]);
    world.chain.win(ID, onChain(sampleDeployment(FIRST)));
    if (!life.mortal.isDead) world.service.leaseWon(ID);
    await life.send(FIRST);
    await life.until("first version running", () => life.running()?.includes("A=b") === false);
    const before = world.service.find(ID);
    expect(before?.ports).toHaveLength(1);
    world.chain.win(ID, onChain(sampleDeployment(SECOND)));
    await life.send(SECOND);
    await life.until("second version running", () => life.running()?.includes("A=b") === true);
    expect(world.service.find(ID)?.ports).toEqual(before?.ports);
    // So far the lease was in force: nothing may have been removed or given up.
    expect([world.closed, world.gone]).toEqual([[], []]);
    expect(world.ingress.routes.hosts()).toContain(HOSTS[0]);
    world.chain.end(ID);
    if (isAwayAtEnd) life.mortal.kill("the end of the lease");
    if (!life.mortal.isDead) void world.service.leaseClosed(ID, 9n);
    await life.until("lease gone", () => world.service.find(ID) === undefined && world.cluster.leases.size === 0);
    await settle();
    expect(await world.driver.adopt()).toEqual([]);
    expect(world.ingress.routes.hosts()).toEqual([]);
    expect(readdirSync(join(world.folder, "leases"))).toEqual([]);
    expect(world.closed).toEqual([]);
    expect(new Set(world.gone.map(formatLeaseId)).size).toBeLessThanOrEqual(1);
    return life.deaths;
  } catch (error) {
    throw new Error(`killed ${life.deaths.join(", then ")} (${steps}, ${again})`, { cause: error });
  } finally {
    if (life.mortal.isDead) await world.crash();
    await world.close();
  }
}

test("a daemon killed between any two steps of a lease's life loses nothing, doubles nothing and leaves nothing", async () => {
  const seen = new Set<string>();
  for (let steps = 0; ; steps++) {
    expect(steps).toBeLessThan(MOST_STEPS);
    // A daemon that hears of the end of the lease, and one that is away when its block comes.
    const deaths = await live(steps, steps % 7, false);
    for (const death of [...deaths, ...(await live(steps, steps % 5, true))]) seen.add(death);
    if (deaths.length === 0) break;
  }
  // Each call was hit on both sides.
  for (const call of ["check", "deploy", "teardown", "adopt", "assign", "deployment", "activeLeases"]) {
    expect([...seen]).toEqual(expect.arrayContaining([`before ${call}`, `after ${call}`]));
  }
});
