import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KvApplication } from "../../../../test/support/block-engine/kv-app.ts";
import { pause } from "../../../../test/support/wait.ts";
import vector from "../../../../test/vectors/abci-comet038.json" with { type: "json" };
import { memoryDatabase } from "../../../store/index.ts";
import { type LogFields, silentLogger, toUtf8 } from "../../../util/index.ts";
import {
  EngineParamsSchema,
  type Request,
  type RequestInitChain,
  RequestInitChainSchema,
  RequestSchema,
  ResponseSchema,
  VersionParamsSchema,
  VoteExtensionParamsSchema,
} from "../../../wire/gen/comet/v1/app_pb.js";
import { decodeStrictly, wireErrors } from "../../../wire/index.ts";
import { parseGenesis } from "../../genesis.ts";
import { AbciCalls } from "./calls.ts";
import { FrameReader, frameHead } from "./frames.ts";
import { MAX_CONNECTIONS } from "./limits.ts";
import { AbciServer } from "./server.ts";

const GENESIS = JSON.stringify(vector.genesis);
const LIMIT = 22_020_096 + 1024 * 1024;

let folder = "";
let server: AbciServer;
let app: KvApplication;
let faults: unknown[] = [];
let lines: string[] = [];
const sockets: Socket[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-abci-"));
  [faults, lines] = [[], []];
  app = new KvApplication(memoryDatabase());
  const genesis = parseGenesis(GENESIS);
  const recorder = { isEmpty: true, restored: () => [], begun: () => undefined, writes: () => [], committed: () => 7n };
  const calls = new AbciCalls({
    app,
    genesis,
    genesisBytes: GENESIS.length,
    params: undefined,
    recorder,
    haltHeight: 0n,
  });
  const log = (text: string, fields: LogFields = {}) => void lines.push(`${text} ${String(fields.error ?? "")}`.trim());
  const logger = { ...silentLogger, warn: log, error: log };
  server = new AbciServer({ calls, logger, onFault: (error) => void faults.push(error) });
  await server.listen({ path: socketPath() });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
  rmSync(folder, { recursive: true });
});

const socketPath = () => join(folder, "engine", "abci.sock");

/** A connection of an engine, with the answers that came. */
class Line {
  readonly socket: Socket;
  readonly answers: Uint8Array[] = [];
  isClosed = false;
  #told: () => void = () => {};

  constructor() {
    this.socket = connect(socketPath());
    sockets.push(this.socket);
    const frames = new FrameReader(() => LIMIT);
    this.socket.on("data", (chunk) => {
      this.answers.push(...frames.push(chunk));
      this.#told();
    });
    this.socket.on("error", () => undefined);
    this.socket.on("close", () => {
      this.isClosed = true;
      this.#told();
    });
  }

  send(frame: Uint8Array): void {
    this.socket.write(Buffer.concat([frameHead(frame.length), frame]));
  }

