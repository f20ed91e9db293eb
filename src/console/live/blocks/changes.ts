import { isRecord } from "../../../util/index.ts";

/** Changes of the chain that a page has to know of, by the kinds of their events; `all` where events may have been missed. */
export type Changes = ReadonlySet<string> | "all";

/** Type of the marketplace's events, which name their module. */
const MARKETPLACE = "svc.v1";
/** Kind of a block that has changed the voting powers. */
const VALIDATORS = "validators";

/** Kinds of the facts that pages show, with the events by which they change. */
export const KINDS = {
  deployments: ["svc.v1/deployment", "svc.v1/market"],
  market: ["svc.v1/market"],
  providers: ["svc.v1/provider", "svc.v1/audit"],
  /** Validators, and the tokens that are bonded to them. */
  staking: [
    VALIDATORS,
    "create_validator",
    "edit_validator",
    "delegate",
    "unbond",
    "redelegate",
    "cancel_unbonding_delegation",
    "complete_unbonding",
    "slash",
  ],
  supply: ["coinbase", "burn"],
} as const;

/** Kinds of the events of a block, from its results as the node tells them to subscribers. */
export function changesOf(results: unknown): ReadonlySet<string> {
  const kinds = new Set<string>();
  if (!isRecord(results)) return kinds;
  addKinds(kinds, results.events);
  for (const result of listOf(results.tx_results)) if (isRecord(result)) addKinds(kinds, result.events);
  if (listOf(results.validator_updates).length > 0) kinds.add(VALIDATORS);
  return kinds;
}

function addKinds(kinds: Set<string>, events: unknown): void {
  for (const event of listOf(events)) {
    if (!isRecord(event) || typeof event.type !== "string") continue;
    kinds.add(event.type === MARKETPLACE ? `${MARKETPLACE}/${moduleOf(event.attributes)}` : event.type);
  }
}

function moduleOf(attributes: unknown): string {
  const named = listOf(attributes).find((each) => isRecord(each) && each.key === "module");
  return isRecord(named) ? String(named.value) : "";
}

/** Whether an answer that changes by some kinds may be another one after a block. */
export function concerns(changes: Changes, kinds: readonly string[]): boolean {
  return changes === "all" || kinds.some((kind) => changes.has(kind));
}

/** Changes of both, one after the other. */
export function merged(first: Changes, second: Changes): Changes {
  return first === "all" || second === "all" ? "all" : new Set([...first, ...second]);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
