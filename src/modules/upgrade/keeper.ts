import { create } from "@bufbuild/protobuf";
import type { Context } from "../../runtime/index.ts";
import {
  checkPrefixes,
  collection,
  item,
  type KVReader,
  type KVStore,
  protoValue,
  stringKey,
} from "../../store/index.ts";
import {
  type AppliedUpgrade,
  AppliedUpgradeSchema,
  type GenesisState,
  GenesisStateSchema,
} from "../../wire/gen/sdk/upgrade/v1beta1/genesis_pb.js";
import { type Plan, PlanSchema } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { upgradeErrors as errors } from "../../wire/index.ts";

/** The records stand beside the versions of the modules, so that the module needs no store of its own. */
export const STORE = "consensus";

/** Names of folders and files of upgrades; launchers of programs make folders of them. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** One line of printable ASCII: the node prints it. */
const INFO = /^[ -~]{0,4096}$/;
/** Seconds of 0001-01-01, which clients of the ecosystem send as the time of a plan without one. */
const NO_TIME = -62_135_596_800n;

/** The planned upgrade, and the heights at which earlier ones were applied. */
export class UpgradeKeeper {
  readonly #plan = item({ name: "upgrade plan", prefix: 0x03, value: protoValue(PlanSchema) });
  readonly #applied = collection({
    name: "applied upgrade",
    prefix: 0x04,
    key: stringKey,
    value: protoValue(AppliedUpgradeSchema),
  });

  constructor() {
    checkPrefixes({ plan: this.#plan, applied: this.#applied });
  }

  /** The planned upgrade, in the state of the consensus store. */
  read(store: KVReader): Plan | undefined {
    return this.#plan.get(store);
  }

  plan(ctx: Context): Plan | undefined {
    return this.read(store(ctx));
  }

  /** Plans an upgrade, instead of the one that was planned before. */
  schedule(ctx: Context, plan: Plan): void {
    const { name, height } = plan;
    if (height <= ctx.height)
      throw errors.invalidPlan(`height ${height} is not in the future: this is block ${ctx.height}`);
    const applied = this.applied(ctx, name);
    if (applied !== undefined) throw errors.alreadyApplied(`${name} at height ${applied.height}`);
    this.#set(ctx, plan);
  }

  /** Drops the plan and returns it. */
  clear(ctx: Context): Plan | undefined {
    const plan = this.plan(ctx);
    if (plan !== undefined) this.#plan.delete(store(ctx));
    return plan;
  }

  /** Records that this block began with the planned upgrade. */
  complete(ctx: Context, { name }: Plan): void {
    this.#plan.delete(store(ctx));
    this.#applied.set(store(ctx), name, create(AppliedUpgradeSchema, { name, height: ctx.height }));
  }

  applied(ctx: Context, name: string): AppliedUpgrade | undefined {
    return name.includes("\0") ? undefined : this.#applied.get(store(ctx), name);
  }

  /** The upgrade that was applied last. */
  lastApplied(ctx: Context): AppliedUpgrade | undefined {
    const all = [...this.#applied.values(store(ctx))];
    return all.reduce<AppliedUpgrade | undefined>(
      (last, each) => (last === undefined || each.height > last.height ? each : last),
      undefined,
    );
  }

  init(ctx: Context, { plan, applied }: GenesisState): void {
    if (plan !== undefined) this.#set(ctx, plan);
    for (const each of applied) this.#applied.set(store(ctx), each.name, each);
  }

  export(ctx: Context): GenesisState {
    const plan = this.plan(ctx);
    const applied = [...this.#applied.values(store(ctx))];
    return create(GenesisStateSchema, { applied, ...(plan === undefined ? {} : { plan }) });
  }

  #set(ctx: Context, { name, height, info }: Plan): void {
    this.#plan.set(store(ctx), create(PlanSchema, { name, height, info }));
  }
}

function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

export function isUpgradeName(name: string): boolean {
  return NAME.test(name);
}

/** A fault of a plan that shows without the state, in one sentence. */
export function planProblem(plan: Plan | undefined): string | undefined {
  if (plan === undefined) return "the plan is missing";
  const { name, time, height, info } = plan;
  if (!isUpgradeName(name))
    return "the name must be 1 to 64 letters, digits, dots, dashes or underscores, and begin with a letter or digit";
  if (height < 1n) return "the height must be greater than 0";
  if (time !== undefined && (time.seconds !== NO_TIME || time.nanos !== 0))
    return "the plan has a time; an upgrade is planned for a height";
  if (!INFO.test(info)) return "the info must be at most 4096 characters of printable ASCII in one line";
  return undefined;
}
