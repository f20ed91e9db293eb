import { expect, it } from "vitest";
import { queryFailure } from "../../runtime/index.ts";
import { simulationTurns } from "./simulation-turn.ts";

function turns() {
  const clock = { now: 0 };
  const turn = simulationTurns(() => clock.now);
  const take = (ms: number) =>
    turn(() => {
      clock.now += ms;
    });
  return { clock, turn, take };
}

it("ends a simulation whose time is over before its next message", () => {
  const { clock, turn } = turns();
  let messages = 0;
  const run = () =>
    turn((checkTime) => {
      for (;;) {
        checkTime();
        messages += 1;
        clock.now += 400;
      }
    });
  expect(run).toThrow("the simulation took more than 1000 ms");
  expect(messages).toBe(3);
});

it("gives simulations a fifth of the time in the long run, whoever asks and however often", () => {
  const { clock, take } = turns();
  let taken = 0;
  let refused = 0;
  while (clock.now < 100_000) {
    try {
      take(500);
      taken += 500;
    } catch (error) {
      expect(String(error)).toContain("try again in a second");
      refused += 1;
      clock.now += 10;
    }
  }
  expect(refused).toBeGreaterThan(1_000);
  expect(taken / clock.now).toBeGreaterThan(0.15);
  expect(taken / clock.now).toBeLessThan(0.25);
});

it("reports that it is busy with a code after which clients try again", () => {
  const { take } = turns();
  take(2_000);
  let refusal: unknown;
  try {
    take(1);
  } catch (error) {
    refusal = error;
  }
  expect(queryFailure(refusal)).toMatchObject({
    info: "sdk/20",
    log: expect.stringContaining("code = ResourceExhausted desc = this node has reached its limit of simulations"),
  });
});

it("counts a simulation that failed as well, and forgives with time", () => {
  const { clock, turn, take } = turns();
  const fail = () =>
    turn(() => {
      clock.now += 2_500;
      throw new Error("failed");
    });
  expect(fail).toThrow("failed");
  expect(() => take(1)).toThrow("try again");
  clock.now += 3_000;
  expect(() => take(1)).not.toThrow();
});
