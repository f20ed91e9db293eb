import { type Duplex, Readable } from "node:stream";
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
import { EngineClient } from "./client.ts";
import type { EngineFailure } from "./failure.ts";

export interface LogQuery {
  readonly follow: boolean;
  /** Lines from the end, -1 for all. */
  readonly tail: number;
  /** Seconds since the epoch. */
  readonly since?: number;
  readonly signal?: AbortSignal;
}

export interface ExecHandle {
  readonly stream: Duplex;
  inspect(): Promise<ExecState>;
  resize(width: number, height: number): Promise<void>;
}

/** A container with its labels. */
export interface LabelledContainer {
  readonly id: string;
  readonly labels: Labels;
}

/** The answer about something made. */
type Named = Pick<Docker.ContainerInfo, "Id">;
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
  readonly #calls: EngineClient;
  readonly #works: EngineClient;
  readonly #streams: EngineClient;
  #info: { readonly answer: Promise<EngineInfo>; readonly until: number } | undefined;

  private constructor(calls: EngineClient, works: EngineClient, streams: EngineClient) {
    this.#calls = calls;
    this.#works = works;
    this.#streams = streams;
  }

  /** Makes no connection yet. */
  static async open(socket: string, { call, work }: EnginePatience): Promise<EngineApi> {
    const open = (timeout?: number) => EngineClient.open(socket, timeout);
    return new EngineApi(await open(call), await open(work), await open());
  }

  /** Which engine answers now. */
  async ping(): Promise<EngineName> {
    const answer = await this.#calls.stream("/_ping");
    answer.resume();
    return engineName(answer.headers) ?? versionName(await this.#calls.value("/version"));
  }

  /** At most a minute old, where the last one was no failure; `ping` tells whether the engine answers now. */
  info(): Promise<EngineInfo> {
    if (this.#info === undefined || performance.now() > this.#info.until) {
      const answer = this.#calls.value<Parameters<typeof engineInfo>[0]>("/info").then(engineInfo);
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
    const query = { all: true, filters: { label } };
    const list = await this.#calls
      .value<readonly ListedContainer[]>("/containers/json", { query })
      .catch((error) => this.#ownList(query, error));
    return list.map(({ Id: id, Labels: labels }) => ({ id, labels: labels ?? {} }));
  }

  /** Podman refuses the list where it cannot describe one container of it; its own API still names them all. */
  async #ownList(query: object, refusal: EngineFailure): Promise<readonly ListedContainer[]> {
    if (refusal.kind !== "refused") throw refusal;
    const path = "/v4.0.0/libpod/containers/json";
    const answer = await this.#calls.value<readonly ListedContainer[]>(path, { query }).catch(() => undefined);
    if (!Array.isArray(answer)) throw refusal;
    return answer;
  }

  /** With `size` also the size of the writable layer. */
  async inspect(id: string, query?: { readonly size?: boolean }): Promise<ContainerState> {
    return containerState(await this.#calls.value(`/containers/${id}/json`, { query }));
  }

  /** Only the name is in the address of the call, which engines write into their logs. */
  async create({ name, ...body }: Docker.ContainerCreateOptions): Promise<string> {
    const call = { method: "POST", query: { name }, body } as const;
    return (await this.#works.value<Named>("/containers/create", call)).Id;
  }

  async start(id: string): Promise<void> {
    await this.#works.value(`/containers/${id}/start`, { method: "POST" });
  }

  /** TERM, then KILL after the grace (seconds). Stopping a stopped container is not an error. */
  async stop(id: string, grace: number): Promise<void> {
    await this.#works.value(`/containers/${id}/stop`, { method: "POST", query: { t: grace } });
  }

  /** Removes the container and its anonymous volumes, killing it where it still runs. */
  async remove(id: string): Promise<void> {
    await this.#works.value(`/containers/${id}`, { method: "DELETE", query: { force: true, v: true } });
  }

  /** The engine's framed log stream (8-byte headers), with timestamps. */
  async logs(id: string, { follow, tail, since, signal }: LogQuery): Promise<Readable> {
    const parts = { ...(tail >= 0 ? { tail } : {}), ...(since === undefined ? {} : { since }) };
    const query = { stdout: true, stderr: true, timestamps: true, ...parts, follow };
    // Podman answers with an error in JSON and status 200 where the log disappears just before it is read.
    const stream = await this.#streams.stream(`/containers/${encodeURIComponent(id)}/logs`, { query, signal });
    return Readable.from(checkedLog(stream), { objectMode: true, highWaterMark: 1 });
  }

  async listNetworks(labels: Labels): Promise<NetworkState[]> {
    const query = { filters: { label: labelFilter(labels) } };
    return (await this.#calls.value<readonly Docker.NetworkInspectInfo[]>("/networks", { query })).map(networkState);
  }

  async inspectNetwork(name: string): Promise<NetworkState> {
    return networkState(await this.#calls.value(`/networks/${name}`));
  }

  async createNetwork(name: string, bridge: string, labels: Labels): Promise<void> {
    const options = { isolate: "true", "com.docker.network.bridge.name": bridge };
    const body = { Name: name, Driver: "bridge", Options: options, Labels: labels };
    await this.#calls.value("/networks/create", { method: "POST", body });
  }

  async removeNetwork(name: string): Promise<void> {
    await this.#calls.value(`/networks/${name}`, { method: "DELETE" });
  }

  /** Id of an image on the engine; rejects with `notFound` where it is not there. */
  async imageId(reference: string): Promise<string> {
    return (await this.#image(reference)).Id;
  }

  /** All names of an image. */
  async imageNames(reference: string): Promise<readonly string[]> {
    return (await this.#image(reference)).RepoTags ?? [];
  }

  /** The program configuration of an image. */
  async imageProgram(reference: string): Promise<ImageProgram> {
    const { Config: config } = await this.#image(reference);
    return {
      words: [config?.Entrypoint ?? [], config?.Cmd ?? []].flat(),
      volumes: Object.keys(config?.Volumes ?? {}),
      healthCheck: config?.Healthcheck,
    };
  }

  #image(reference: string): Promise<Docker.ImageInspectInfo> {
    return this.#calls.value(`/images/${reference}/json`);
  }

  /** Puts an archive of images (`docker save`) on the engine. */
  async loadImage(archive: Readable, signal: AbortSignal): Promise<void> {
    // The library would wait for the rest of an archive that breaks off.
    const broken = new AbortController();
    if (archive.errored !== null) throw archive.errored;
    archive.on("error", (error) => broken.abort(error));
    const ended = AbortSignal.any([signal, broken.signal]);
    const call = { method: "POST", query: { quiet: true }, file: archive, signal: ended } as const;
    try {
      await readProgress(await this.#streams.stream("/images/load", call));
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
    const query = { filters: { reference: [name] } };
    const images = await this.#calls.value<readonly Docker.ImageInfo[]>("/images/json", { query });
    return images.flatMap(({ Id: imageId, RepoTags: tags, Size: bytes }) =>
      (tags ?? []).filter((tag) => tag.startsWith(`${name}:`)).map((tag) => ({ tag, imageId, bytes })),
    );
  }

  /** Takes a name off an image; the last one takes the image along, unless a container has it. */
  async removeImage(tag: string): Promise<void> {
    await this.#works.value(`/images/${tag}`, { method: "DELETE" });
  }

  async exec(id: string, options: { command: readonly string[]; tty: boolean; stdin: boolean }): Promise<ExecHandle> {
    const streams = this.#streams;
    const { command: Cmd, tty: Tty, stdin: AttachStdin } = options;
    const body = { Cmd, Tty, AttachStdin, AttachStdout: true, AttachStderr: true };
    const { Id: exec } = await streams.value<Named>(`/containers/${id}/exec`, { method: "POST", body });
    return {
      stream: await streams.talk(`/exec/${exec}/start`, { method: "POST", body: { Tty } }),
      inspect: async () => {
        const state = await streams.value<Docker.ExecInspectInfo>(`/exec/${exec}/json`);
        const { Running: running, ExitCode: code, Pid: pid } = state;
        return { begun: running || code !== null, running, exitCode: code ?? 0, pid };
      },
      resize: (w, h) => streams.value(`/exec/${exec}/resize`, { method: "POST", query: { w, h } }),
    };
  }

  /** Lines of JSON, one for each container event of the home. */
  events(labels: Labels, signal: AbortSignal): Promise<Readable> {
    const filters = { type: ["container"], label: labelFilter(labels) };
    return this.#streams.stream("/events", { query: { filters }, signal });
  }
}

function labelFilter(labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}
