import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { clusterErrors } from "../../contract/index.ts";
import type { Labels } from "../labels.ts";
import { EngineFailure } from "./failure.ts";

/** One container as the engine describes it. */
export interface ContainerState {
  readonly id: string;
  readonly name: string;
  /** Id of its image. */
  readonly imageId: string;
  readonly labels: Labels;
  /** The engine's word for its state: `created`, `running`, `exited`, ... */
  readonly status: string;
  readonly running: boolean;
  /** Process id on the host, 0 when it does not run. */
  readonly pid: number;
  readonly exitCode: number;
  readonly oomKilled: boolean;
  readonly error: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly startedAt: number;
  /** The engine's text for it, which identifies the exit. */
  readonly finishedAt: string;
  /** Published host ports by `80/tcp`. */
  readonly ports: ReadonlyMap<string, number>;
  /** IPv4 addresses by the name of the network. */
  readonly addresses: ReadonlyMap<string, string>;
  /** The image's own health check; empty if it has none. */
  readonly health: string;
  readonly layerBytes?: number;
  /** Host folder of the writable layer; undefined where the engine has none. */
  readonly upper: string | undefined;
  /** Host folders of the volumes that the image declares by itself. */
  readonly imageVolumes: readonly string[];
}

export interface NetworkState {
  readonly id: string;
  readonly name: string;
  readonly labels: Labels;
  readonly subnet: string;
  readonly gateway: string;
}

export interface EngineName {
  /** `podman` or `docker`. */
  readonly kind: string;
  readonly version: string;
  /** Version of Docker's API. */
  readonly api: string;
}

export interface EngineInfo {
  /** As images name it: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly cpus: number;
  readonly memory: number;
  /** Folder of images and layers. */
  readonly root: string;
  /** Names of runtimes for containers. */
  readonly runtimes: readonly string[];
  /** Whether root in a container is another user on the host. */
  readonly mapsUsers: boolean;
  /** Whether containers can be given devices of CDI by their names. */
  readonly takesCdi: boolean;
}

interface Info {
  readonly Architecture: string;
  readonly NCPU: number;
  readonly MemTotal: number;
  readonly DockerRootDir: string;
  readonly Runtimes?: object | null;
  readonly SecurityOptions?: readonly string[] | null;
  readonly CDISpecDirs?: readonly string[] | null;
}

type Version = Pick<Docker.DockerVersion, "Version" | "ApiVersion"> & Partial<Pick<Docker.DockerVersion, "Components">>;

/** How an image wants its program to be checked; times in nanoseconds, 0 or none for the engine's own. */
export type HealthCheck = Docker.HealthConfig;

export interface ImageProgram {
  /** With which it starts. */
  readonly words: readonly string[];
  /** Paths of the volumes that it declares. */
  readonly volumes: readonly string[];
  readonly healthCheck: HealthCheck | undefined;
}

/** Docker tells the architecture as the kernel names it. */
const ARCHITECTURES = new Map([
  ["x86_64", "amd64"],
  ["aarch64", "arm64"],
]);

/** The engine in the headers of any of its answers; undefined where they do not name it. */
export function engineName(headers: IncomingHttpHeaders): EngineName | undefined {
  const [, program = "", version = ""] = /^(Libpod|Docker)\/(\S+)/.exec(String(headers.server)) ?? [];
  const api = headers["api-version"];
  if (version === "" || typeof api !== "string") return undefined;
  return { kind: program === "Libpod" ? "podman" : "docker", version, api };
}

export function versionName({ Components: parts = [], Version: version, ApiVersion: api }: Version): EngineName {
  return { kind: parts.some(({ Name }) => /podman/i.test(Name)) ? "podman" : "docker", version, api };
}

export function engineInfo(info: Info): EngineInfo {
  return {
    architecture: ARCHITECTURES.get(info.Architecture) ?? info.Architecture,
    cpus: info.NCPU,
    memory: info.MemTotal,
    root: info.DockerRootDir,
    runtimes: Object.keys(info.Runtimes ?? {}),
    mapsUsers: (info.SecurityOptions ?? []).some((option) => /(?:^|=)userns(?:,|$)|rootless/.test(option)),
    takesCdi: (info.CDISpecDirs ?? []).length > 0,
  };
}

