import type { FlagSpec } from "../../command/flag-spec.ts";
import { KEYRING_FLAGS, NODE_FLAG, OUTPUT_FLAG } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { LOG_FLAGS } from "./log-flags.ts";

const TEXT: FlagSpec = { ...OUTPUT_FLAG, default: "text" };

const TENANT_FLAGS: readonly FlagSpec[] = [
  { name: "from", value: "<key>", summary: "name or address of the key that owns the deployment" },
  {
    name: "auth-type",
    value: "<kind>",
    summary: "how to authenticate (default: mtls if this home has a client certificate)",
    choices: ["mtls", "jwt"],
  },
  ...KEYRING_FLAGS,
  NODE_FLAG,
];

const LEASE_FLAGS: readonly FlagSpec[] = [
  { name: "dseq", value: "<n>", summary: "number of the deployment" },
  { name: "gseq", value: "<n>", summary: "number of the group (default: the leased one)" },
  { name: "oseq", value: "<n>", summary: "number of the order (default: the leased one)" },
  { name: "provider", value: "<address>", summary: "the provider (default: the one that holds the lease)" },
  ...TENANT_FLAGS,
];

const SERVICES: FlagSpec = {
  name: "service",
  value: "<names>",
  summary: "services, separated by commas (default: all)",
};
const FOLLOW: FlagSpec = { name: "follow", short: "f", summary: "follow new output until interrupted" };

/** Requests of tenants to the provider of their lease, and public ones to any provider. */
export const PROVIDER_CLIENT_COMMANDS: readonly CommandSpec[] = [
  {
    name: "send-manifest",
    args: "<file>",
    summary: "Send the manifest of a deployment file to the providers that hold its leases",
    flags: [...LEASE_FLAGS, TEXT],
    example: "svc provider send-manifest deploy.yaml --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).sendManifest,
  },
  {
    name: "get-manifest",
    summary: "Show the manifest that is in force for a lease",
    flags: [...LEASE_FLAGS, TEXT],
    example: "svc provider get-manifest --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).getManifest,
  },
  {
    name: "lease-status",
    summary: "Show the services of a lease with their addresses",
    flags: [...LEASE_FLAGS, TEXT],
    example: "svc provider lease-status --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).leaseStatus,
  },
  {
    name: "service-status",
    summary: "Show one service of a lease",
    flags: [...LEASE_FLAGS, { name: "service", value: "<name>", summary: "the service" }, TEXT],
    example: "svc provider service-status --service web --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).serviceStatus,
  },
  {
    name: "lease-logs",
    summary: "Show the logs of the services of a lease",
    flags: [
      ...LEASE_FLAGS,
      SERVICES,
      FOLLOW,
      { name: "tail", value: "<n>", summary: "lines from the end, per replica; -1 for all", default: "-1" },
      ...LOG_FLAGS,
      TEXT,
    ],
    example: "svc provider lease-logs -f --service web --dseq 1234 --from alice",
    load: async () => (await import("./streams.ts")).leaseLogs,
  },
  {
    name: "lease-events",
    summary: "Show what happened to a lease: images, starts, failures",
    flags: [...LEASE_FLAGS, SERVICES, FOLLOW, TEXT],
    example: "svc provider lease-events -f --dseq 1234 --from alice",
    load: async () => (await import("./streams.ts")).leaseEvents,
  },
  {
    name: "lease-restart",
    summary: "Restart the replicas of a service, one after the other",
    flags: [...LEASE_FLAGS, { name: "service", value: "<name>", summary: "the service" }, TEXT],
    example: "svc provider lease-restart --service web --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).leaseRestart,
  },
  {
    name: "migrate-hostnames",
    args: "<hostname...>",
    summary:
      "Migrate your own host names to another of your deployments at the same provider, without losing a request",
    flags: [...LEASE_FLAGS, TEXT],
    example: "svc provider migrate-hostnames www.example.com --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).migrateHostnames,
  },
  {
    name: "migrate-endpoints",
    args: "<endpoint...>",
    summary: "Migrate your leased IP addresses to another of your deployments at the same provider",
    flags: [...LEASE_FLAGS, TEXT],
    example: "svc provider migrate-endpoints public --dseq 1234 --from alice",
    load: async () => (await import("./requests.ts")).migrateEndpoints,
  },
  {
    name: "lease-shell",
    args: "<service> <command...>",
    summary: "Run a command in a service, with your terminal if there is one",
    flags: [
      ...LEASE_FLAGS,
      { name: "stdin", short: "i", summary: "pass standard input to the command; the default when it is piped" },
      { name: "tty", short: "t", summary: "give the command a terminal" },
      { name: "replica-index", value: "<n>", summary: "which replica, from 0", default: "0" },
    ],
    example: "svc provider lease-shell --dseq 1234 --from alice web sh",
    passThrough: true,
    load: async () => (await import("./shell.ts")).leaseShell,
  },
  {
    name: "status",
    args: "<address>",
    summary: "Show a provider's public status: leases, capacity and orders",
    flags: [{ name: "watch", summary: "show it again after each change, until interrupted" }, NODE_FLAG, TEXT],
    example: "svc provider status $PROVIDER",
    load: async () => (await import("./requests.ts")).providerStatus,
  },
];
