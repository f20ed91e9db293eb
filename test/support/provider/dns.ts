import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

const TYPES = { CNAME: 5, TXT: 16 } as const;
const NO_SUCH_NAME = 3;

/** A name server over UDP whose records a test writes, as `TXT name` or `CNAME name` (RFC 1035 section 4). */
export class TestNameServer {
  readonly records = new Map<string, readonly string[]>();
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (query, from) => socket.send(this.#answer(query), from.port, from.address));
  }

  static async start(): Promise<TestNameServer> {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new TestNameServer(socket);
  }

  /** As a resolver is named in settings. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1);
    const kind = type === TYPES.TXT ? "TXT" : type === TYPES.CNAME ? "CNAME" : "";
    const values = this.records.get(`${kind} ${labels.join(".").toLowerCase()}`) ?? [];
    const head = Buffer.from([
      0x81,
      0x80 | (values.length === 0 ? NO_SUCH_NAME : 0),
      0,
      1,
      0,
      values.length,
      0,
      0,
      0,
      0,
    ]);
    const records = values.map((value) => record(type, kind === "TXT" ? text(value) : name(value)));
    return Buffer.concat([query.subarray(0, 2), head, query.subarray(12, at + 5), ...records]);
  }
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 1, data.length >> 8, data.length & 255]);
  return Buffer.concat([head, data]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, "latin1")]);
}

function name(value: string): Buffer {
  const labels = value.split(".").map(text);
  return Buffer.concat([...labels, Buffer.from([0])]);
}
