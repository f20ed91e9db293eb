import { authModule, FEE_COLLECTOR } from "../modules/auth/index.ts";
import { authzModule } from "../modules/authz/index.ts";
import { bankModule } from "../modules/bank/index.ts";
import { consensusModule } from "../modules/consensus/index.ts";
import { feegrantModule } from "../modules/feegrant/index.ts";
import { parameterSet } from "../modules/gov/index.ts";
import { upgradeModule } from "../modules/upgrade/index.ts";
import { type Module, messageService, Router } from "../runtime/index.ts";
import { type ApplicationOptions, SvcApplication } from "./application.ts";
import { marketplaceModules, stakeModules } from "./marketplace.ts";
import type { BaseKeepers, ModuleSet } from "./module-set.ts";
import * as independent from "./modules.ts";
import { versionsOf } from "./upgrades/module-versions.ts";

/**
 * Puts a set of modules together: accounts, transfers, block limits and fee allowances first, then the modules of
 * `more`. Module accounts become known here, from each module's declaration.
 */
export function moduleSet(more: (base: BaseKeepers) => readonly Module[]): ModuleSet {
  const consensus = consensusModule();
  const auth = authModule((ctx) => consensus.keeper.params(ctx).block.maxGas);
  const bank = bankModule(auth.keeper);
  const feegrant = feegrantModule(auth.keeper, bank.keeper);
  const upgrade = upgradeModule(() => versionsOf(modules));
  const messages = messageService(() => router);
  const parameters = (name: string) => parameterSet(modules, name);
  const modules: readonly Module[] = [
    auth.module,
    bank.module,
    consensus.module,
    feegrant.module,
    upgrade.module,
    ...more({ auth: auth.keeper, bank: bank.keeper, consensus: consensus.keeper, messages, parameters }),
  ];
  const router = new Router(modules);
  for (const { accounts } of modules) auth.keeper.modules.register(accounts ?? []);
  return {
    modules,
    consensus: consensus.keeper,
    upgrade: upgrade.keeper,
    ante: { accounts: auth.keeper, bank: bank.keeper, feeGrants: feegrant.keeper, feeCollector: FEE_COLLECTOR },
    accountsOf: {
      [auth.module.name]: (key) => auth.keeper.accountOf(key),
      [bank.module.name]: (key) => bank.keeper.accountOf(key),
      [feegrant.module.name]: (key) => feegrant.keeper.accountOf(key),
    },
  };
}

/** The modules of the chain. A module that no other calls is one line of `modules.ts`. */
export function standardModules(): ModuleSet {
  return moduleSet((base) => {
    const authz = authzModule(base);
    return [
      ...stakeModules(base),
      authz.module,
      ...marketplaceModules(base, authz.keeper),
      ...independentModules(base),
    ];
  });
}

function independentModules(base: BaseKeepers): Module[] {
  const makers: Readonly<Record<string, (base: BaseKeepers) => { readonly module: Module }>> = independent;
  return Object.keys(makers)
    .sort()
    .flatMap((name) => makers[name]?.(base).module ?? []);
}

/** The application with the modules of the chain. */
export function createApp(options: Omit<ApplicationOptions, "set"> & { readonly set?: ModuleSet }): SvcApplication {
  return new SvcApplication({ ...options, set: options.set ?? standardModules() });
}
