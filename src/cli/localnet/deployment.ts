import type { Steps } from "./steps.ts";

/** What runs after `--deploy`. */
export interface LocalnetDeployment {
  readonly dseq: string;
  readonly provider: string;
  readonly uris: readonly string[];
  readonly ports: readonly {
    readonly service: string;
    readonly host: string;
    readonly port: number;
    readonly external_port: number;
    readonly proto: string;
  }[];
}

export interface DeployFileRequest {
  readonly file: string;
  readonly home: string;
  readonly node: string;
  readonly signal: AbortSignal;
  readonly steps: Steps;
}

/** Deploys a file as alice. */
export async function deployFile(_request: DeployFileRequest): Promise<LocalnetDeployment> {
  throw new Error("deploy is not wired yet");
}
