import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LogOptions } from "../../contract/index.ts";
import type { LogQuery } from "../api/api.ts";
import { EngineFailure } from "../api/failure.ts";
import type { Observed } from "../replica/observe.ts";
import { followLogs } from "./log-stream.ts";

interface Piece {
  readonly time: number;
  readonly text: string;
  readonly ends: boolean;
  readonly stream: 1 | 2;
}

const BEGUN = Date.parse("2026-01-02T03:04:05Z") / 1000;

/** A record as engines send it; one that ends no line has no line end. */
function frame({ time, text, ends, stream }: Piece): Buffer {
  const data = Buffer.from(`${new Date(time * 1000).toISOString()} ${text}${ends ? "\n" : ""}`);
  const header = Buffer.alloc(8);
  header[0] = stream;
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

/**
 * One container whose engine ends, breaks off and refuses streams on demand. Its log has whole seconds, like Podman's.
 */
class FakeEngine {
  readonly queries: Pick<LogQuery, "tail" | "since">[] = [];
  readonly #lines: Piece[] = [];
  readonly #news = new EventEmitter();
  /** Outcomes of the next calls, before the rest follow the log. */
  readonly next: ("ends" | "breaks" | "is not found")[] = [];
  running = true;

  write(second: number, ...texts: readonly string[]): void {
    for (const text of texts) this.#lines.push({ time: BEGUN + second, text, ends: true, stream: 1 });
    this.#news.emit("line");
  }

  /** Writes a piece of a line. */
  writePiece(second: number, text: string, { ends = false, stream = 1 }: Partial<Piece> = {}): void {
    this.#lines.push({ time: BEGUN + second, text, ends, stream });
    this.#news.emit("line");
  }

  /** Ends the streams that are open. */
  end(): void {
    this.#news.emit("end");
  }

  /** Ends the program, and so its streams. */
  stop(): void {
    this.running = false;
    this.end();
  }

  async logs(_id: string, { tail, since, signal, follow }: LogQuery): Promise<Readable> {
    this.queries.push({ tail, ...(since === undefined ? {} : { since: since - BEGUN }) });
    const fate = this.next.shift();
    if (fate === "is not found") throw new EngineFailure("notFound", "no such container");
    return Readable.from(this.#read({ tail, since: since ?? 0, signal, fate: fate ?? (follow ? undefined : "ends") }));
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
      for (; at < this.#lines.length; at++) {
        const piece = this.#lines[at];
        if (piece !== undefined) yield frame(piece);
      }
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

describe("following the log of a container", () => {
  let engine: FakeEngine;
  let lease: FakeLease;
  let stop: AbortController;
  let texts: string[];
  let kind: string;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    engine = new FakeEngine();
    lease = new FakeLease();
    stop = new AbortController();
    texts = [];
    kind = "docker";
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
      for await (const { message } of followLogs({ api: engine, health: { kind } }, lease, wanted)) texts.push(message);
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
    expect([texts, engine.queries]).toEqual([["one"], [{ tail: -1 }]]);
  });

  it("keeps to what was asked for until there is a line", async () => {
    engine.write(-9, "old", "older than a tail");
    engine.next.push("is not found", "breaks");
    await follow({ tail: 1, since: (BEGUN - 5) * 1000 });
    await settle(1);
    await settle(1);
    // A second more shows whether a line began before.
    expect(engine.queries.map(({ since }) => since)).toEqual(Array(engine.queries.length).fill(-6));
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

  it("joins the pieces of a line however late they come, also over a break", async () => {
    engine.writePiece(0, "Loading ... ");
    await follow();
    engine.write(0, "never mixed with it");
    engine.writePiece(1, "of the other stream ", { stream: 2 });
    engine.writePiece(2, "still ... ");
    expect(texts).toEqual([]);
    engine.next.push("breaks");
    engine.end();
    await settle(1);
    await settle(1);
    engine.writePiece(9, "done", { ends: true, stream: 2 });
    engine.write(10, "last");
    await settle();
    expect(texts).toEqual(["Loading ... never mixed with it", "of the other stream done", "still ... last"]);
  });

  it("ends a line with its program, and with no other line", async () => {
    engine.writePiece(0, "no line end");
    await follow();
    engine.stop();
    lease.observe(STOPPED);
    await settle(1);
    expect(texts).toEqual(["no line end"]);
    engine.running = true;
    lease.observe(AGAIN);
    engine.write(10, "begun again");
    await settle(1);
    expect(texts).toEqual(["no line end", "begun again"]);
  });

  it.each(["docker", "podman"])("counts lines, not pieces, for a tail of an engine like %s", async (name) => {
    kind = name;
    engine.write(0, "before");
    for (const line of ["first", "second"]) {
      for (let piece = 0; piece < 100; piece++) engine.writePiece(1, `${line}${piece} `);
      engine.write(1, "end");
    }
    engine.writePiece(2, "open ");
    await follow({ tail: 2 });
    expect(texts.map((text) => text.replace(/ .* /, " ... "))).toEqual(["first0 ... end", "second0 ... end"]);
    engine.write(3, "line");
    await settle();
    expect(texts.slice(2)).toEqual(["open line"]);
  });

  it("reads no more than the end of a log for a tail where its engine can do that", async () => {
    for (let line = 0; line < 200; line++) engine.write(line / 1000, `line ${line}`);
    await follow({ tail: 1 });
    engine.write(5, "new");
    await settle();
    expect([texts, engine.queries.map(({ tail }) => tail)]).toEqual([
      ["line 199", "new"],
      [65, -1],
    ]);
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