  /** The next answer; undefined when the connection ends first. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.answers.length === 0 && !this.isClosed)
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    return this.answers.shift();
  }

  async ask(value: NonNullable<MessageInitShape<typeof RequestSchema>["value"]>) {
    this.send(toBinary(RequestSchema, create(RequestSchema, { value })));
    const answer = await this.next();
    return answer && decodeStrictly(ResponseSchema, answer, wireErrors.malformed).value;
  }
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "base64"));
const recorded = vector.calls.map((call) => ({
  ...call,
  request: bytes(call.request),
  response: bytes(call.response),
}));
const callOf = (request: Uint8Array) => decodeStrictly(RequestSchema, request, wireErrors.malformed).value;

function recordedCall<K extends Request["value"]["case"]>(name: K): Extract<Request["value"], { case: K }> {
  const found = recorded.map(({ request }) => callOf(request)).find((value) => value.case === name);
  if (found === undefined) throw new Error(`no recorded ${name}`);
  return found as Extract<Request["value"], { case: K }>;
}

describe("calls recorded from CometBFT", () => {
  test("have the recorded answers, byte for byte but for events, over a kill of the engine", async () => {
    const lines = new Map<number, Line>();
    for (const { connection, request, response } of recorded) {
      // The engine that was killed has no connections any more.
      if (connection === MAX_CONNECTIONS && !lines.has(connection)) await closeAll([...lines.values()]);
      const line = lines.get(connection) ?? new Line();
      lines.set(connection, line);
      line.send(request);
      // An engine that was killed did not read its last answer.
      if (response.length > 0) expect(await line.next()).toEqual(Buffer.from(answerOf(response)));
    }
    expect(app.info().lastBlockHeight).toBe(4n);
    expect(faults).toEqual([]);
  });
});

/** The recorder names the height 7 as the lowest to keep. The engine gets no events, which it would only store. */
function answerOf(response: Uint8Array): Uint8Array {
  const { value } = decodeStrictly(ResponseSchema, response, wireErrors.malformed);
  if (value.case === "commit") value.value.retainHeight = 7n;
  if (value.case === "checkTx" || value.case === "finalizeBlock") value.value.events = [];
  if (value.case === "finalizeBlock") for (const result of value.value.txResults) result.events = [];
  return toBinary(ResponseSchema, create(ResponseSchema, { value }));
}

async function closeAll(lines: readonly Line[]): Promise<void> {
  for (const { socket } of lines) socket.destroy();
  await pause(50);
}

describe("a stream of", () => {
  const hostile: readonly (readonly [string, Uint8Array, string])[] = [
    ["a frame of length 0", Uint8Array.of(0), "the length of a frame is malformed"],
    ["a frame of 2 GB", frameHead(2 ** 31), `a frame of 2147483648 bytes is longer than ${LIMIT}`],
    ["a frame one byte too long", frameHead(LIMIT + 1), `a frame of ${LIMIT + 1} bytes is longer than ${LIMIT}`],
    ["a length without end", new Uint8Array(6).fill(0xff), "the length of a frame is malformed"],
    ["a length that is not the shortest", Uint8Array.of(0x81, 0x00, 0x00), "the length of a frame is malformed"],
    ["a field that no request has", Uint8Array.of(3, 0xfa, 0x06, 0), "Request"],
    ["a message cut short", Uint8Array.of(2, 0x1a, 9), "malformed"],
    ["a wrong wire type", Uint8Array.of(2, 0x18, 1), "malformed protobuf"],
  ];

  test.each(hostile)("%s ends the connection with one line in the log", async (_, frame, reason) => {
    const [line, other] = [new Line(), new Line()];
    line.socket.write(frame);
    expect(await line.next()).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining(reason)]);
    expect(await other.ask({ case: "echo", value: { message: "still here" } })).toMatchObject({
      case: "echo",
      value: { message: "still here" },
    });
    expect(faults).toEqual([]);
  });

  test("requests that is cut at any byte has the same answers, and one that ends there changes nothing", async () => {
    const request = recordedCall("checkTx");
    const frame = toBinary(RequestSchema, create(RequestSchema, { value: request }));
    const whole = Buffer.concat([frameHead(frame.length), frame]);
    const begun = new Line();
    await begun.ask(recordedCall("initChain"));
    for (let at = 1; at < whole.length; at++) {
      const line = new Line();
      line.socket.write(whole.subarray(0, at));
      await pause(2);
      if (at % 2 === 0) line.socket.destroy();
      else line.socket.write(whole.subarray(at));
      if (at % 2 === 1) expect(await line.next()).toBeDefined();
      await closeAll([line]);
    }
    expect(faults).toEqual([]);
  });

  test("an engine that reads nothing is not read on, and others are answered", async () => {
    const [deaf, other] = [new Line(), new Line()];
    deaf.socket.pause();
    const message = "x".repeat(1_000_000);
    const frame = toBinary(RequestSchema, create(RequestSchema, { value: { case: "echo", value: { message } } }));
    let waits = false;
    for (let i = 0; i < 60; i++) waits = !deaf.socket.write(Buffer.concat([frameHead(frame.length), frame]));
    await pause(200);
    expect(waits).toBe(true);
    expect(deaf.socket.writableLength).toBeGreaterThan(20_000_000);
    expect(await other.ask({ case: "flush", value: {} })).toMatchObject({ case: "flush" });
  });
});

