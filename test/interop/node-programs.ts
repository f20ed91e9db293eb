import type { KubernetesPrograms } from "../support/kubernetes-node.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The parts of a cluster of one node, built if missing; or the reason why it cannot run here. */
export async function nodePrograms(): Promise<KubernetesPrograms | { readonly missing: string }> {
  if (process.getuid?.() !== 0) return { missing: "only root can start a node" };
  const peers = await Promise.all([buildPeer("kubernetes"), buildPeer("kubernetes-node"), buildPeer("containerd")]);
  for (const peer of peers) if (peer instanceof Peer) peer.remove();
  const [server, node, containers] = peers.map((peer) => (peer instanceof Peer ? peer.binary : ""));
  if (server && node && containers) return { server, node, containers };
  return { missing: peers.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing])).join("; ") };
}