export function containerState(info: Docker.ContainerInspectInfo & { SizeRw?: number }): ContainerState {
  const state = info.State;
  return {
    id: info.Id,
    name: info.Name.replace(/^\//, ""),
    imageId: info.Image,
    labels: info.Config.Labels ?? {},
    status: state.Status,
    running: state.Running,
    pid: state.Pid,
    exitCode: state.ExitCode,
    oomKilled: state.OOMKilled,
    error: state.Error,
    createdAt: Date.parse(info.Created),
    startedAt: Date.parse(state.StartedAt),
    finishedAt: state.FinishedAt,
    ports: publishedPorts(info.NetworkSettings.Ports),
    addresses: networkAddresses(info.NetworkSettings.Networks),
    health: state.Health?.Status ?? "",
    imageVolumes: (info.Mounts ?? []).flatMap(({ Type, Source }) => (Type === "volume" ? [Source] : [])),
    upper: upperFolder(info.GraphDriver),
    ...(info.SizeRw === undefined ? {} : { layerBytes: info.SizeRw }),
  };
}

/** The library's types describe the graph driver of long ago. */
function upperFolder(graph: { readonly Data?: object | null } | undefined): string | undefined {
  const data = graph?.Data;
  if (data === undefined || data === null || !("UpperDir" in data)) return undefined;
  return typeof data.UpperDir === "string" && data.UpperDir !== "" ? data.UpperDir : undefined;
}

function publishedPorts(ports: Docker.ContainerInspectInfo["NetworkSettings"]["Ports"] | null): Map<string, number> {
  const published = new Map<string, number>();
  for (const [key, bindings] of Object.entries(ports ?? {})) {
    const port = Number(bindings?.[0]?.HostPort);
    if (port > 0) published.set(key, port);
  }
  return published;
}

function networkAddresses(
  networks: Docker.ContainerInspectInfo["NetworkSettings"]["Networks"] | null,
): Map<string, string> {
  const all = Object.entries(networks ?? {});
  return new Map(all.flatMap(([name, { IPAddress: address }]) => (address ? [[name, address] as const] : [])));
}

export function networkState(info: Docker.NetworkInspectInfo): NetworkState {
  const config = info.IPAM?.Config?.find((entry) => /^\d+\./.test(entry.Subnet ?? ""));
  if (config?.Subnet === undefined) {
    throw clusterErrors.refused(`network ${info.Name} has no IPv4 subnet`);
  }
  return {
    id: info.Id,
    name: info.Name,
    labels: info.Labels ?? {},
    subnet: config.Subnet,
    gateway: config.Gateway ?? firstAddress(config.Subnet),
  };
}

/** Engines that do not report the gateway use the first address of the subnet. */
function firstAddress(subnet: string): string {
  return (subnet.split("/")[0] ?? "").replace(/\d+$/, (last) => String(Number(last) + 1));
}

/** First bytes of frames: output of the program. */
const FRAME_STARTS: ReadonlySet<number | undefined> = new Set([0, 1, 2]);
/** More than an engine says about an error. */
const MAX_FAILURE = 4_096;

/** The raw bytes of the log; anything but a frame is the engine's reason why there is no log. */
export async function* checkedLog(stream: Readable): AsyncGenerator<Buffer> {
  let failure = "";
  let isFirst = true;
  for await (const chunk of stream) {
    if (failure !== "" || (isFirst && !FRAME_STARTS.has(chunk[0]))) failure += String(chunk);
    else yield chunk;
    isFirst = false;
    if (failure.length > MAX_FAILURE) break;
  }
  if (failure === "") return;
  const kind = /no such|not found/i.test(failure) ? "notFound" : "refused";
  throw new EngineFailure(kind, `the container engine sent no log: ${failure.slice(0, 300)}`);
}

/** Bytes of progress lines that are looked at: an engine writes little about one image. */
const MAX_PROGRESS = 1 << 20;

/** Reads progress to its end; a line with `error` is the outcome. */
export async function readProgress(progress: Readable): Promise<void> {
  let text = "";
  for await (const chunk of progress) if (text.length < MAX_PROGRESS) text += String(chunk);
  const [, said] = /"error"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (said !== undefined) throw new EngineFailure("refused", `the container engine did not take the image: ${said}`);
}
