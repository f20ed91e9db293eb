import { homePaths } from "./home.ts";
import { nodeId, readKeyFile, readPublicKey } from "./keys.ts";

/** The name of the node of a home in its network, from its key file. */
export function homeNodeId(home: string): string {
  return nodeId(readKeyFile(homePaths(home).nodeKey));
}

/** The ed25519 public key with which the node of a home signs blocks. */
export function homeValidatorKey(home: string): Uint8Array {
  return readPublicKey(homePaths(home).validatorKey);
}
