import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import type { Labels } from "../labels.ts";
import {
  type ContainerState,
  checkedLog,
  containerState,
  type EngineInfo,
  type EngineName,
  engineInfo,
  engineName,
  type ImageProgram,
  type NetworkState,
  networkState,
  readProgress,
  versionName,
} from "./answers.ts";
import { EngineFailure, engineFailure } from "./failure.ts";

type Dial = Docker["modem"]["dial"];

export interface LogQuery {
  readonly follow: boolean;
  /** Lines from the end, -1 for all. */
  readonly tail: number;
  /** Seconds since the epoch. */
  readonly since?: number;
  readonly signal?: AbortSignal;
}

export interface ExecHandle {
  readonly stream: NodeJS.ReadWriteStream;
  inspect(): Promise<ExecState>;
  resize(width: number, height: number): Promise<void>;
}

/** A container with its labels. */
export interface LabelledContainer {
  readonly id: string;
  readonly labels: Labels;
}

type ListedContainer = Pick<Docker.ContainerInfo, "Id" | "Labels">;

export interface ExecState {
  /** False while the engine still starts it. */
  readonly begun: boolean;
  readonly running: boolean;
  readonly exitCode: number;
  readonly pid: number;
}

/** Type of the engine's container event. */
export interface ContainerEvent {
  readonly id: string;
  readonly action: string;
  readonly labels: Labels;
}

/** Milliseconds of silence after which a call fails. An engine may hang with one container, and no lease waits forever. */
export interface EnginePatience {
  /** Timeout of a call that only reads. */
  readonly call: number;
  /** Timeout of a call that creates, starts, stops or removes. */
  readonly work: number;
}

/** Podman asks the system's packages for its answer: half a second of a core. */
const INFO_MS = 60_000;

/**
 * The calls of the Docker-compatible API that the driver makes, with typed answers and sorted errors
 * (`EngineFailure`). The client library is loaded with the first connection only.
 */
export class EngineApi {
  readonly #calls: Docker;
  readonly #works: Docker;
  readonly #streams: Docker;
  #info: { readonly answer: Promise<EngineInfo>; readonly until: number } | undefined;

  private constructor(calls: Docker, works: Docker, streams: Docker) {
    this.#calls = calls;
    this.#works = works;
    this.#streams = streams;
  }

  /** Makes no connection yet. */
  static async open(socket: string, { call, work }: EnginePatience): Promise<EngineApi> {
    const address = addressOf(socket);
    return new EngineApi(await openClient(address, call), await openClient(address, work), await openClient(address));
  }

