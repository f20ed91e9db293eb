import { setPriority } from "node:os";
import { measureLayer } from "./measure.ts";
import { WEIGHER_VARIABLE, type WeighAnswer, type WeighOrder } from "./weigher.ts";

/** Niceness: tenants' programs come first, and on a busy machine a tenth of a processor is left. */
const PRIORITY = 10;

/** Weighs one layer. Ends with the process that asked. */
function begin(): void {
  setPriority(PRIORITY);
  process.on("disconnect", () => process.exit(1));
  process.once("message", ({ file, most }: WeighOrder) => {
    measureLayer(file, BigInt(most)).then(
      (weight) => answer({ ...weight, ...("bytes" in weight ? { bytes: String(weight.bytes) } : {}) } as WeighAnswer),
      (error: unknown) => answer({ kind: "failed", text: String(error) }),
    );
  });
}

function answer(message: WeighAnswer): void {
  process.send?.(message, () => process.disconnect());
}

if (process.env[WEIGHER_VARIABLE] === "1") begin();
