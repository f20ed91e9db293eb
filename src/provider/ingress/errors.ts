import { defineErrors } from "../../util/index.ts";

export const ingressErrors = defineErrors("ingress", {
  invalidHost: [2, "not a host name", "write a name such as www.example.com"],
  blockedHost: [3, "hostname not allowed: it is blocked by the provider", "use a host name of your own"],
  ownDomain: [4, "hostname not allowed: it belongs to the provider", "use a host name of your own"],
  hostInUse: [5, "hostname not allowed: in use by another tenant", "use another host name or another provider"],
});
