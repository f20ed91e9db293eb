import { errorText } from "../../../util/index.ts";
import {
  type ClusterCheck,
  type FoundCluster,
  type GpuCapacity,
  gpuName,
  type ProviderOffer,
  Unknown,
} from "../contract/index.ts";

const OFFERED = "capabilities/gpu/";

/** Whether the cluster answers. */
export function answersCheck(find: () => Promise<FoundCluster>, fix: string): ClusterCheck {
  return {
    name: "cluster",
    fix,
    async look() {
      const { kind, version, address } = await find();
      return `${kind} ${version} at ${address}`;
    },
  };
}

export interface GpuSource {
  /** Graphics processors of the cluster, used or not, by kind. */
  gpus(): Promise<readonly GpuCapacity[]>;
  readonly fix: string;
}

/** Whether graphics processors exist if the provider offers some; names the existing ones in any case. */
export function gpuCheck(offer: ProviderOffer, { gpus, fix }: GpuSource): ClusterCheck {
  return {
    name: "gpus",
    fix,
    async look() {
      const present = await known(gpus());
      const { attributes } = await offer.record();
      const offered = attributes
        .filter(({ key }) => key.startsWith(OFFERED))
        .map(({ key }) => key.slice(OFFERED.length));
      const found = present.map((gpu) => `${gpu.count} ${gpuName(gpu)}`).join(", ") || "none";
      if (offered.length === 0) return present.length === 0 ? "none, and none offered" : `${found}; none offered`;
      if (present.length === 0) throw new Error(`none, but offered: ${offered.join(", ")}`);
      return `${found}; offered: ${offered.join(", ")}`;
    },
  };
}

/** The answer of the cluster; the check of the cluster itself says why it does not answer. */
export async function known<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new Unknown(`the cluster cannot be queried: ${errorText(error)}`);
  }
}
