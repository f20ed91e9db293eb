import { expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/support/provider/clock.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { HOST_LIMITS, HostOwnership, type HostProver, HostRegistry } from "./index.ts";

/** Many accounts whose name servers never answer, and one whose do. */

const OWNERS = 100n;
const HONEST = "svc1honest";
const order = (owner: string): LeaseKey => ({ owner, dseq: 1n, gseq: 1, oseq: 1, provider: "svc1p" });
const names = (owner: string) => Array.from({ length: HOST_LIMITS.perLease }, (_, at) => `n${at}.${owner}.example.org`);

interface Siege {
  readonly ownership: HostOwnership;
  readonly clock: ManualClock;
  /** Questions that are waited for, and the most there were at once. */
  readonly open: { now: number; most: number };
}

/** Name servers of owners other than the honest one keep silent until the limit of the prover. */
function siege(): Siege {
  const clock = new ManualClock();
  const open = { now: 0, most: 0 };
  const prover: HostProver = {
    async prove(_, owner) {
      open.now += 1;
      open.most = Math.max(open.most, open.now);
      const answered = owner === HONEST ? Promise.resolve() : silence(clock);
      await answered;
      open.now -= 1;
      return owner === HONEST ? "yes" : "unknown";
    },
  };
  const aliasOf = () => undefined;
  const ownership = new HostOwnership({ registry: new HostRegistry(), prover, clock, aliasOf, onLost: () => {} });
  return { ownership, clock, open };
}

function silence(clock: ManualClock): Promise<void> {
  return new Promise((resolve) => void clock.after(HOST_LIMITS.proofMs, resolve));
}

/** Each asks again as soon as he was refused. */
async function askForever(ownership: HostOwnership, owner: string): Promise<never> {
  for (;;) {
    await ownership.check(order(owner), names(owner)).catch(() => {});
    await settle();
  }
}

/** Seconds of the clock until the honest owner has his answer. */
async function secondsUntilAnswer({ ownership, clock }: Siege): Promise<number> {
  let answered = false;
  const asked = ownership.check(order(HONEST), ["www.example.org"]).then(() => {
    answered = true;
  });
  for (let second = 0; second < 1_000; second++) {
    await settle();
    if (answered) return asked.then(() => second);
    await clock.advance(1_000);
  }
  return Number.POSITIVE_INFINITY;
}

it("keeps nobody waiting for the silence of many others, not even at their first question", async () => {
  const { ownership, clock, open } = siege();
  for (let at = 0n; at < OWNERS; at++) void askForever(ownership, `svc1silent${at}`);
  await settle();
  expect(await secondsUntilAnswer({ ownership, clock, open })).toBeLessThanOrEqual(1);
  await clock.advance(60_000);
  expect(await secondsUntilAnswer({ ownership, clock, open })).toBeLessThanOrEqual(1);
  expect(open.most).toBeLessThanOrEqual(HOST_LIMITS.lookups);
});

it("waits for a slow server as long as for any, where few are slow", async () => {
  const clock = new ManualClock();
  const prover: HostProver = {
    prove: () => new Promise((resolve) => void clock.after(HOST_LIMITS.proofMs - 1, () => resolve("yes"))),
  };
  const aliasOf = () => undefined;
  const ownership = new HostOwnership({ registry: new HostRegistry(), prover, clock, aliasOf, onLost: () => {} });
  const checked = ownership.check(order("svc1slow"), ["www.example.org"]);
  await clock.advance(HOST_LIMITS.proofMs);
  await checked;
});
