import type { TokenLeases, TokenScope } from "../../../crypto/index.ts";
import type { OrderNumbers } from "../../../wire/index.ts";

/** The access that a request wants. Without `gseq` it concerns all leases of the deployment here. */
export interface Wanted extends OrderNumbers {
  readonly provider: string;
  readonly scope: TokenScope;
  /** Services it is about; empty for all. */
  readonly services: readonly string[];
}

type Permission = Extract<TokenLeases, { access: "granular" }>["permissions"][number];
type Granted = NonNullable<Permission["deployments"]>[number];

/** Whether a token allows the request; it allows only what it mentions. */
export function allows(leases: TokenLeases, wanted: Wanted): boolean {
  if (leases.access === "full") return true;
  if (leases.access === "scoped") return leases.scope.includes(wanted.scope);
  const permission = leases.permissions.find(({ provider }) => provider === wanted.provider);
  if (permission === undefined) return false;
  if (permission.access === "full") return true;
  if (permission.access === "scoped") return permission.scope?.includes(wanted.scope) === true;
  return permission.deployments?.some((granted) => covers(granted, wanted)) === true;
}

/** Whether a token allows the action on anything at all at the provider. */
export function mentions(leases: TokenLeases, { provider, scope }: Pick<Wanted, "provider" | "scope">): boolean {
  if (leases.access === "full") return true;
  if (leases.access === "scoped") return leases.scope.includes(scope);
  const permission = leases.permissions.find((each) => each.provider === provider);
  if (permission === undefined) return false;
  if (permission.access === "full") return true;
  if (permission.access === "scoped") return permission.scope?.includes(scope) === true;
  return (
    permission.deployments?.some((granted) => granted.scope === undefined || granted.scope.includes(scope)) === true
  );
}

function covers({ dseq, gseq, oseq, scope, services }: Granted, wanted: Wanted): boolean {
  if (BigInt(dseq) !== wanted.dseq) return false;
  if (gseq !== undefined && gseq !== wanted.gseq) return false;
  if (oseq !== undefined && oseq !== wanted.oseq) return false;
  if (scope !== undefined && !scope.includes(wanted.scope)) return false;
  if (services === undefined) return true;
  return wanted.services.length > 0 && wanted.services.every((name) => services.includes(name));
}