  /** Which engine answers now. */
  async ping(): Promise<EngineName> {
    const answer = await dial(this.#calls.modem, { path: "/_ping", statusCodes: { 200: true, 500: "server error" } });
    answer.resume();
    return engineName(answer.headers) ?? versionName(await guard(this.#calls.version()));
  }

  /** At most a minute old, where the last one was no failure; `ping` tells whether the engine answers now. */
  info(): Promise<EngineInfo> {
    if (this.#info === undefined || performance.now() > this.#info.until) {
      const answer = guard(this.#calls.info()).then(engineInfo);
      this.#info = { answer, until: performance.now() + INFO_MS };
      answer.catch(() => this.forgetInfo());
    }
    return this.#info.answer;
  }

  /** Another engine may answer from now on. */
  forgetInfo(): void {
    this.#info = undefined;
  }

  /** Ids and labels of the containers that carry all the labels, stopped ones included. */
  listContainers(labels: Labels): Promise<LabelledContainer[]> {
    return this.#list(labelFilter(labels));
  }

  /** The same of the containers that carry the label with whatever value. */
  listLabelled(label: string): Promise<LabelledContainer[]> {
    return this.#list([label]);
  }

  async #list(label: string[]): Promise<LabelledContainer[]> {
    const filters = { label };
    const list = await guard(this.#calls.listContainers({ all: true, filters })).catch((error) =>
      this.#ownList(filters, error),
    );
    return list.map(({ Id: id, Labels: labels }) => ({ id, labels: labels ?? {} }));
  }

  /** Podman refuses the list where it cannot describe one container of it; its own API still names them all. */
  async #ownList(filters: object, refusal: EngineFailure): Promise<readonly ListedContainer[]> {
    if (refusal.kind !== "refused") throw refusal;
    const request = {
      path: "/v4.0.0/libpod/containers/json?",
      statusCodes: { 200: true, 404: "no such call", 500: "server error" },
      options: { all: true, filters },
    };
    const answer = await dial(this.#calls.modem, request).then(readWhole, () => undefined);
    if (!Array.isArray(answer)) throw refusal;
    return answer;
  }

  async inspect(id: string, options: { readonly size?: boolean } = {}): Promise<ContainerState> {
    // The library's types do not know `size`, which asks for the size of the writable layer.
    const query: { size?: boolean; abortSignal?: AbortSignal } = options.size === true ? { size: true } : {};
    return containerState(await guard(this.#calls.getContainer(id).inspect(query)));
  }

  async create(options: Docker.ContainerCreateOptions): Promise<string> {
    return (await guard(this.#works.createContainer(options))).id;
  }

  async start(id: string): Promise<void> {
    await guard(this.#works.getContainer(id).start());
  }

  /** TERM, then KILL after the grace (seconds). Stopping a stopped container is not an error. */
  async stop(id: string, grace: number): Promise<void> {
    await guard(this.#works.getContainer(id).stop({ t: grace })).catch(ignoreStatus(304));
  }

  /** Removes the container and its anonymous volumes, killing it where it still runs. */
  async remove(id: string): Promise<void> {
    await guard(this.#works.getContainer(id).remove({ force: true, v: true }));
  }

  /** The engine's framed log stream (8-byte headers), with timestamps. */
  async logs(id: string, query: LogQuery): Promise<Readable> {
    const options = {
      stdout: true,
      stderr: true,
      timestamps: true,
      ...(query.tail >= 0 ? { tail: query.tail } : {}),
      ...(query.since === undefined ? {} : { since: query.since }),
      follow: query.follow,
    };
    return this.#openLogs(id, options, query.signal);
  }

  /**
   * The first bytes are looked at at once: Podman answers with an error in JSON and status 200 where the log disappears just before it
   * is read.
   */
  async #openLogs(id: string, options: object, signal: AbortSignal | undefined): Promise<Readable> {
    const stream = await dial(this.#streams.modem, {
      path: `/containers/${encodeURIComponent(id)}/logs?`,
      statusCodes: { 200: true, 404: "no such container", 409: "being removed", 500: "server error" },
      options,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    const { Readable } = await import("node:stream");
    return Readable.from(checkedLog(stream), { objectMode: true, highWaterMark: 1 });
  }

  async listNetworks(labels: Labels): Promise<NetworkState[]> {
    const filters = { label: labelFilter(labels) };
    return (await guard(this.#calls.listNetworks({ filters }))).map(networkState);
  }

  async inspectNetwork(name: string): Promise<NetworkState> {
    return networkState(await guard(this.#calls.getNetwork(name).inspect()));
  }

  async createNetwork(name: string, bridge: string, labels: Labels): Promise<void> {
    const options = { isolate: "true", "com.docker.network.bridge.name": bridge };
    await guard(this.#calls.createNetwork({ Name: name, Driver: "bridge", Options: options, Labels: { ...labels } }));
  }

  async removeNetwork(name: string): Promise<void> {
    await guard(this.#calls.getNetwork(name).remove());
  }

  /** Id of an image on the engine; rejects with `notFound` where it is not there. */
  async imageId(reference: string): Promise<string> {
    return (await guard(this.#calls.getImage(reference).inspect())).Id;
  }

  /** All names of an image. */
  async imageNames(reference: string): Promise<readonly string[]> {
    return (await guard(this.#calls.getImage(reference).inspect())).RepoTags ?? [];
  }

  /** The program configuration of an image. */
  async imageProgram(reference: string): Promise<ImageProgram> {
    const { Config: config } = await guard(this.#calls.getImage(reference).inspect());
    return {
      words: [config?.Entrypoint ?? [], config?.Cmd ?? []].flat(),
      volumes: Object.keys(config?.Volumes ?? {}),
      healthCheck: config?.Healthcheck,
    };
  }

  /** Puts an archive of images (`docker save`) on the engine. */
  async loadImage(archive: Readable, signal: AbortSignal): Promise<void> {
    // The library would wait for the rest of an archive that breaks off.
    const broken = new AbortController();
    if (archive.errored !== null) throw archive.errored;
    archive.on("error", (error) => broken.abort(error));
    // Its types do not know that the request can be ended.
    const options: object = { quiet: true, abortSignal: AbortSignal.any([signal, broken.signal]) };
    try {
      await readProgress(asReadable(await guard(this.#streams.loadImage(archive, options))));
    } catch (error) {
      signal.throwIfAborted();
      broken.signal.throwIfAborted();
      throw error;
    } finally {
      archive.destroy();
    }
  }

  /** Tags of the engine that begin with `name:`. */
  async listTags(name: string): Promise<{ readonly tag: string; readonly imageId: string; readonly bytes: number }[]> {
    const images = await guard(this.#calls.listImages({ filters: { reference: [name] } }));
    return images.flatMap(({ Id: imageId, RepoTags: tags, Size: bytes }) =>
      (tags ?? []).filter((tag) => tag.startsWith(`${name}:`)).map((tag) => ({ tag, imageId, bytes })),
    );
  }

  /** Takes a name off an image; the last one takes the image along, unless a container has it. */
  async removeImage(tag: string): Promise<void> {
    await guard(this.#works.getImage(tag).remove());
  }

  async exec(id: string, options: { command: readonly string[]; tty: boolean; stdin: boolean }): Promise<ExecHandle> {
    const exec = await guard(
      this.#streams.getContainer(id).exec({
        Cmd: [...options.command],
        Tty: options.tty,
        AttachStdin: options.stdin,
        AttachStdout: true,
        AttachStderr: true,
      }),
    );
    const stream = await guard(exec.start({ hijack: true, stdin: true, Tty: options.tty }));
    return {
      stream,
      inspect: async () => {
        const { Running: running, ExitCode: code, Pid: pid } = await guard(exec.inspect());
        return { begun: running || code !== null, running, exitCode: code ?? 0, pid };
      },
      // Podman answers 201 where the library expects 200.
      resize: async (w, h) => guard(exec.resize({ w, h })).then(() => undefined, ignoreStatus(201)),
    };
  }

  /** Lines of JSON, one for each container event of the home. */
  async events(labels: Labels, signal: AbortSignal): Promise<Readable> {
    const filters = { type: ["container" as const], label: labelFilter(labels) };
    return asReadable(await guard(this.#streams.getEvents({ filters, abortSignal: signal })));
  }
}

/** The answer to a call below the library, which reads answers into memory as a whole. */
async function dial(modem: Docker["modem"], request: Parameters<Dial>[0]): Promise<IncomingMessage> {
  const call = new Promise((resolve, reject) => {
    modem.dial({ ...request, method: "GET", isStream: true }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
  return (await guard(call)) as IncomingMessage;
}

function addressOf(socket: string): Docker.DockerOptions {
  if (!/^(tcp|http):\/\//.test(socket)) return { socketPath: socket.replace(/^unix:\/\//, "") };
  const url = new URL(socket.replace(/^tcp:/, "http:"));
  return { protocol: "http", host: url.hostname, port: url.port === "" ? 2375 : Number(url.port) };
}

function labelFilter(labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

async function guard<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw engineFailure(error);
  }
}

function ignoreStatus(status: number): (error: unknown) => void {
  return (error) => {
    const cause = error instanceof EngineFailure ? error.cause : undefined;
    const code = typeof cause === "object" && cause !== null && "statusCode" in cause ? cause.statusCode : undefined;
    if (code !== status) throw error;
  };
}

function asReadable(stream: NodeJS.ReadableStream): Readable {
  // The library types its answers as the old stream interface; they are `IncomingMessage`s.
  return stream as Readable;
}

/**
 * A client of the engine at that address; with `timeout` a call fails after so many milliseconds of silence. The library waits
 * forever for the rest of an answer that breaks off, as answers do when the engine is killed: all are read as streams here,
 * whose end is seen whatever it is.
 */
async function openClient(address: Docker.DockerOptions, timeout?: number): Promise<Docker> {
  const { default: Client } = await import("dockerode");
  const client = new Client(timeout === undefined ? address : { ...address, timeout });
  const { modem } = client;
  const dial = modem.dial.bind(modem);
  const dialWhole: Dial = (request, done = () => {}) => {
    if (request.isStream === true) return dial(request, done);
    dial({ ...request, isStream: true }, (error, stream) => {
      if (error) return done(error, null);
      readWhole(stream as Readable).then(
        (answer) => done(null, answer),
        (broken) => done(broken, null),
      );
    });
  };
  modem.dial = dialWhole;
  return client;
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
