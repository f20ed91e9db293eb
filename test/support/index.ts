/** Shared parts of tests with real processes: homes, ports, commands, nodes, providers, tenants, container engines. */

export { buildOnce, ROOT } from "./build.ts";
export { DesktopSession, missingPrograms } from "./desktop.ts";
export { type WebFile, webFile } from "./files.ts";
export { Fixture } from "./fixture.ts";
export { fetchPage } from "./http.ts";
export { type GenesisFile, type NodeParts, type NodeRequest, startNode, TestNode } from "./node.ts";
export { freePorts } from "./ports.ts";
export { Rng, seedFrom } from "./rng.ts";
export { runSvc, type SvcRequest, type SvcResult, svcOk } from "./run-svc.ts";
export { balanceOf, mustSend, signerOf, transfer } from "./signer.ts";
export { type LogLine, SvcProcess } from "./svc-process.ts";
export { pause, type WaitSettings, waitFor } from "./wait.ts";
