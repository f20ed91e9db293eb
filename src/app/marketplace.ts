import { auditModule } from "../modules/audit/index.ts";
import { type DepositGrants, deploymentModule } from "../modules/deployment/index.ts";
import { distributionModule } from "../modules/distribution/index.ts";
import { escrowModule } from "../modules/escrow/index.ts";
import { evidenceModule } from "../modules/evidence/index.ts";
import { govModule } from "../modules/gov/index.ts";
import { marketModule } from "../modules/market/index.ts";
import { mintModule } from "../modules/mint/index.ts";
import { providerModule } from "../modules/provider/index.ts";
import { slashingModule } from "../modules/slashing/index.ts";
import { slash, stakingModule } from "../modules/staking/index.ts";
import type { Context, Module, NestedMessage } from "../runtime/index.ts";
import { MsgDepositDeploymentSchema } from "../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { decodeAddress, parseDeploymentId, typeUrlOf } from "../wire/index.ts";
import type { BaseKeepers } from "./module-set.ts";

/**
 * The modules of proof of stake. Begin-block items run in the order of the list: new coins join the fees before these
 * are distributed, and both before penalties. Distribution, slashing and governance have hooks in staking, and read it,
 * so their functions reach a keeper that is made further down. Governance ends its votes on the validators of the
 * previous block, so it comes before staking.
 */
export function stakeModules({ auth, bank, consensus, messages, parameters }: BaseKeepers): Module[] {
  const distribution = distributionModule(bank, {
    findValidator: (ctx, operator) => staking.keeper.findValidator(ctx, operator),
    findByConsensus: (ctx, consensus) => staking.keeper.findByConsensus(ctx, consensus),
    shares: (ctx, delegator, validator) => staking.keeper.shares(ctx, delegator, validator),
    validatorsOf: (ctx, delegator) => staking.keeper.validatorsOf(ctx, delegator),
    validators: (ctx) => staking.keeper.validators(ctx),
    allDelegations: (ctx) => staking.keeper.allDelegations(ctx),
    bondDenom: (ctx) => staking.keeper.bondDenom(ctx),
  });
  const slashing = slashingModule({
    findValidator: (ctx, operator) => staking.keeper.findValidator(ctx, operator),
    findByConsensus: (ctx, consensus) => staking.keeper.findByConsensus(ctx, consensus),
    shares: (ctx, delegator, validator) => staking.keeper.shares(ctx, delegator, validator),
    validators: (ctx) => staking.keeper.validators(ctx),
    jail: (ctx, validator) => staking.keeper.jail(ctx, validator),
    unjail: (ctx, validator) => staking.keeper.unjail(ctx, validator),
    slash: (ctx, infraction) => slash(staking.keeper, ctx, infraction),
  });
  const gov = govModule({
    bank,
    messages,
    stake: {
      bondedValidators: (ctx) => staking.keeper.bondedValidators(ctx),
      totalBonded: (ctx) => staking.keeper.totalBonded(ctx),
      delegations: (ctx, delegator) => staking.keeper.delegations(ctx, delegator),
    },
    pool: distribution.keeper,
    costs: (ctx) => auth.storeCosts(ctx),
    legacy: { parameters },
  });
  const staking = stakingModule(bank, [distribution.hooks, slashing.hooks, gov.hooks]);
  const evidence = evidenceModule({ penalties: slashing.penalties, ages: (ctx) => consensus.params(ctx).evidence });
  const mint = mintModule(bank, staking.keeper);
  return [mint, distribution, slashing, evidence, gov, staking].map(({ module }) => module);
}

/**
 * The modules of the marketplace. They call each other in circles (funds run out, so a lease ends, so a group stops), so
 * some functions reach a keeper that is made further down; they are called when all are there. Escrow's end-block item
 * comes before the market's.
 */
export function marketplaceModules({ bank }: BaseKeepers, grants: Grants): Module[] {
  const escrow = escrowModule(bank, {
    exhausted: (ctx, { id }) => deployment.keeper.exhausted(ctx, parseDeploymentId(id.xid)),
    lowBalance: (ctx, { id }, blocks) => deployment.keeper.lowBalance(ctx, parseDeploymentId(id.xid), blocks),
  });
  const deployment = deploymentModule(
    escrow.keeper,
    {
      openOrder: (ctx, group) => market.keeper.openOrder(ctx, group),
      closeGroup: (ctx, group, reason) => market.keeper.closeGroup(ctx, group, reason),
      prune: (ctx, id, most) => market.keeper.prune(ctx, id, most),
    },
    depositGrants(grants),
  );
  const provider = providerModule({
    activeRequirements: (ctx, owner) => market.keeper.activeRequirements(ctx, owner),
    hasActiveLease: (ctx, owner) => market.keeper.hasActiveLease(ctx, owner),
    openBids: (ctx, owner) => market.keeper.openBids(ctx, owner),
    closeOpenBids: (ctx, owner, reason) => market.keeper.closeOpenBids(ctx, owner, reason),
  });
  const audit = auditModule(provider.keeper);
  const market = marketModule({
    escrow: escrow.keeper,
    groups: deployment.keeper,
    providers: provider.keeper,
    audits: audit.keeper,
  });
  return [provider, audit, escrow, deployment, market].map(({ module }) => module);
}

/** Functions of grants that the marketplace needs. */
export interface Grants {
  use(ctx: Context, grantee: Uint8Array, message: NestedMessage): void;
}

/** A deposit from a grant uses it as if the owner had carried the depositor's own message. */
function depositGrants(grants: Grants): DepositGrants {
  return {
    use: (ctx, owner, value) =>
      grants.use(ctx, decodeAddress(owner), {
        typeUrl: typeUrlOf(MsgDepositDeploymentSchema),
        schema: MsgDepositDeploymentSchema,
        value,
        signer: decodeAddress(value.depositor),
      }),
  };
}
