import { defineModule, fixedGas, type Module } from "../../runtime/index.ts";
import type { Escrow } from "../escrow/index.ts";
import { deploymentGenesis } from "./genesis.ts";
import { deploymentInvariants } from "./invariants.ts";
import { DeploymentKeeper, type DepositGrants, type GroupMarket } from "./keeper.ts";
import { deploymentMsgs } from "./msgs.ts";
import { deploymentQueries } from "./queries.ts";

export { DeploymentKeeper, type DepositGrants, escrowId, type GroupMarket, idOf, type PrunedOrders } from "./keeper.ts";

/** Makes the module and its keeper. */
export function deploymentModule(
  escrow: Escrow,
  market: GroupMarket,
  grants: DepositGrants,
): { readonly keeper: DeploymentKeeper; readonly module: Module } {
  const keeper = new DeploymentKeeper(escrow, market, grants);
  const module = defineModule({
    name: "deployment",
    version: 2,
    msg: deploymentMsgs(keeper),
    query: deploymentQueries(keeper, escrow),
    genesis: deploymentGenesis(keeper),
    endBlock: (ctx) => void keeper.endBlock(ctx),
    invariants: deploymentInvariants(keeper, escrow),
    messageGas: (ctx, message) => fixedGas(keeper.getParams(ctx).messageGas, message),
  });
  return { keeper, module };
}
