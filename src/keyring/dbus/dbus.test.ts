import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callService } from "../backends/session.ts";
import { Bus, type DBusValue, sessionBusPath, Variant } from "./index.ts";
import { decodeMessage, encodeCall, messageLength } from "./message.ts";
import { DBusReader } from "./reader.ts";
import { parseSignature } from "./types.ts";
import { DBusWriter } from "./writer.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** A signature with a value of its type. */
interface Sample {
  readonly signature: string;
  readonly value: DBusValue;
}

function sample(signature: string, values: fc.Arbitrary<DBusValue>): fc.Arbitrary<Sample> {
  return values.map((value) => ({ signature, value }));
}

const text = fc.string({ unit: "grapheme", maxLength: 40 });
const basic = fc.oneof(
  sample("y", fc.integer({ min: 0, max: 255 })),
  sample("b", fc.boolean()),
  sample("n", fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })),
  sample("q", fc.integer({ min: 0, max: 2 ** 16 - 1 })),
  sample("i", fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  sample("u", fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  sample("x", fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  sample("t", fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  sample("d", fc.double({ noNaN: true })),
  sample("s", text),
  sample("o", fc.constant("/org/svc/x_2d1")),
  sample("g", fc.constant("a{sv}")),
  sample("ay", fc.uint8Array({ maxLength: 50 })),
);
const { value: anything } = fc.letrec<{ value: Sample }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    basic,
    tie("value").map(({ signature, value }) => ({ signature: "v", value: new Variant(signature, value) })),
    fc.array(tie("value"), { minLength: 1, maxLength: 4 }).map((fields) => ({
      signature: `(${fields.map((field) => field.signature).join("")})`,
      value: fields.map((field) => field.value),
    })),
    // Elements of one array have one type; an array of bytes is read as bytes.
    fc
      .tuple(
        tie("value").filter(({ signature }) => signature !== "y"),
        fc.integer({ min: 0, max: 3 }),
      )
      .map(([{ signature, value }, count]) => ({
        signature: `a${signature}`,
        value: Array.from({ length: count }, () => value),
      })),
    fc.tuple(text, tie("value")).map(([key, { signature, value }]) => ({
      signature: `a{s${signature}}`,
      value: [[key, value]],
    })),
  ),
}));

describe("values", () => {
  test("come back as they were written", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), (samples) => {
        const signature = samples.map((each) => each.signature).join("");
        const values = samples.map((each) => each.value);
        const { bytes } = new DBusWriter().writeAll(signature, values);
        expect(new DBusReader(bytes, true).readAll(signature)).toEqual(values);
      }),
    );
  });

  test("are laid out as the specification shows", () => {
    // An array of one 64 bit integer: padding after the length, which counts only the element.
    expect(hex(new DBusWriter().writeAll("ax", [[5n]]).bytes)).toBe("08000000000000000500000000000000");
    // A signature has a length of one byte and ends with a zero, like texts.
    expect(hex(new DBusWriter().writeAll("gs", ["ai", "foo"]).bytes)).toBe("0261690003000000666f6f00");
    expect(hex(new DBusWriter().writeAll("yv", [1, new Variant("u", 2)]).bytes)).toBe("010175000200" + "0000");
  });

  test("of the other byte order are read", () => {
    const bytes = Buffer.from("00000003666f6f00", "hex");
    expect(new DBusReader(bytes, false).readAll("s")).toEqual(["foo"]);
  });

  test.each(["", "z", "a", "(", "()", "(s", "{ss}x{", "a{s}", "a{sss}", "(s}", "a(".repeat(80)])(
    "a signature %j that is none is refused",
    (signature) => {
      const parse = (): unknown => (signature === "" ? parseSignature("?") : parseSignature(signature));
      expect(parse).toThrow(/D-Bus signature/);
    },
  );

  test.each([
    ["s", 5],
    ["u", "5"],
    ["x", 5],
    ["b", 1],
    ["ay", "text"],
    ["(ss)", ["one"]],
    ["v", "plain"],
  ] as const)("a value that is not of its type %j is refused", (signature, value) => {
    expect(() => new DBusWriter().writeAll(signature, [value])).toThrow(/D-Bus type/);
  });
});

