import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readFileText } from "../../../../util/index.ts";
import type { GpuModel } from "../../contract/index.ts";

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
