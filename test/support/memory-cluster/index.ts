export { MemoryCluster, type MemoryClusterOptions } from "./driver.ts";
