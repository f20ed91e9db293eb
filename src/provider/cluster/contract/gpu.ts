import type { GpuCapacity } from "./capacity.ts";

/** A kind of GPU that an order accepts. `*` is any model; missing fields accept anything. */
export interface GpuWish {
  readonly vendor: string;
  readonly model: string;
  readonly ram?: string;
  readonly interface?: string;
}

/** Reads an attribute key of a GPU: `vendor/nvidia/model/a100/ram/80Gi/interface/pcie`. */
export function parseGpuWish(key: string): GpuWish {
  const words = key.split("/");
  const after = (name: string) => words.find((_, i) => i % 2 === 1 && words[i - 1] === name);
  const [ram, bus] = [after("ram"), after("interface")];
  return {
    vendor: after("vendor") ?? "",
    model: after("model") ?? "*",
    ...(ram === undefined ? {} : { ram }),
    ...(bus === undefined ? {} : { interface: bus }),
  };
}

/** Whether the GPU is of one of the kinds; without kinds every GPU is. */
export function isWantedGpu(gpu: GpuCapacity, wishes: readonly GpuWish[]): boolean {
  return wishes.length === 0 || wishes.some((wish) => meets(gpu, wish));
}

function meets(gpu: GpuCapacity, wish: GpuWish): boolean {
  if (gpu.vendor !== wish.vendor || (wish.model !== "*" && wish.model !== gpu.model)) return false;
  return (wish.ram ?? gpu.ram) === gpu.ram && (wish.interface ?? gpu.interface) === gpu.interface;
}

/** Names a kind of GPU: `nvidia/a100/80Gi/pcie`. */
export function gpuName({ vendor, model, ram, interface: bus }: GpuWish): string {
  return [vendor, model, ram, bus].filter((part) => part !== undefined).join("/");
}
