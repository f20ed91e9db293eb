import { isIPv4, isIPv6 } from "node:net";
import { errorText, type Logger } from "../../../../util/index.ts";
import { type CarriedPort, type PortCarrier, portName } from "../../contract/index.ts";
import type { KernelPorts } from "./kernel-ports.ts";
import type { KernelPort } from "./rules.ts";

/** A host port, and its replicas as the kernel of this machine reaches them. */
export interface ReachedPort extends CarriedPort {
  readonly direct?: { readonly addresses: readonly string[]; readonly port: number };
}

/**
 * Carries node ports through the kernel, in front of another carrier that listens on them as well: the other one serves
 * loopback, connections beyond the kernel's limits, and everything if rules cannot be set.
 */
export class KernelCarrier implements PortCarrier {
  readonly #below: PortCarrier;
  readonly #kernel: KernelPorts;
  readonly #log: Logger;

  constructor(below: PortCarrier, kernel: KernelPorts, log: Logger) {
    this.#below = below;
    this.#kernel = kernel;
    this.#log = log;
  }

  async carry(lease: string, ports: readonly ReachedPort[]): Promise<ReadonlyMap<string, string>> {
    // An ending replica gets no new connections; a new replica gets them once the port is known to be ours.
    if (ports.length === 0) await this.#set(lease, []);
    const listened = ports.map(({ direct, ...port }) =>
      direct === undefined || kernelHost(port.host) === "none" ? port : { ...port, shared: true },
    );
    const failures = await this.#below.carry(lease, listened);
    if (ports.length > 0) {
      const open = ports.filter((port) => !failures.has(portName(port)));
      await this.#set(
        lease,
        open.flatMap((port) => kernelPort(port) ?? []),
      );
    }
    return failures;
  }

  close(): void {
    this.#below.close();
  }

  /** The port works without rules too. */
  async #set(lease: string, ports: readonly KernelPort[]): Promise<void> {
    try {
      await this.#kernel.set(lease, ports);
    } catch (error) {
      this.#log.warn("node ports could not be given to the kernel; the data plane carries them", {
        err: errorText(error),
      });
    }
  }
}

/** Undefined for a port that only programs of this machine reach. */
function kernelPort({ proto, hostPort, host, direct }: ReachedPort): KernelPort | undefined {
  const address = kernelHost(host);
  if (direct === undefined || address === "none") return undefined;
  return {
    proto: proto === "UDP" ? "udp" : "tcp",
    hostPort,
    host: address === "any" ? undefined : address,
    replicas: direct.addresses.filter((each) => isIPv4(each)),
    port: direct.port,
  };
}

/** The IPv4 address that the kernel looks at, `any`, or `none` where there is nothing for it. */
function kernelHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "any";
  return isIPv6(host) || host.startsWith("127.") ? "none" : host;
}
