import { defineErrors } from "../../util/index.ts";

export const ingressErrors = defineErrors("ingress", {
  invalidHost: [2, "not a host name", "write a name such as www.example.com"],
  blockedHost: [3, "hostname not allowed: it is blocked by the provider", "use a host name of your own"],
  ownDomain: [4, "hostname not allowed: it belongs to the provider", "use a host name of your own"],
  hostInUse: [5, "hostname not allowed: in use by another tenant", "use another host name or another provider"],
  hostUnproven: [6, "hostname not allowed: no DNS record proves that it is yours"],
  dnsAway: [
    7,
    "the DNS does not answer, so the owner of the hostname is unknown",
    "nothing was changed; try again in a moment",
  ],
  hostResting: [
    8,
    "hostname not allowed: another tenant of this provider gave it up a short time ago",
    "try again later, or use another host name",
  ],
  tooManyHosts: [9, "too many host names for one lease", "spread them over several deployments"],
  notMovable: [10, "the hostname cannot be migrated"],
  askedTooOften: [
    11,
    "too many checks of your host names in the DNS",
    "write the records that the provider asked for, and try again in a minute",
  ],
  hostUnavailable: [12, "hostname not available here", "use another host name or another provider"],
});
