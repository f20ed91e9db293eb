import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { type EndingProcess, SUPERVISED, stopRequested } from "./signals.ts";

/** A process whose signals are sent by hand; its end is an error with the exit code. */
class ProcessDouble extends EventEmitter implements EndingProcess {
  readonly env: NodeJS.ProcessEnv = {};
  connected = true;

  disconnect(): void {
    this.connected = false;
  }

  exit(code: number): never {
    throw new Error(`exit ${code}`);
  }
}

test.each(["SIGINT", "SIGTERM"] as const)("%s is a wish to end", async (signal) => {
  const own = new ProcessDouble();
  const wish = stopRequested(() => {}, own);
  own.emit(signal);
  expect(await wish.received).toBe(signal);
});

test("a second Ctrl-C ends at once, a repeated request of a service manager does not", () => {
  const own = new ProcessDouble();
  stopRequested(() => {}, own);
  for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"]) own.emit(signal);
  expect(() => own.emit("SIGINT")).toThrow("exit 130");
});

test("nothing is listened to once it is forgotten", () => {
  const own = new ProcessDouble();
  own.env[SUPERVISED] = "1";
  const wish = stopRequested(() => {}, own);
  expect(own.eventNames()).toEqual(["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]);
  wish.forget();
  expect({ listened: own.eventNames(), connected: own.connected }).toEqual({ listened: [], connected: false });
});

test("a second Ctrl-C says first what stays", () => {
  const own = new ProcessDouble();
  const said: string[] = [];
  stopRequested(() => said.push("stays"), own);
  own.emit("SIGINT");
  expect(said).toEqual([]);
  expect(() => own.emit("SIGINT")).toThrow("exit 130");
  expect(said).toEqual(["stays"]);
});

test("a process whose starter has gone before it listens ends, too", async () => {
  const own = new ProcessDouble();
  own.env[SUPERVISED] = "1";
  own.connected = false;
  expect(await stopRequested(() => {}, own).received).toBe("disconnect");
});
