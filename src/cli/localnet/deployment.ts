import type { DeployReporter } from "../../tenant/index.ts";
import { deploy } from "../../tenant/node/index.ts";
import { DEC_ONE } from "../../util/index.ts";
import { localnetKeyring } from "./home.ts";
import { keySigner } from "./signer.ts";
import type { LocalnetDeployment, Steps } from "./steps.ts";

export interface DeployFileRequest {
  readonly file: string;
  readonly home: string;
  readonly node: string;
  readonly signal: AbortSignal;
  readonly steps: Steps;
}

/** Gas is free in a localnet; the estimate gets a margin, because blocks are made meanwhile. */
const TX_OPTIONS = { gas: "auto", gasAdjustment: DEC_ONE + DEC_ONE / 2n } as const;

/** Deploys a file as alice and waits until it answers. */
export async function deployFile({ file, home, node, signal, steps }: DeployFileRequest): Promise<LocalnetDeployment> {
  const signer = await keySigner(localnetKeyring(home), "alice");
  const result = await deploy({ file, home, node, signer, signal, bidWindow: 1n, tx: TX_OPTIONS }, reporterOf(steps));
  return {
    dseq: result.dseq,
    provider: result.leases[0]?.provider ?? "",
    uris: result.uris,
    ports: result.ports,
  };
}

const NAMES: Readonly<Record<string, string>> = {
  certificate: "tenant certificate",
  order: "order on the chain",
  bid: "bid received",
  lease: "lease created",
  manifest: "manifest accepted",
  ready: "services ready",
  "first-200": "first 200",
};

function reporterOf(steps: Steps): DeployReporter {
  return {
    step: ({ name, ms }) => steps.note(NAMES[name] ?? name, ms),
    waiting: () => {},
    note: (text) => steps.say(text),
  };
}
