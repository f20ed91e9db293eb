import { type ClusterCheck, Fault, type Finding, Unknown } from "../../../provider/index.ts";
import { errorText, printable, SvcError } from "../../../util/index.ts";

export { type ClusterCheck as Check, Fault, type Finding, Unknown } from "../../../provider/index.ts";

/** How many leases, in words. */
export function leaseCount(leases: number): string {
  return leases === 1 ? "1 lease" : `${leases} leases`;
}

/** A check that takes longer has failed. */
export const CHECK_MS = 20_000;
/** Characters of a detail: nodes, gateways and engines write parts of it. */
export const MAX_DETAIL = 300;

/** Looks at everything at the same time; the findings have the order of the checks. Never rejects. */
export function examine(checks: readonly ClusterCheck[], limitMs = CHECK_MS): Promise<Finding[]> {
  return Promise.all(checks.map((check) => findingOf(check, limitMs)));
}

async function findingOf({ name, fix, look }: ClusterCheck, limitMs: number): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return { check: name, state: "ok", detail: shortened(await Promise.race([look(), late])) };
  } catch (error) {
    if (error instanceof Unknown) return { check: name, state: "unknown", detail: shortened(error.message) };
    return { check: name, state: "failed", detail: shortened(errorText(error)), fix: fixOf(error, fix) };
  } finally {
    clearTimeout(timer);
  }
}

function fixOf(error: unknown, usual: string): string {
  if (error instanceof Fault) return error.fix;
  return error instanceof SvcError && error.hint !== undefined ? shortened(error.hint) : usual;
}

function shortened(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, " ");
  return line.length > MAX_DETAIL ? `${line.slice(0, MAX_DETAIL)}...` : line;
}
