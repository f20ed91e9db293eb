import type { UpgradeKeeper } from "../../modules/upgrade/index.ts";
import { brokenInvariants, type Context, InvariantBreach, isFatal, type Module } from "../../runtime/index.ts";
import type { KVReader } from "../../store/index.ts";
import { errorText } from "../../util/index.ts";
import type { Plan } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { type Migration, migrate, moduleSetErrors } from "./module-versions.ts";

/** Changes of the state that an upgrade makes after the migrations of the modules. */
export type UpgradeHandler = (ctx: Context) => void;

/** By the name of the upgrade. */
export type UpgradeHandlers = Readonly<Record<string, UpgradeHandler>>;

/**
 * Upgrades that this program executes. The last upgrade of a chain must stay here in later programs: without it, a
 * program is older than the chain.
 */
export const UPGRADES: UpgradeHandlers = {};

/** The next block begins with an upgrade that this program lacks. */
export class UpgradeNeeded extends Error {
  readonly plan: Pick<Plan, "name" | "height" | "info">;

  constructor(plan: Plan) {
    // Launchers of programs and operators look for this line of the ecosystem.
    super(`UPGRADE "${plan.name}" NEEDED at height: ${plan.height}: ${plan.info}`);
    this.name = "UpgradeNeeded";
    this.plan = plan;
  }
}

export interface UpgradeOptions {
  readonly keeper: UpgradeKeeper;
  readonly modules: readonly Module[];
  readonly handlers: UpgradeHandlers;
  /** Heights at which a planned upgrade is dropped instead. */
  readonly skipped: ReadonlySet<bigint>;
}

/** Decides which blocks this program may execute, and executes upgrades. */
export class Upgrades {
  readonly #options: UpgradeOptions;

  constructor(options: UpgradeOptions) {
    this.#options = options;
  }

  /** Whether the block begins with a planned upgrade that this program has. */
  isDue(store: KVReader, height: bigint): boolean {
    const { keeper, skipped } = this.#options;
    const plan = keeper.read(store);
    return (
      plan !== undefined && plan.height <= height && !skipped.has(height) && this.#handler(plan.name) !== undefined
    );
  }

  /** Throws if this program must not execute the block of the context: it lacks the upgrade, or has it too early. */
  check(ctx: Context): void {
    const { keeper } = this.#options;
    const plan = keeper.plan(ctx);
    if (plan !== undefined && this.#isNow(plan, ctx.height)) {
      if (this.#handler(plan.name) === undefined) throw new UpgradeNeeded(plan);
      return;
    }
    const last = keeper.lastApplied(ctx);
    if (last !== undefined && this.#handler(last.name) === undefined)
      throw moduleSetErrors.olderProgram(`upgrade ${last.name} was applied at height ${last.height}`);
    if (plan !== undefined && plan.height > ctx.height && this.#handler(plan.name) !== undefined)
      throw moduleSetErrors.tooEarly(
        `upgrade ${plan.name} is planned for height ${plan.height}, the next block is ${ctx.height}`,
      );
  }

  /** Begins a block: with the planned upgrade where it is due, else with the migrations that the program brings. */
  begin(ctx: Context, due: readonly Migration[]): void {
    this.check(ctx);
    const { keeper } = this.#options;
    const plan = keeper.plan(ctx);
    if (plan !== undefined && this.#isNow(plan, ctx.height)) {
      this.#apply(ctx, plan, due);
      return;
    }
    migrate(ctx, due);
    if (plan === undefined || plan.height > ctx.height) return;
    keeper.clear(ctx);
    ctx.events.emit("upgrade_skipped", { name: plan.name, height: `${ctx.height}` });
  }

  /** Nothing is kept of an upgrade that fails: its block is not committed. */
  #apply(ctx: Context, plan: Plan, due: readonly Migration[]): void {
    const { keeper, modules } = this.#options;
    const migrated = new Set(due.map(({ module }) => module));
    try {
      // Modules that migrate read only the form that comes after it.
      holdInvariants(
        ctx,
        modules.filter(({ name, store }) => store === undefined && !migrated.has(name)),
      );
      migrate(ctx, due);
      this.#handler(plan.name)?.(ctx);
      keeper.complete(ctx, plan);
      holdInvariants(ctx, modules);
    } catch (cause) {
      if (isFatal(cause)) throw cause;
      throw moduleSetErrors.upgradeFailed(
        `upgrade ${plan.name} failed at height ${ctx.height}, and nothing of it was kept: ${errorText(cause)}`,
        { cause },
      );
    }
    ctx.events.emit("upgrade_applied", { name: plan.name, height: `${ctx.height}` });
  }

  #isNow({ height }: Plan, next: bigint): boolean {
    return height <= next && !this.#options.skipped.has(next);
  }

  #handler(name: string): UpgradeHandler | undefined {
    const { handlers } = this.#options;
    return Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  }
}

function holdInvariants(ctx: Context, modules: readonly Module[]): void {
  const broken = brokenInvariants(modules, ctx);
  if (broken.length > 0) throw new InvariantBreach(ctx.height, broken);
}
