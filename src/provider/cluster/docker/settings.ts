import { isIP } from "node:net";
import {
  asDuration,
  asSize,
  asText,
  oneOf,
  optional,
  type ReadSetting,
  type SettingTable,
  WrongForm,
} from "../../../util/index.ts";
import { parseGpuModels } from "./gpu/index.ts";
import { parseRegistries } from "./images/allowed.ts";

export const DOCKER_PLACES = {
  engine: {
    name: "cluster-engine",
    value: "<socket>",
    summary: "socket of the container engine (default: detected)",
    parse: optional(asText),
  },
} as const satisfies SettingTable;

export const DOCKER_SETTINGS = {
  nodePortAddress: {
    name: "cluster-node-port-address",
    value: "<address>",
    summary: "address of the host on which node ports listen",
    default: "0.0.0.0",
    parse: parseAddress,
  },
  nodePorts: {
    name: "cluster-node-ports",
    summary: "what carries node ports: the data plane alone, or kernel rules in front of it",
    ...oneOf(["process", "kernel"]),
  },
  volumeSizes: {
    name: "cluster-volume-sizes",
    summary: "how volume sizes are enforced",
    ...oneOf(["loop", "none"]),
  },
  registries: {
    name: "cluster-allow-registries",
    value: "<hosts>",
    summary: "registries that leases may use although they are on a private network; http://<host> for one without TLS",
    parse: parseRegistries,
  },
  imageSize: {
    name: "cluster-image-size",
    value: "<size>",
    summary: "disk that an image may take, packed and unpacked",
    default: "16Gi",
    parse: asSize,
  },
  leaseImages: {
    name: "cluster-lease-images",
    value: "<size>",
    summary: "disk that all images of a lease may take",
    default: "32Gi",
    parse: asSize,
  },
  imageKeep: {
    name: "cluster-image-keep",
    value: "<duration>",
    summary: "time after which an image that no lease uses is removed",
    default: "24h",
    parse: asDuration,
  },
  gpuModels: {
    name: "cluster-gpu-models",
    value: "<device:model>",
    summary: "models of GPUs that the machine does not report, such as nvidia.com/gpu=0:a100/80Gi/sxm",
    default: "",
    parse: parseGpuModels,
  },
} as const satisfies SettingTable;

/** Options that only an engine has. */
export function readDockerSettings(read: ReadSetting) {
  return {
    nodePortAddress: read(DOCKER_SETTINGS.nodePortAddress),
    kernelPorts: read(DOCKER_SETTINGS.nodePorts) === "kernel",
    volumeSizeEnforcement: read(DOCKER_SETTINGS.volumeSizes),
    gpus: { models: read(DOCKER_SETTINGS.gpuModels) },
    registries: { allowed: read(DOCKER_SETTINGS.registries) },
    limits: {
      imageBytes: read(DOCKER_SETTINGS.imageSize),
      leaseImageBytes: read(DOCKER_SETTINGS.leaseImages),
    },
    timing: { imageKeep: read(DOCKER_SETTINGS.imageKeep) },
  };
}

export type OwnOptions = ReturnType<typeof readDockerSettings>;

/** An address of this machine. */
function parseAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new WrongForm("an address such as 0.0.0.0 or 127.0.0.1");
}