describe("messages", () => {
  const call = {
    destination: "org.svc.Test",
    path: "/org/svc",
    interface: "org.svc.Test",
    member: "Echo",
    signature: "sa{sv}ay",
    body: ["hello", [["key", new Variant("i", -7)]], Uint8Array.of(1, 2, 3)],
  };

  test("are told apart in a stream, and read back", () => {
    const bytes = encodeCall(call, 9);
    expect(messageLength(bytes)).toBe(bytes.length);
    expect(messageLength(bytes.subarray(0, 15))).toBeUndefined();
    expect(decodeMessage(bytes)).toMatchObject({ type: 1, path: "/org/svc", member: "Echo", body: call.body });
  });

  test("that are damaged are refused, not followed", () => {
    const good = encodeCall(call, 1);
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const bytes = good.slice();
        bytes[at] = byte;
        try {
          const length = messageLength(bytes);
          if (length === undefined || length > bytes.length) return;
          decodeMessage(bytes.slice(0, length));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toBeInstanceOf(RangeError);
        }
      }),
    );
    expect(() => messageLength(Buffer.from("6c0100017fffffff0100000000000000", "hex"))).toThrow("too large");
  });
});

describe("address of the session bus", () => {
  test.each([
    ["unix:path=/run/user/1000/bus", "/run/user/1000/bus"],
    ["unix:path=/run/user/1000/bus,guid=0123", "/run/user/1000/bus"],
    ["unix:abstract=/tmp/dbus-xyz,guid=1", "\0/tmp/dbus-xyz"],
    ["tcp:host=localhost,port=1;unix:path=/tmp/b%20us", "/tmp/b us"],
    ["disabled:", undefined],
    ["autolaunch:", undefined],
    ["nonsense", undefined],
    ["unix:", undefined],
  ])("%s", (address, path) => {
    expect(sessionBusPath({ DBUS_SESSION_BUS_ADDRESS: address })).toBe(path);
  });

  test("is that of the systemd session where no variable says it", () => {
    const dir = mkdtempSync(join(tmpdir(), "svc-bus-"));
    expect(sessionBusPath({ XDG_RUNTIME_DIR: dir })).toBeUndefined();
    writeFileSync(join(dir, "bus"), "");
    expect(sessionBusPath({ XDG_RUNTIME_DIR: dir })).toBe(join(dir, "bus"));
    expect(sessionBusPath({})).toBeUndefined();
    rmSync(dir, { recursive: true });
  });
});

/** The answer to the first call on a connection. */
function helloReply(): Uint8Array {
  const { bytes: body } = new DBusWriter().writeAll("s", [":1.1"]);
  const fields = [
    [5, new Variant("u", 1)],
    [8, new Variant("g", "s")],
  ];
  return new DBusWriter().writeAll("yyyyuua(yv)", [0x6c, 2, 1, 1, body.length, 1, fields]).align(8).append(body).bytes;
}

describe("a bus that misbehaves", () => {
  let dir: string;
  let server: Server | undefined;
  const sockets: Socket[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "svc-bus-"));
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server?.close();
    rmSync(dir, { recursive: true });
  });

  /** A socket whose answers `answer` decides. */
  async function listen(answer: (socket: Socket, bytes: Buffer) => void): Promise<string> {
    const path = join(dir, "bus");
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => answer(socket, bytes));
    });
    await new Promise<void>((resolve) => server?.listen(path, resolve));
    return path;
  }

  test("refuses the user", async () => {
    const path = await listen((socket) => socket.write("REJECTED EXTERNAL\r\n"));
    await expect(Bus.connect(path)).rejects.toThrow("the session bus refused this user");
  });

  test("closes the connection", async () => {
    const path = await listen((socket) => socket.end());
    await expect(Bus.connect(path)).rejects.toThrow("the session bus closed the connection");
  });

  test("answers with something else", async () => {
    const path = await listen((socket, bytes) => {
      socket.write(bytes.includes("AUTH") ? "OK 1234\r\n" : "HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    await expect(Bus.connect(path)).rejects.toThrow("begins with no byte order");
  });

  test("has a service that does not answer", async () => {
    const path = await listen((socket, bytes) => {
      if (bytes.includes("AUTH")) socket.write("OK 1234\r\n");
      else if (bytes.includes("Hello")) socket.write(helloReply());
    });
    const bus = await Bus.connect(path);
    const call = { destination: "org.svc.Test", path: "/", interface: "org.svc.Test", member: "Silent" };
    await expect(bus.call(call, 20)).rejects.toThrow("no answer in 0.02 s");
    await expect(callService(bus, call, { what: "Test", timeoutMs: 20 })).rejects.toMatchObject({
      message: "Test: no answer in 0.02 s: no answer in time",
      hint: expect.stringContaining("--keyring-backend file"),
    });
    bus.close();
  });

  test("goes away during a call", async () => {
    const path = await listen((socket, bytes) => {
      if (bytes.includes("AUTH")) socket.write("OK 1234\r\n");
      else socket.destroy();
    });
    await expect(Bus.connect(path)).rejects.toThrow("the session bus is gone");
  });
});
