import type { FlagSpec } from "../../command/flag-spec.ts";
import { KEYRING_FLAGS, NODE_FLAG, OUTPUT_FLAG } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { CLUSTER_FLAGS } from "../run/cluster.ts";
import { BIDS, CLUSTER, FEES, LEASES } from "../run/settings.ts";

const TEXT: FlagSpec = { ...OUTPUT_FLAG, default: "text" };

/** Checks of a provider: by its operator on its host, and by anybody from outside. */
export const PROVIDER_EXAMINE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "check",
    summary: "Check what this home's provider needs: node, clock, account, certificate, engine, disk, ports and names",
    flags: [
      NODE_FLAG,
      {
        name: "from",
        value: "<key>",
        summary: "name of the provider's key, or its address, which needs no passphrase",
      },
      ...KEYRING_FLAGS,
      FEES.fees,
      BIDS.bidDeposit,
      ...CLUSTER_FLAGS,
      CLUSTER.clusterIngress,
      CLUSTER.clusterIngressClass,
      CLUSTER.clusterGateway,
      CLUSTER.clusterRuntimeClass,
      CLUSTER.clusterLeasedIps,
      CLUSTER.providerLeastFreeDisk,
      LEASES.gatewayListenAddress,
      LEASES.ingressListenAddress,
      LEASES.ingressTlsListenAddress,
      LEASES.ingressTlsCertificates,
      LEASES.ingressTlsAuthority,
      LEASES.ingressAcmeDirectory,
      LEASES.ingressAcmeEmail,
      LEASES.deploymentIngressDomain,
      TEXT,
    ],
    example: "svc provider check --from provider --deployment-ingress-domain apps.example.com",
    load: async () => (await import("./check.ts")).providerCheck,
  },
  {
    name: "verify",
    args: "<address>",
    summary:
      "Check as a tenant whether a provider is reachable, shows the chain's certificate and agrees with the chain",
    flags: [NODE_FLAG, TEXT],
    example: "svc provider verify $PROVIDER",
    load: async () => (await import("./verify.ts")).providerVerify,
  },
];
