export { installOn, lackingOn } from "./install.ts";
export { installObjects } from "./objects.ts";
export { CLUSTER_RULES, DEFINED, LEASES_RULES, lackingRights, type Rule } from "./rights.ts";
