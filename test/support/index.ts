/** What tests with real processes share: homes, ports, commands, nodes, load, container engines. */
export { buildOnce, ROOT } from "./build.ts";
export { Fixture } from "./fixture.ts";
export { type NodeRequest, startNode, TestNode } from "./node.ts";
export { freePorts } from "./ports.ts";
export { Rng, seedFrom } from "./rng.ts";
export { runSvc, type SvcRequest, type SvcResult, svcOk } from "./run-svc.ts";
export { type LogLine, SvcProcess } from "./svc-process.ts";
export { pause, waitFor } from "./wait.ts";
