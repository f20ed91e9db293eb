import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { asList, readFileText } from "../../../../util/index.ts";
import type { GpuCapacity } from "../../contract/index.ts";

/** A model with its name in deployment files, memory and interface. */
export type GpuModel = Pick<GpuCapacity, "model" | "ram" | "interface">;

/** Only orders that take any model get such a device. */
export const UNKNOWN_MODEL: GpuModel = { model: "unknown" };

/** Where NVIDIA's driver describes its devices. */
export const NVIDIA_FOLDER = "/proc/driver/nvidia/gpus";

const MAX_INFORMATION = 64 * 1024;
/** Words of a product's name that say nothing about its model. */
const MAKERS = /^(nvidia|tesla|quadro|geforce|generation|graphics|laptop|gpu)$/i;

/** The fields of a model and nothing else. */
export function modelOf({ model, ram, interface: bus }: GpuModel): GpuModel {
  return { model, ...(ram === undefined ? {} : { ram }), ...(bus === undefined ? {} : { interface: bus }) };
}

/** Models by device (`/dev/nvidia0`), as far as the driver of this machine names them. */
export async function nvidiaModels(folder: string): Promise<Map<string, GpuModel>> {
  const models = new Map<string, GpuModel>();
  for (const bus of await readdir(folder).catch(() => [])) {
    const text = readInformation(join(folder, bus, "information"));
    const product = /^Model:\s*(\S.*)$/m.exec(text)?.[1];
    const minor = /^Device Minor:\s*(\d{1,4})\s*$/m.exec(text)?.[1];
    if (product !== undefined && minor !== undefined) models.set(`/dev/nvidia${minor}`, productModel(product));
  }
  return models;
}

function readInformation(path: string): string {
  try {
    return readFileText(path, { maxBytes: MAX_INFORMATION });
  } catch {
    return "";
  }
}

/** `NVIDIA A100-SXM4-80GB` is an `a100` with `80Gi` on `sxm`. */
export function productModel(product: string): GpuModel {
  const words = product.split(/[\s-]+/).filter((word) => word !== "" && !MAKERS.test(word));
  const ram = words.map((word) => /^(\d{1,4})GB$/i.exec(word)?.[1]).find((size) => size !== undefined);
  const bus = words.map((word) => /^(sxm|pcie)\d?$/i.exec(word)?.[1]).find((name) => name !== undefined);
  const model = words.filter((word) => !/^(\d{1,4}GB|(sxm|pcie)\d?)$/i.test(word));
  return modelOf({
    ...(ram === undefined ? {} : { ram: `${ram}Gi` }),
    ...(bus === undefined ? {} : { interface: bus.toLowerCase() }),
    model: model.join("").toLowerCase() || UNKNOWN_MODEL.model,
  });
}

const NAMED = /^([a-z][\w.-]*\/[a-z][\w-]*(?:=[\w.:-]+)?):([a-z0-9][a-z0-9.-]*)(?:\/(\d+Gi))?(?:\/(pcie|sxm))?$/i;

/**
 * Reads an operator's word for the model of a device, or of all devices of a kind: `nvidia.com/gpu=0:a100/80Gi/sxm`.
 * Undefined if the form is another.
 */
export function parseGpuModel(text: string): readonly [device: string, model: GpuModel] | undefined {
  const [, device, model, ram, bus] = NAMED.exec(text) ?? [];
  if (device === undefined || model === undefined) return undefined;
  const named = { model: model.toLowerCase(), ...(ram === undefined ? {} : { ram }) };
  return [device, { ...named, ...(bus === undefined ? {} : { interface: bus.toLowerCase() }) }];
}

const readGpuModels = asList(
  "devices with their models such as nvidia.com/gpu=0:a100/80Gi/sxm or nvidia.com/gpu:t4",
  parseGpuModel,
);

/** Models of GPUs by device, separated by commas. */
export function parseGpuModels(text: string): ReadonlyMap<string, GpuModel> {
  return new Map(readGpuModels(text));
}
