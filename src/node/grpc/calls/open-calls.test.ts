import { EventEmitter } from "node:events";
import { expect, it, vi } from "vitest";
import { MAX_ENDED_CALLS, MAX_OPEN_CALLS } from "../limits.ts";
import { OpenCalls } from "./open-calls.ts";
import type { AnswerStream } from "./reader.ts";

function connection(remoteAddress = "10.0.0.1") {
  const session = { destroy: vi.fn(), socket: { remoteAddress } };
  const close = vi.fn();
  const call = () => Object.assign(new EventEmitter(), { session, close }) as unknown as AnswerStream;
  return { session, close, call };
}

it("ends the oldest call where there are too many, and a connection whose calls fill the room", () => {
  const [flood, other] = [connection(), connection()];
  const calls = new OpenCalls();
  calls.begin(other.call(), false);
  for (let i = 1; i < MAX_OPEN_CALLS; i++) calls.begin(flood.call(), false);
  expect([flood.close.mock.calls.length, other.close.mock.calls.length]).toEqual([0, 0]);
  for (let i = 0; i <= MAX_ENDED_CALLS; i++) calls.begin(flood.call(), false);
  expect([flood.close.mock.calls.length, other.close.mock.calls.length]).toEqual([MAX_ENDED_CALLS, 1]);
  expect(flood.session.destroy).not.toHaveBeenCalled();
  calls.begin(other.call(), false);
  expect(flood.session.destroy).toHaveBeenCalledOnce();
  expect(other.session.destroy).not.toHaveBeenCalled();
  calls.close();
});

it("ends no call of others to make room for a client with more", () => {
  const [other, flood] = [connection("10.0.0.2"), connection()];
  const calls = new OpenCalls();
  calls.begin(other.call(), false);
  calls.begin(other.call(), false);
  for (let i = 0; i < MAX_OPEN_CALLS; i++) calls.begin(flood.call(), false);
  expect([flood.close.mock.calls.length, other.close.mock.calls.length]).toEqual([2, 0]);
  calls.begin(other.call(), false);
  expect([flood.close.mock.calls.length, other.close.mock.calls.length]).toEqual([3, 0]);
  calls.close();
});
