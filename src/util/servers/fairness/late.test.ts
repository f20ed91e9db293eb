import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { refuseLate } from "./late.ts";
import { ENOUGH_TURNS, LATE_LOOK_MS } from "./limits.ts";
import type { HandledSocket } from "./reading.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A late request of a connection whose turns the test gives. */
function late(isWaiting: boolean) {
  const state = { isWaiting, turns: 7, isOver: false, refused: 0 };
  refuseLate({
    socket: {} as HandledSocket,
    reading: { isWaiting: () => state.isWaiting, turnsOf: () => state.turns },
    isOver: () => state.isOver,
    refuse: () => {
      state.refused += 1;
    },
  });
  return state;
}

const aWhile = () => vi.advanceTimersByTimeAsync(10 * LATE_LOOK_MS);

it("refuses at once a request of a connection that is read", () => {
  expect(late(false).refused).toBe(1);
});

it("refuses none of a connection that waits to be read, until that was read", async () => {
  const state = late(true);
  await aWhile();
  state.turns += ENOUGH_TURNS - 1;
  await aWhile();
  expect(state.refused).toBe(0);
  state.isWaiting = false;
  await aWhile();
  expect(state.refused).toBe(1);
});

it("refuses one of a connection that has had its turns and waits again", async () => {
  const state = late(true);
  state.turns += ENOUGH_TURNS;
  await aWhile();
  expect(state.refused).toBe(1);
});

it("refuses none that has come after all, in the turn that has just begun too", async () => {
  const [before, during] = [late(true), late(true)];
  before.isOver = true;
  during.isWaiting = false;
  vi.advanceTimersByTime(LATE_LOOK_MS);
  during.isOver = true;
  await aWhile();
  expect([before.refused, during.refused]).toEqual([0, 0]);
});