describe("an engine", () => {
  const refused = (text: string) => ({ case: "exception", value: { error: expect.stringContaining(text) } });

  test("reaches the application through a socket of this user alone", () => {
    expect(statSync(socketPath()).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(socketPath())).mode & 0o777).toBe(0o700);
  });

  test("has four connections; a second engine is refused until they end", async () => {
    const first = Array.from({ length: MAX_CONNECTIONS }, () => new Line());
    for (const line of first) await line.ask({ case: "flush", value: {} });
    expect(await new Line().ask({ case: "flush", value: {} })).toBeUndefined();
    expect(lines).toEqual(["a second engine is refused: the first one has all connections"]);
    await closeAll(first);
    expect(await new Line().ask({ case: "flush", value: {} })).toMatchObject({ case: "flush" });
  });

  test("that calls out of order is refused, and the chain goes on", async () => {
    const line = new Line();
    const [init, block, propose] = [
      recordedCall("initChain"),
      recordedCall("finalizeBlock"),
      recordedCall("prepareProposal"),
    ];
    const check = { case: "checkTx" as const, value: { tx: toUtf8("a=1") } };
    for (const early of [block, propose, check]) expect(await line.ask(early)).toMatchObject(refused("not begun"));
    expect(await line.ask({ case: "commit", value: {} })).toMatchObject(refused("no finalized block"));
    expect(await line.ask(init)).toMatchObject({ case: "initChain" });
    for (const height of [0n, 2n, 9n, -1n])
      expect(await line.ask({ ...block, value: { ...block.value, height } })).toMatchObject(
        refused("where block 1 is next"),
      );
    expect(await line.ask(block)).toMatchObject({ case: "finalizeBlock" });
    expect(await line.ask(block)).toMatchObject({ case: "finalizeBlock" });
    expect(await line.ask({ case: "commit", value: {} })).toMatchObject({ case: "commit" });
    expect(await line.ask({ case: "commit", value: {} })).toMatchObject(refused("no finalized block"));
    expect(await line.ask(init)).toMatchObject(refused("begun already"));
    expect(await line.ask(block)).toMatchObject(refused("block 1 comes where block 2 is next"));
    expect(app.info().lastBlockHeight).toBe(1n);
    expect(faults).toEqual([]);
  });

  const others: readonly (readonly [Partial<RequestInitChain>, string])[] = [
    [{ chainId: "kv-2" }, "is not the one of this home"],
    [{ initialHeight: 2n }, "is not the one of this home"],
    [{ time: create(TimestampSchema, { seconds: 1n }) }, "is not the one of this home"],
    [{ validators: [] }, "is not the one of this home"],
    [{ consensusParams: create(EngineParamsSchema) }, "incomplete"],
  ];

  test.each(others)("of another chain, with %o, is refused", async (other, reason) => {
    const { value } = recordedCall("initChain");
    const request = create(RequestInitChainSchema, { ...value, ...other });
    expect(await new Line().ask({ case: "initChain", value: request })).toMatchObject(refused(reason));
  });

  test.each([
    [
      { abci: create(VoteExtensionParamsSchema, { voteExtensionsEnableHeight: 5n }) },
      "vote extensions are not supported",
    ],
    [{ version: create(VersionParamsSchema, { app: 1n }) }, "the version of the application must be 0"],
  ])("with parameters %o is refused", async (more, reason) => {
    const { value } = recordedCall("initChain");
    const { $typeName: _, ...params } = value.consensusParams ?? create(EngineParamsSchema);
    const consensusParams = create(EngineParamsSchema, { ...params, ...more });
    expect(await new Line().ask({ case: "initChain", value: { ...value, consensusParams } })).toMatchObject(
      refused(reason),
    );
  });

  test("gets empty vote extensions, all of which are accepted", async () => {
    const line = new Line();
    expect(await line.ask({ case: "extendVote", value: {} })).toMatchObject({
      value: { voteExtension: new Uint8Array() },
    });
    expect(await line.ask({ case: "verifyVoteExtension", value: {} })).toMatchObject({ value: { status: 1 } });
  });

  test("has a block executed that the application refused as a proposal: it was decided", async () => {
    const line = new Line();
    app.processProposal = () => false;
    await line.ask(recordedCall("initChain"));
    const block = recordedCall("finalizeBlock");
    expect(await line.ask(recordedCall("processProposal"))).toMatchObject({ value: { status: 2 } });
    expect(await line.ask(block)).toMatchObject({ case: "finalizeBlock" });
    expect(await line.ask({ case: "commit", value: {} })).toMatchObject({ value: { retainHeight: 7n } });
  });

  test("learns nothing more from an application that fails: the node ends", async () => {
    const line = new Line();
    app.finalizeBlock = () => {
      throw new Error("the disk is gone");
    };
    await line.ask(recordedCall("initChain"));
    expect(await line.ask(recordedCall("finalizeBlock"))).toBeUndefined();
    expect(faults).toEqual([new Error("the disk is gone")]);
  });
});
