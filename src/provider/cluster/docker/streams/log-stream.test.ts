import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LogOptions } from "../../contract/index.ts";
import type { LogQuery } from "../api/api.ts";
import { EngineFailure } from "../api/failure.ts";
import type { Observed } from "../replica/observe.ts";
import { followLogs } from "./log-stream.ts";

const BEGUN = Date.parse("2026-01-02T03:04:05Z") / 1000;

function frame(time: number, text: string): Buffer {
  const data = Buffer.from(`${new Date(time * 1000).toISOString()} ${text}\n`);
  const header = Buffer.alloc(8);
  header[0] = 1;
  header.writeUInt32BE(data.length, 4);
  return Buffer.concat([header, data]);
}

function unit(change: Partial<Observed> = {}): Observed {
  return {
    ...{
      id: "c",
      name: "c",
      imageId: "",
      labels: {},
      status: "",
      running: true,
      pid: 1,
      exitCode: 0,
      oomKilled: false,
    },
    ...{ error: "", createdAt: 0, startedAt: BEGUN * 1000, finishedAt: "", ports: new Map(), addresses: new Map() },
    ...{ health: "", upper: undefined, imageVolumes: [] },
    ...{ service: "web", index: 0, generation: 1, config: "", readyPorts: [] },
    ...change,
  };
}

/** One container whose engine ends, breaks off and refuses streams as it is told. Its log tells whole seconds, as Podman's. */
class FakeEngine {
  readonly queries: Pick<LogQuery, "tail" | "since">[] = [];
  readonly #lines: { readonly time: number; readonly text: string }[] = [];
  readonly #news = new EventEmitter();
  /** What the next calls come to, before the rest of them follow the log. */
  readonly next: ("ends" | "breaks" | "is not found")[] = [];
  running = true;

  write(second: number, ...texts: readonly string[]): void {
    for (const text of texts) this.#lines.push({ time: BEGUN + second, text });
    this.#news.emit("line");
  }

  /** Ends the streams that are open. */
  end(): void {
    this.#news.emit("end");
  }

  /** Of the program, and so of its streams. */
  stop(): void {
    this.running = false;
    this.end();
  }

