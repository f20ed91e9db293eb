import type { LocalnetPorts } from "./ports.ts";

/** How the provider of a localnet uses this machine's engine: whoever tries it out serves nobody else. */
export function engineFlags(
  engine: string,
  { nodePortFirst, nodePortLast }: Pick<LocalnetPorts, "nodePortFirst" | "nodePortLast">,
): string[] {
  return [
    ...["--cluster-engine", engine],
    ...["--cluster-node-port-range", `${nodePortFirst}-${nodePortLast}`, "--cluster-node-port-address", "127.0.0.1"],
    ...["--cluster-volume-sizes", process.getuid?.() === 0 ? "loop" : "none"],
  ];
}
