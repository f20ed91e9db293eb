import {
  type ChainQuery,
  GatewayClient,
  type GatewayCredential,
  GatewayRefusal,
  type GatewayTarget,
  gatewayClientErrors,
  isUnproven,
  type LeaseStatus,
  type ProviderRecord,
  publishedCertificates,
  type WebTarget,
} from "../../client/index.ts";
import { errorText, ipVersion, steadyClock } from "../../util/index.ts";
import type { LeaseState, ManifestOutcome, PortState, ServiceState, TenantGateway } from "./gateway.ts";
import { type Journal, memoryJournal } from "./journal.ts";
import type { DeployParts } from "./session.ts";

/** How a tenant reaches the gateways of providers. */
export interface LiveGatewayOptions {
  /** Where a provider's gateway is; throws if it cannot be reached from here. */
  readonly target: (provider: ProviderRecord) => GatewayTarget | WebTarget;
  /** Called when the credential is first needed. */
  readonly credential: () => Promise<GatewayCredential>;
}

/** The addresses of providers on the chain, authenticated by their certificates there. */
export function certifiedBy(query: ChainQuery): LiveGatewayOptions["target"] {
  const certificateOf = publishedCertificates(query);
  return ({ address, hostUri }) => ({ provider: address, hostUri, certificateOf });
}

/** The client of a provider's gateway, with the tenant's credential. */
export async function gatewayOf(
  { target, credential }: LiveGatewayOptions,
  provider: ProviderRecord,
): Promise<GatewayClient> {
  return new GatewayClient({ ...target(provider), credential: await credential() });
}

/** A provider whose gateway takes longer than this to answer gets no lease. */
const REACH_MS = 10_000;

