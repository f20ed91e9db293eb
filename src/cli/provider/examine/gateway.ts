import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import * as v from "valibot";
import { GatewayClient, gatewayClientErrors, publishedCertificates } from "../../../client/index.ts";
import { errorText, isOneOf } from "../../../util/index.ts";
import { asked, type ChainFacts } from "./chain.ts";
import { type Check, Fault, leaseCount, Unknown } from "./finding.ts";

/** Addresses of a name that a detail shows. */
const SHOWN = 4;

type Resolve = (host: string) => Promise<readonly { readonly address: string }[]>;
const bySystem: Resolve = (host) => lookup(host, { all: true });

/** Whether a name resolves. Names of this machine are not looked up: they never leave it. */
export async function resolveName(host: string, resolve = bySystem): Promise<string> {
  if (isIP(host) !== 0) return `${host} is an address`;
  if (host === "localhost" || host.endsWith(".localhost")) return `${host} is this machine`;
  const found = await resolve(host);
  const addresses = found.slice(0, SHOWN).map(({ address }) => address);
  return `${host} resolves to ${addresses.join(", ")}${found.length > SHOWN ? ", ..." : ""}`;
}

/** Host of the address that the provider published. */
export function hostOf(hostUri: string): string {
  if (!URL.canParse(hostUri)) throw new Fault(`${hostUri} is not an address`, "svc tx provider update <file>");
  return new URL(hostUri).hostname.replace(/^\[|\]$/g, "");
}

/** Whether the name under which tenants reach the provider resolves. */
export function dnsCheck(facts: ChainFacts): Check {
  return {
    name: "dns",
    fix: "make a DNS record for the name, or change it: svc tx provider update <file>",
    look: async () => resolveName(hostOf((await facts.record()).hostUri)),
  };
}

const statusSchema = v.object({
  address: v.string(),
  cluster: v.object({ leases: v.pipe(v.number(), v.safeInteger(), v.minValue(0)) }),
});
export type PublicStatus = v.InferOutput<typeof statusSchema>;

/** The gateway's public status, over a connection whose certificate matches the chain's. */
export type Visit = () => Promise<{ readonly status: PublicStatus; readonly ms: number }>;

/** Asks the gateway once for all checks. */
export function visitOf(facts: ChainFacts, options: { readonly hostUri?: string } = {}): Visit {
  const visit: Visit = async () => {
    const { address: provider, hostUri } = { ...(await facts.record()), ...options };
    const client = new GatewayClient({ provider, hostUri, certificateOf: publishedCertificates(facts.chain.query) });
    const start = performance.now();
    const answer = v.safeParse(statusSchema, await client.status());
    if (!answer.success) throw new Error("its answer is not the status of a provider");
    return { status: answer.output, ms: Math.round(performance.now() - start) };
  };
  let made: ReturnType<Visit> | undefined;
  return () => {
    made ??= visit();
    return made;
  };
}

/** Whether tenants reach the gateway and get an answer. */
export function gatewayCheck(visit: Visit): Check {
  return {
    name: "gateway",
    fix: "open its port in firewall and router; svc provider run must run, and host_uri must name it",
    async look() {
      try {
        const { status, ms } = await visit();
        return `${status.address} answers in ${ms} ms`;
      } catch (error) {
        if (isOneOf([gatewayClientErrors.wrongServer], error)) return "it answers";
        throw error;
      }
    },
  };
}

/** Whether the gateway shows the certificate that the chain has. */
export function shownCertificateCheck(visit: Visit): Check {
  return {
    name: "shown certificate",
    fix: "publish a new one and restart the provider: svc tx cert create server <host> --from <key> --rie",
    async look() {
      try {
        await visit();
        return "the gateway presents the one on the chain";
      } catch (error) {
        if (isOneOf([gatewayClientErrors.wrongServer], error)) throw new Error(errorText(error));
        throw new Unknown("the gateway does not answer");
      }
    },
  };
}

/** Blocks pass between the two questions. */
export const LEASES_APART = 2;

/** Whether the gateway speaks for this provider, with as many leases as the chain has. */
export function answersCheck(facts: ChainFacts, visit: Visit): Check {
  return {
    name: "answers",
    fix: "try again in a minute; if the numbers still differ, the provider has lost leases or is another one",
    async look() {
      const { address } = await facts.record();
      const { status } = await visit().catch(() => {
        throw new Unknown("the gateway does not answer");
      });
      if (status.address !== address) throw new Error(`it says that it is ${status.address}`);
      const active = (await asked(facts.market.leases({ provider: address, state: "active" }))).length;
      if (Math.abs(active - status.cluster.leases) > LEASES_APART)
        throw new Error(`it has ${status.cluster.leases} leases, the chain ${active}`);
      return `${leaseCount(status.cluster.leases)}, ${active} on the chain`;
    },
  };
}
