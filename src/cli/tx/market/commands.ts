import type { FlagSpec } from "../../command/flag-spec.ts";
import { TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";

const DSEQ: FlagSpec = { name: "dseq", value: "<n>", summary: "number of the deployment" };
const OWNER: FlagSpec = {
  name: "owner",
  value: "<address>",
  summary: "account that owns the deployment (default: the sender)",
};
const DEPOSIT: FlagSpec = {
  name: "deposit",
  value: "<coin>",
  summary: "deposit for the deployment (default: the chain's minimum)",
};

/** Commands of the group `tx provider`. */
export const PROVIDER: readonly CommandSpec[] = [
  {
    name: "create",
    args: "<file>",
    summary: "Register a provider from a file with its host, attributes and contact",
    flags: TX_FLAGS,
    example:
      "cat > provider.yaml <<'END'\n" +
      "host: https://provider.example.com:8443\n" +
      "attributes: [{key: region, value: eu-west}]\n" +
      "info: {email: me@example.com, website: https://example.com}\n" +
      "END\n" +
      "svc tx provider create provider.yaml --from provider --fees 5000utoken",
    load: async () => (await import("./provider.ts")).providerCreate,
  },
  {
    name: "update",
    args: "<file>",
    summary: "Change a provider's record to what its file says",
    flags: TX_FLAGS,
    example: "svc tx provider update provider.yaml --from provider --fees 5000utoken",
    load: async () => (await import("./provider.ts")).providerUpdate,
  },
];

const CERT_FLAGS: readonly FlagSpec[] = [
  { name: "nbf", value: "<time>", summary: "time from which the certificate is valid (default: now)" },
  { name: "naf", value: "<days|time>", summary: "when it expires: <n>d or a time (default 365d)" },
  { name: "rie", summary: "revoke the valid certificate and make a new one" },
  { name: "to-genesis", summary: "add the certificate to the genesis file of the home instead of sending it" },
  ...TX_FLAGS,
];

/** Commands of the group `tx cert`. */
export const CERT: readonly CommandSpec[] = [
  {
    name: "create server",
    args: "<hosts...>",
    summary: "For a provider's gateway under these host names",
    flags: CERT_FLAGS,
    example: "svc tx cert create server provider.example.com --from provider --fees 5000utoken",
    load: async () => {
      const { certCreate } = await import("./cert.ts");
      return (input) => certCreate("server", input);
    },
  },
  {
    name: "create client",
    summary: "For a tenant's requests to providers",
    flags: CERT_FLAGS,
    example: "svc tx cert create client --from alice --fees 5000utoken",
    load: async () => {
      const { certCreate } = await import("./cert.ts");
      return (input) => certCreate("client", input);
    },
  },
  {
    name: "revoke",
    args: "[kind]",
    summary: "Revoke a certificate, by default the one in the home",
    flags: [{ name: "serial", value: "<n>", summary: "serial number of the certificate" }, ...TX_FLAGS],
    example: "svc tx cert revoke server --from provider --fees 5000utoken",
    load: async () => (await import("./cert.ts")).certRevoke,
  },
];

/** Commands of the group `tx deployment`. */
export const DEPLOYMENT: readonly CommandSpec[] = [
  {
    name: "create",
    args: "<file>",
    summary: "Create a deployment from a file and order its resources",
    flags: [
      { ...DSEQ, summary: "number of the deployment (default: the current height, or the next free number)" },
      DEPOSIT,
      {
        name: "depositor",
        value: "<address>",
        summary: "account that pays the deposit, by its grant: svc tx authz grant <owner> deposit",
      },
      OWNER,
      ...TX_FLAGS,
    ],
    example: "svc tx deployment create examples/web.yaml --from alice --fees 5000utoken",
    load: async () => (await import("./deployment.ts")).deploymentCreate,
  },
  {
    name: "update",
    args: "<file>",
    summary: "Change what runs in a deployment; its resources stay the same",
    flags: [DSEQ, OWNER, ...TX_FLAGS],
    example: "svc tx deployment update examples/web.yaml --dseq 1234 --from alice",
    load: async () => (await import("./deployment.ts")).deploymentUpdate,
  },
];

/** Commands of the group `tx audit`. */
export const AUDIT: readonly CommandSpec[] = [
  {
    name: "attr create",
    args: "<provider> [pairs...]",
    summary: "Sign attributes of a provider: alternating keys and values, or all of its attributes",
    flags: TX_FLAGS,
    example: "svc tx audit attr create $PROVIDER region eu-west --from auditor",
    load: async () => (await import("./audit.ts")).auditCreate,
  },
];