/** A provider's gateway over the network. */
export function liveGateway(options: LiveGatewayOptions, provider: ProviderRecord): TenantGateway {
  return {
    async reach() {
      await new GatewayClient({ ...options.target(provider), timeoutMs: REACH_MS }).version();
    },
    async sendManifest(dseq, manifest) {
      try {
        await (await gatewayOf(options, provider)).sendManifest(dseq, manifest);
        return { kind: "taken" };
      } catch (error) {
        if (isUnproven(error)) throw error;
        return manifestOutcome(error);
      }
    },
    async status(lease) {
      try {
        return readState(await (await gatewayOf(options, provider)).leaseStatus(lease));
      } catch (error) {
        if (error instanceof GatewayRefusal && error.status === 404) return undefined;
        throw error;
      }
    },
    async hostsRefusal(order, hosts) {
      try {
        await (await gatewayOf(options, provider)).checkHosts(order, hosts);
        return undefined;
      } catch (error) {
        if (isUnproven(error)) throw error;
        // Whatever may pass, and providers that do not know the question, is left to the manifest.
        const outcome = manifestOutcome(error);
        return outcome.kind === "refused" ? outcome : undefined;
      }
    },
    async refusal(order) {
      try {
        const answer = await (await gatewayOf(options, provider)).orderStatus(order);
        const { phase, reason, remedy, final: isFinal = false } = answer;
        if (reason === undefined && phase !== "refused") return undefined;
        const told = reason ?? "it refused the order without a reason";
        return { reason: told, isFinal, ...(remedy === undefined ? {} : { remedy }) };
      } catch (error) {
        if (error instanceof GatewayRefusal && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}

/** How a page reaches the gateways of providers, and keeps what it has begun. */
export interface GatewayPartsOptions {
  /** Makes the tokens for gateways. */
  readonly credential: GatewayCredential;
  /** URL of a provider's gateway for browsers, or of a relay to it; undefined if it has none. */
  readonly gatewayUrl: (provider: ProviderRecord) => string | undefined;
  /** Records of begun deployments, by which an interrupted one is continued; lost with the page when left out. */
  readonly journal?: Journal;
}

/** The parts of a page's deployment beside the marketplace. */
export function gatewayParts({
  gatewayUrl,
  credential,
  journal = memoryJournal(),
}: GatewayPartsOptions): Omit<DeployParts, "market"> {
  const target = (provider: ProviderRecord) => {
    const url = gatewayUrl(provider);
    if (url === undefined) throw gatewayClientErrors.noWebAddress(provider.address);
    return { provider: provider.address, url };
  };
  return {
    openGateway: (provider) => liveGateway({ target, credential: async () => credential }, provider),
    journal,
    clock: steadyClock,
    publishCertificate: async () => undefined,
  };
}

/** A lease that the provider has not seen yet, and a provider that is away or busy, are tried again. */
const PASSING = new Set([404, 408, 409, 429]);

/** Classifies a failed attempt to send a manifest. */
export function manifestOutcome(error: unknown): ManifestOutcome {
  const reason = errorText(error);
  if (!(error instanceof GatewayRefusal)) return { kind: "later", reason };
  const kind = error.status >= 500 || PASSING.has(error.status) ? "later" : "refused";
  return { kind, reason, ...(error.hint === undefined ? {} : { remedy: error.hint }) };
}

/** The provider's answer in our terms. */
export function readState(status: LeaseStatus): LeaseState {
  return {
    version: status.version,
    services: Object.values(status.services).map((service) => readService(service, status.generation)),
    ports: [...forwardedPorts(status), ...leasedPorts(status)],
    ...(status.withheld_endpoints.length === 0 ? {} : { withheldEndpoints: status.withheld_endpoints }),
    ...(unassigned(status).length === 0 ? {} : { unassigned: unassigned(status) }),
    ...(status.withheld_hosts.length === 0 ? {} : { withheld: status.withheld_hosts }),
    ...(status.health === "unknown" ? { unknown: true as const } : {}),
    ...(status.error === undefined ? {} : { error: status.error }),
  };
}

function forwardedPorts({ forwarded_ports: ports }: LeaseStatus): PortState[] {
  return Object.entries(ports ?? {}).flatMap(([name, list]) => list.map((port) => readPort(name, port)));
}

/** Ports of leased addresses that lead to a service. */
function leasedPorts({ ips }: LeaseStatus): PortState[] {
  return Object.entries(ips ?? {}).flatMap(([service, list]) =>
    list
      .filter(({ Assigned, IP }) => Assigned && ipVersion(IP) !== 0)
      .map(({ IP, Port, ExternalPort, Protocol }) =>
        readPort(service, {
          host: ipVersion(IP) === 6 ? `[${IP}]` : IP,
          port: Port,
          externalPort: ExternalPort,
          proto: Protocol,
          name: service,
        }),
      ),
  );
}

function unassigned({ ips }: LeaseStatus): string[] {
  const waiting = Object.values(ips ?? {}).flatMap((list) => list.filter(({ Assigned }) => !Assigned));
  const texts = waiting.map(({ IP, Endpoint, Problem }) => `${IP} (${Endpoint})${Problem ? `: ${Problem}` : ""}`);
  return [...new Set(texts)];
}

function readService(service: LeaseStatus["services"][string], generation: number): ServiceState {
  const {
    name,
    available,
    total,
    observed_generation: observed,
    updated_replicas: updated,
    urls,
    uris,
    error,
  } = service;
  return {
    name,
    available,
    total,
    // Replicas from before the last manifest say nothing about it.
    updated: observed < generation ? 0 : updated,
    urls:
      addresses(urls ?? []).length > 0
        ? addresses(urls ?? [])
        : addresses((uris ?? []).map((host) => `http://${host}`)),
    ...(error === undefined ? {} : { error }),
  };
}

/** Addresses that a browser could open; the answer is untrusted. */
function addresses(urls: readonly string[]): readonly string[] {
  return urls.filter((url) => /^https?:\/\//.test(url) && URL.canParse(url));
}

type WirePort = NonNullable<LeaseStatus["forwarded_ports"]>[string][number];

function readPort(service: string, { host, port, externalPort, proto }: WirePort): PortState {
  return {
    service,
    host,
    port: externalPort,
    containerPort: port,
    proto: proto.toUpperCase() === "UDP" ? "UDP" : "TCP",
  };
}
