export { kubernetesCluster } from "./kind.ts";
