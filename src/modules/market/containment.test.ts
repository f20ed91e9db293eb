import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { groupSpec, MIN_DEPOSIT, orderOf, TestMarket } from "../../../test/support/chain/index.ts";
import { type BaseKeepers, createApp, moduleSet } from "../../app/index.ts";
import type { Module } from "../../runtime/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { testChain } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import {
  GenesisStateSchema as DeploymentGenesis,
  Group_State,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { GenesisStateSchema, Lease_State, Order_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { formatAccountId, parseDeploymentId, toJson } from "../../wire/index.ts";
import { auditModule } from "../audit/index.ts";
import { deploymentModule, escrowId } from "../deployment/index.ts";
import { defaultParams as deploymentParams } from "../deployment/params.ts";
import { escrowModule } from "../escrow/index.ts";
import { providerModule } from "../provider/index.ts";
import { marketModule } from "./index.ts";
import { defaultParams } from "./params.ts";

/** The marketplace with a fault: while it is on, nothing of the deployment numbered 1 can be ended by a block. */
function faultyMarket() {
  const fault = { on: true };
  const check = (dseq: bigint): void => {
    if (fault.on && dseq === 1n) throw new Error("a programming error");
  };
  const modules = ({ bank }: BaseKeepers): Module[] => {
    const escrow = escrowModule(bank, {
      exhausted: (ctx, { id }) => {
        check(parseDeploymentId(id.xid).dseq);
        return deployment.keeper.exhausted(ctx, parseDeploymentId(id.xid));
      },
      lowBalance: (ctx, { id }, blocks) => deployment.keeper.lowBalance(ctx, parseDeploymentId(id.xid), blocks),
    });
    const deployment = deploymentModule(
      escrow.keeper,
      {
        openOrder: (ctx, group) => market.keeper.openOrder(ctx, group),
        closeGroup: (ctx, group, reason) => market.keeper.closeGroup(ctx, group, reason),
        prune: (ctx, id, most) => market.keeper.prune(ctx, id, most),
      },
      { use: () => expect.unreachable("no deposit here is from a grant") },
    );
    const provider = providerModule({
      activeRequirements: (ctx, owner) => market.keeper.activeRequirements(ctx, owner),
      hasActiveLease: (ctx, owner) => market.keeper.hasActiveLease(ctx, owner),
      openBids: (ctx, owner) => market.keeper.openBids(ctx, owner),
      closeOpenBids: (ctx, owner, reason) => market.keeper.closeOpenBids(ctx, owner, reason),
    });
    const audit = auditModule(provider.keeper);
    const groups = {
      getParams: deployment.keeper.getParams.bind(deployment.keeper),
      deployment: deployment.keeper.deployment.bind(deployment.keeper),
      findGroup: deployment.keeper.findGroup.bind(deployment.keeper),
      spec: deployment.keeper.spec.bind(deployment.keeper),
      reopenGroup: deployment.keeper.reopenGroup.bind(deployment.keeper),
      marketEnded: (...args: Parameters<typeof deployment.keeper.marketEnded>) => {
        check(args[1].dseq);
        deployment.keeper.marketEnded(...args);
      },
    };
    const market = marketModule({ escrow: escrow.keeper, groups, providers: provider.keeper, audits: audit.keeper });
    return [provider, audit, escrow, deployment, market].map(({ module }) => module);
  };
  return { fault, modules };
}

const NOBODY = { owner: "", dseq: 0n };

describe("a programming error at the end of a block", () => {
  it("holds up nobody else, leaves nothing half done, and is made good later", () => {
    const { fault, modules } = faultyMarket();
    const params = { ...defaultParams(), orderMaxOpenBlocks: 20n };
    const deployments = { ...deploymentParams(), minStartBlocks: 1n };
    const genesis = {
      market: toJson(GenesisStateSchema, create(GenesisStateSchema, { params })),
      deployment: toJson(DeploymentGenesis, create(DeploymentGenesis, { params: deployments })),
    };
    const chain = testChain({ modules, genesis, tolerateProblems: true });
    const market = new TestMarket(chain);
    const [alice, bob] = [chain.key("alice"), chain.key("bob")];
    market.register(bob);
    const deposit = { denom: NATIVE_DENOM, amount: MIN_DEPOSIT };
    const groups = [groupSpec("a", { price: "500000" }), groupSpec("b")];
    const ids = [1n, 2n].map((dseq) => market.deploy(alice, { dseq, groups, deposit }));
    const leases = ids.map((id) => market.leased(alice, orderOf(id, 1), { provider: bob, price: "500000" }));
    const end = market.account(ids[0] ?? NOBODY).exhaustsAt;
    chain.nextBlock(25);
    const { active, insufficient_funds: ended } = Lease_State;
    expect(leases.map((lease) => market.leaseOf(lease).state)).toEqual([active, ended]);
    expect(ids.map((id) => market.order(orderOf(id, 2)).state)).toEqual([Order_State.open, Order_State.closed]);
    expect(chain.problems.map(({ item }) => item.split(" ").slice(0, 2).join(" "))).toEqual([
      "escrow exhaustion",
      "market expiry",
    ]);
    const [first, second] = chain.exportTwice(createApp({ database: memoryDatabase(), set: moduleSet(modules) }));
    expect(second).toEqual(first);
    expect(first).toMatchObject({
      escrow: { retries: [{ account: formatAccountId(escrowId(ids[0] ?? NOBODY)), waits: false }] },
      market: { retries: [{ order_id: { dseq: "1", gseq: 2, oseq: 1 } }] },
    });
    fault.on = false;
    chain.nextBlock(100);
    expect(leases.map((lease) => market.leaseOf(lease))).toMatchObject([
      { state: ended, closedOn: end },
      { state: ended },
    ]);
    const states = ids.map((id) => market.deployment(id).groups.map(({ state }) => state));
    const { insufficient_funds: out } = Group_State;
    expect(states).toEqual([
      [out, out],
      [out, out],
    ]);
    expect(chain.problems).toHaveLength(2);
  });
});