  async logs(_id: string, { tail, since, signal }: LogQuery): Promise<Readable> {
    this.queries.push({ tail, ...(since === undefined ? {} : { since: since - BEGUN }) });
    const fate = this.next.shift();
    if (fate === "is not found") throw new EngineFailure("notFound", "no such container");
    return Readable.from(this.#read({ tail, since: since ?? 0, signal, fate }));
  }

  async *#read(call: { tail: number; since: number; signal: AbortSignal | undefined; fate: string | undefined }) {
    let isOpen = this.running && call.fate === undefined;
    const ended = () => {
      isOpen = false;
      this.#news.emit("line");
    };
    this.#news.once("end", ended);
    call.signal?.addEventListener("abort", ended);
    const past = this.#lines.filter(({ time }) => time >= call.since);
    let at = this.#lines.length - (call.tail < 0 ? past.length : Math.min(call.tail, past.length));
    for (;;) {
      for (; at < this.#lines.length; at++) yield frame(this.#lines[at]?.time ?? 0, this.#lines[at]?.text ?? "");
      if (call.fate === "breaks") throw new EngineFailure("unreachable", "reset");
      if (!isOpen) return;
      await new Promise((resolve) => this.#news.once("line", resolve));
    }
  }
}

class FakeLease {
  readonly #changes = new EventEmitter();
  readonly state: { units: readonly Observed[] } = { units: [unit()] };
  stopped = false;
  seen = true;

  onChange(listener: () => void): () => void {
    this.#changes.on("change", listener);
    return () => this.#changes.off("change", listener);
  }

  observe(...units: readonly Observed[]): void {
    this.state.units = units;
    this.seen = true;
    this.#changes.emit("change");
  }
}

const AGAIN = unit({ startedAt: (BEGUN + 10) * 1000 });
const STOPPED = unit({ running: false });
const ALL = { tail: -1 };

describe("following the log of a container", () => {
  let engine: FakeEngine;
  let lease: FakeLease;
  let stop: AbortController;
  let texts: string[];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    engine = new FakeEngine();
    lease = new FakeLease();
    stop = new AbortController();
    texts = [];
  });

  afterEach(() => {
    stop.abort();
    vi.useRealTimers();
  });

  /** Everything that is under way has come to its end, and time has passed. */
  const settle = async (seconds = 0): Promise<void> => {
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
  };

  async function follow(options: Partial<LogOptions> = {}): Promise<void> {
    const wanted = { services: [], follow: true, tail: -1, signal: stop.signal, ...options };
    const read = async () => {
      for await (const { message } of followLogs({ api: engine }, lease, wanted)) texts.push(message);
    };
    void read();
    await settle();
  }

  it("goes on where the engine ends the stream of a new run because of the end of the one before", async () => {
    engine.write(0, "begun");
    await follow();
    engine.stop();
    lease.observe(STOPPED);
    await settle();
    engine.next.push("ends");
    engine.running = true;
    lease.observe(AGAIN);
    await settle();
    engine.write(10, "begun again");
    await settle(1);
    expect(texts).toEqual(["begun", "begun again"]);
    engine.end();
    engine.write(10, "later", "still later");
    await settle(1);
    expect(texts.slice(2)).toEqual(["later", "still later"]);
  });

  it("shows no line twice that a stream has shown of the next run already", async () => {
    engine.write(0, "one");
    await follow();
    engine.write(11, "two", "three");
    await settle();
    engine.end();
    lease.observe(AGAIN);
    await settle(1);
    engine.write(11, "four");
    engine.write(12, "five");
    await settle();
    expect(texts).toEqual(["one", "two", "three", "four", "five"]);
  });

  it("goes on after any failure as long as the lease has the container, and no longer", async () => {
    engine.write(0, "one");
    engine.next.push("breaks", "is not found", "is not found");
    await follow();
    await settle(1);
    await settle(1);
    engine.write(0, "two");
    await settle(1);
    expect(texts).toEqual(["one", "two"]);
    engine.next.push("is not found");
    lease.observe();
    engine.write(1, "last words");
    engine.end();
    await settle(5);
    expect(texts).toEqual(["one", "two", "last words"]);
    const { length } = engine.queries;
    await settle(60);
    expect(engine.queries).toHaveLength(length);
  });

  it("asks for nothing while the program does not run and all of its log was read", async () => {
    lease.observe(STOPPED);
    engine.stop();
    engine.write(0, "one");
    await follow();
    await settle(60);
    expect([texts, engine.queries]).toEqual([["one"], [ALL]]);
  });

  it("keeps to what was asked for until there is a line", async () => {
    engine.write(-9, "old", "older than a tail");
    engine.next.push("is not found", "breaks");
    await follow({ tail: 1, since: (BEGUN - 5) * 1000 });
    await settle(1);
    await settle(1);
    expect(engine.queries).toEqual(Array(3).fill({ tail: 1, since: -5 }));
    engine.write(1, "new");
    await settle();
    expect(texts).toEqual(["new"]);
  });

  it("shows a later start whole, whatever the tail was", async () => {
    engine.stop();
    lease.observe(STOPPED);
    await follow({ tail: 1 });
    engine.write(10, "one", "two");
    engine.running = true;
    lease.observe(AGAIN);
    await settle();
    expect(texts).toEqual(["one", "two"]);
    expect(engine.queries).toEqual([{ tail: 1 }, { tail: -1, since: 10 }]);
  });

  it("shows nothing that a tail has left out when the log is opened again", async () => {
    engine.write(0, "one", "two", "three");
    await follow({ tail: 2 });
    engine.end();
    await settle(1);
    engine.write(1, "four");
    await settle();
    expect(texts).toEqual(["two", "three", "four"]);
  });

  it("counts containers as later ones only when those before were observed", async () => {
    lease.seen = false;
    lease.state.units = [];
    engine.write(0, "one", "two");
    await follow({ tail: 1 });
    lease.observe(unit());
    await settle();
    expect(texts).toEqual(["two"]);
    lease.observe(unit(), unit({ id: "d", index: 1 }));
    await settle();
    expect(texts).toEqual(["two", "one", "two"]);
  });
});
