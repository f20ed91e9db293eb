import { connect, type Socket } from "node:net";
import { concatBytes, errorText, type SvcError } from "../../util/index.ts";
import { ledgerErrors } from "./errors.ts";
import { type ExchangeOptions, type LedgerTransport, MAX_ANSWER } from "./transport.ts";

const LENGTH_SIZE = 4;
const STATUS_LENGTH = 2;
const CONNECT_MS = 5_000;

/** Connects to an emulator that takes commands over TCP, as Speculos does at port 9999. */
export function openSpeculosTcp(url: URL): Promise<LedgerTransport> {
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port) });
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void => {
      socket.destroy();
      reject(ledgerErrors.notFound(`${url.host}: ${reason}`, { hint: "start the emulator, or name its port", cause }));
    };
    socket.setTimeout(CONNECT_MS, () => fail("no answer"));
    socket.once("error", (error) => fail(errorText(error), error));
    socket.once("connect", () => {
      socket.setTimeout(0).removeAllListeners();
      resolve(new TcpTransport(socket));
    });
  });
}

/** A command that waits for its answer. */
interface Waiting {
  resolve(answer: Uint8Array): void;
  reject(error: SvcError): void;
}

/**
 * Length of the command in four bytes (big endian) and the command; back come the length of the data, the data, and the
 * two bytes of the status, which the length does not count.
 */
class TcpTransport implements LedgerTransport {
  readonly #socket: Socket;
  #received: Uint8Array = new Uint8Array();
  #waiting: Waiting | undefined;
  #isLost = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => this.#lose());
  }

  exchange(apdu: Uint8Array, { timeoutMs }: ExchangeOptions = {}): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
      };
      const end = (error: SvcError): void => {
        settle();
        reject(error);
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => end(ledgerErrors.silent()), timeoutMs);
      this.#waiting = {
        resolve(answer) {
          settle();
          resolve(answer);
        },
        reject: end,
      };
      if (this.#isLost) this.#lose();
      else this.#socket.write(withLength(apdu));
    });
  }

  async close(): Promise<void> {
    this.#socket.destroy();
  }

  #take(chunk: Uint8Array): void {
    this.#received = concatBytes(this.#received, chunk);
    if (this.#received.length < LENGTH_SIZE) return;
    const length = Buffer.from(this.#received).readUInt32BE(0);
    if (length > MAX_ANSWER) {
      this.#waiting?.reject(ledgerErrors.badAnswer(`${length} bytes`));
      return;
    }
    const end = LENGTH_SIZE + length + STATUS_LENGTH;
    if (this.#received.length < end) return;
    const answer = this.#received.subarray(LENGTH_SIZE, end);
    this.#received = this.#received.subarray(end);
    this.#waiting?.resolve(answer);
  }

  #lose(): void {
    this.#isLost = true;
    this.#waiting?.reject(ledgerErrors.disconnected());
  }
}

function withLength(apdu: Uint8Array): Uint8Array {
  const length = Buffer.alloc(LENGTH_SIZE);
  length.writeUInt32BE(apdu.length);
  return concatBytes(length, apdu);
}
