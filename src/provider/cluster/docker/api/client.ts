import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type Modem from "docker-modem";
import { engineFailure } from "./failure.ts";

/** A call of the engine's API, without its path. */
export interface EngineCall {
  /** GET if left out. */
  readonly method?: "POST" | "DELETE";
  readonly query?: object | undefined;
  readonly body?: object;
  /** Sent in place of a body. */
  readonly file?: Readable;
  readonly signal?: AbortSignal | undefined;
}

/** Any other status is an error with the engine's words; the last one says that all is so already. */
const DONE = { 200: true, 201: true, 204: true, 304: true };

/** Calls of the engine at one address. They reject with `EngineFailure`. */
export class EngineClient {
  readonly #modem: Modem;

  private constructor(modem: Modem) {
    this.#modem = modem;
  }

  /** Makes no connection yet. With `timeout`, a call fails after so many milliseconds of silence. */
  static async open(socket: string, timeout?: number): Promise<EngineClient> {
    const { default: Client } = await import("docker-modem");
    return new EngineClient(new Client({ ...addressOf(socket), timeout }));
  }

  /**
   * The whole answer, a value where it is JSON. It is read as a stream: the library waits forever for the rest of an answer that breaks
   * off, as answers do when the engine is killed.
   */
  async value<T>(path: string, call?: EngineCall): Promise<T> {
    return (await this.stream(path, call).then(readWhole).catch(fail)) as T;
  }

  /** The answer as it comes. */
  async stream(path: string, call?: EngineCall): Promise<IncomingMessage> {
    return (await this.#dial(path, call)) as IncomingMessage;
  }

  /** A connection that goes on in both directions. */
  async talk(path: string, call?: EngineCall): Promise<NodeJS.ReadWriteStream> {
    return (await this.#dial(path, call, { hijack: true, openStdin: true })) as NodeJS.ReadWriteStream;
  }

  #dial(path: string, call: EngineCall = {}, way: Partial<Modem.DialOptions> = {}): Promise<unknown> {
    const { method = "GET", query, body = {}, file, signal } = call;
    const request = {
      ...{ path: query === undefined ? path : `${path}?`, method, file, statusCodes: DONE, isStream: true },
      options: { _query: query, _body: body },
      ...(signal === undefined ? {} : { abortSignal: signal }),
      ...way,
    };
    const answer = new Promise((resolve, reject) => {
      this.#modem.dial(request, (error, value) => (error ? reject(error) : resolve(value)));
    });
    return answer.catch(fail);
  }
}

/** Without the host of DOCKER_HOST, which the library prefers to a socket. */
function addressOf(socket: string): Modem.ConstructorOptions {
  if (!/^(tcp|http):\/\//.test(socket)) return { socketPath: socket.replace(/^unix:\/\//, ""), host: undefined };
  const url = new URL(socket.replace(/^tcp:/, "http:"));
  return { protocol: "http", host: url.hostname, port: url.port === "" ? 2375 : Number(url.port) };
}

function fail(error: unknown): never {
  throw engineFailure(error);
}

/** A value where the answer is JSON, its bytes otherwise. */
async function readWhole(stream: Readable): Promise<object> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes;
  }
}
