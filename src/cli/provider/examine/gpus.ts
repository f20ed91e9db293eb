import type { ProviderRecord } from "../../../client/index.ts";
import { gpuName } from "../../../provider/index.ts";
import { errorText } from "../../../util/index.ts";
import type { ChosenKind } from "../run/cluster.ts";
import { type Check, Unknown } from "./finding.ts";

const OFFERED = "capabilities/gpu/";

const FIX = {
  engine:
    "describe the devices (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml), or offer none: svc tx provider update <file>",
  orchestrator:
    "label the nodes (svc.gpu/vendor, svc.gpu/model) and run the vendor's device plugin, or offer none: svc tx provider update <file>",
} as const;

interface GpuHolder extends Pick<ChosenKind, "address"> {
  readonly kind: Pick<ChosenKind["kind"], "gpus" | "orchestrator">;
}

interface GpuOffer {
  record(): Promise<{ readonly attributes: readonly Pick<ProviderRecord["attributes"][number], "key">[] }>;
}

/** Whether there are graphics processors if the provider offers some; names those present in any case. */
export function gpuCheck({ kind, address }: GpuHolder, facts: GpuOffer): Check {
  return {
    name: "gpus",
    fix: kind.orchestrator ? FIX.orchestrator : FIX.engine,
    async look() {
      const gpus = await kind.gpus(address).catch((error: unknown) => {
        throw new Unknown(`the cluster cannot be queried: ${errorText(error)}`);
      });
      const { attributes } = await facts.record();
      const offered = attributes
        .filter(({ key }) => key.startsWith(OFFERED))
        .map(({ key }) => key.slice(OFFERED.length));
      const found = gpus.map((gpu) => `${gpu.count} ${gpuName(gpu)}`).join(", ") || "none";
      if (offered.length === 0) return gpus.length === 0 ? "none, and none offered" : `${found}; none offered`;
      if (gpus.length === 0) throw new Error(`none, but offered: ${offered.join(", ")}`);
      return `${found}; offered: ${offered.join(", ")}`;
    },
  };
}
