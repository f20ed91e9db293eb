import type { PortResult } from "../../tenant/index.ts";
import { DISPLAY_DENOM, shellWord } from "../../util/index.ts";

export interface StepsOptions {
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/** Deployment of `--deploy`. */
export interface LocalnetDeployment {
  readonly dseq: string;
  readonly provider: string;
  readonly uris: readonly string[];
  readonly ports: readonly PortResult[];
}

/** A node of the localnet. */
export interface LocalnetValidator {
  readonly rpc: string;
  /** How other nodes reach it, `id@host:port`; null for the only one. */
  readonly p2p: string | null;
  readonly pid: number | null;
  readonly home: string;
}

export interface Summary {
  readonly rpc: string;
  readonly rest: string;
  readonly grpc: string;
  readonly net_url: string | null;
  readonly home: string;
  /** Certificate of the authority that signs for host names. */
  readonly ca: string;
  /** Flags by which `svc faucet` finds the home. */
  readonly homeFlags: string;
  readonly deployments: readonly LocalnetDeployment[];
  readonly validators: readonly LocalnetValidator[];
}

const WAITING_MS = 10_000;

/** Reports steps and their duration: lines for people on standard error, JSON lines on standard output. */
export class Steps {
  readonly #options: StepsOptions;
  readonly #begun = performance.now();
  readonly #done: { readonly name: string; readonly ms: number }[] = [];

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  say(text: string): void {
    this.#options.err(text);
  }

  /** Runs a step; a slow one tells the awaited event. */
  async run(name: string, work: () => Promise<void>): Promise<void> {
    const begun = performance.now();
    const timer = setInterval(() => this.say(`waiting for: ${name} ...`), WAITING_MS);
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
    this.note(name, performance.now() - begun);
  }

  /** A step that was measured elsewhere. */
  note(name: string, ms: number): void {
    const rounded = Math.round(ms);
    this.#done.push({ name, ms: rounded });
    if (this.#options.json) this.#options.out(JSON.stringify({ type: "step", name, ms: rounded }));
    else this.say(`${name.padEnd(28)} ${(rounded / 1000).toFixed(2).padStart(6)} s`);
  }

  /** A process that has taken the place of another. */
  restarted(name: string, pid: number): void {
    if (this.#options.json) this.#options.out(JSON.stringify({ type: "restarted", name, pid }));
    else this.say(`the ${name} is up again (process ${pid})`);
  }

  /** Addresses and commands for the user. */
  summary({ rpc, rest, grpc, net_url: netUrl, home, ca, homeFlags, deployments, validators }: Summary): void {
    const { out } = this.#options;
    const total = (performance.now() - this.#begun) / 1000;
    this.say(`${"all up".padEnd(28)} ${total.toFixed(2).padStart(6)} s`);
    out("");
    out(`RPC      ${rpc}`);
    out(`REST     ${rest}`);
    out(`gRPC     ${grpc}`);
    out(`Console  ${rest}/console/   (in a browser; with a key to sign: svc console --from alice)`);
    out(`Network  ${netUrl}`);
    for (const [i, node] of validators.slice(1).entries())
      out(`Node ${i + 2}   ${node.rpc}   (process ${node.pid}, home ${node.home})`);
    out(`Home     ${home}   (keys faucet, alice, bob, provider, validator; --keyring-backend test)`);
    out(`Use it   export SVC_HOME=${shellWord(home)}   (commands find its keys and its node)`);
    out(`Tokens   svc faucet <address> 100000000utoken${homeFlags}   (100 ${DISPLAY_DENOM})`);
    out(`TLS      curl --cacert ${shellWord(ca)} https://...   (host names of leases; or trust that certificate)`);
    for (const deployment of deployments) {
      out(`Deployed dseq ${deployment.dseq} at ${deployment.provider}`);
      for (const uri of deployment.uris) out(`         ${uri}`);
      for (const { host, port, proto, service } of deployment.ports) {
        out(`         ${service}: ${proto.toLowerCase()}://${host}:${port}`);
      }
    }
    out("");
    out("Ctrl-C stops everything.");
  }
}
