import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DeployResult } from "../../src/tenant/result.ts";
import { Account_State } from "../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Bid_State } from "../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import type { QueryBidResponse } from "../../src/wire/gen/svc/market/v1beta1/query_pb.js";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { balanceOf, fetchPage, mustSend, runSvc, svcOk, transfer, waitFor, webFile } from "../support/index.ts";

const BID_DEPOSIT = 5_000_000n;
/** The wait ends as soon as both have bid. */
const BIDS = ["--bid", "cheapest", "--bid-window", "1000"];

describeWithEngine("two providers with different prices", () => {
  let localnet: TestLocalnet;
  let dear: TestProvider;
  let cheap: TestProvider;
  let tenant: readonly string[];
  let address: string;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    dear = await localnet.provider({ name: "dear", cpuScale: "0.5" });
    cheap = await localnet.provider({ name: "cheap", cpuScale: "0.2" });
    const home = localnet.fixture.tempHome("tenant");
    const keyring = ["--home", home, "--keyring-backend", "test"];
    await svcOk(["keys", "add", "tenant", ...keyring]);
    address = (await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim();
    tenant = [...keyring, "--from", "tenant", "--node", localnet.node.address, "--chain-id", localnet.node.chainId];
    await mustSend(localnet.tenant.client, localnet.faucet, transfer(localnet.faucet.address, address, 1_000_000_000n));
  });
  afterAll(() => localnet?.close());

  it("the tenant sees both bids and takes the cheaper; the other's deposit is back in the same block", async () => {
    const { client } = localnet.tenant;
    const file = join(localnet.fixture.folder, "web.yaml");
    writeFileSync(file, webFile({ page: "two bids" }));
    const dearBefore = await balanceOf(client, dear.address);
    const { stdout, stderr, code } = await runSvc(["deploy", file, ...BIDS, "-y", "-o", "json", ...tenant]);
    expect(code, stderr).toBe(0);
    const result: DeployResult = JSON.parse(stdout);
    expect(result.leases.map(({ provider }) => provider)).toEqual([cheap.address]);
    for (const provider of [dear, cheap]) expect(stderr, "the table of bids").toContain(provider.address);
    expect(await fetchPage(result.uris[0] ?? "")).toBe("200 two bids\n");

    const id = { owner: address, dseq: BigInt(result.dseq) };
    const lease = { ...id, gseq: 1, oseq: 1, provider: cheap.address };
    const leasedAt = (await localnet.tenant.leaseOf(lease)).lease?.createdAt ?? 0n;
    const bids = await localnet.tenant.bids(id);
    expect(bids).toHaveLength(2);
    const bidOf = (provider: TestProvider) => bids.find(({ bid }) => bid?.bidId?.provider === provider.address);
    expect(priceOf(bidOf(dear))).toBeGreaterThan(priceOf(bidOf(cheap)));
    expect(bidOf(dear)?.bid).toMatchObject({ state: Bid_State.lost, closedOn: leasedAt });
    expect(bidOf(dear)?.escrowAccount).toMatchObject({ state: Account_State.closed, settledAt: leasedAt });
    expect(await refundsIn(leasedAt)).toEqual([dear.address, cheap.address].sort());
    // Only the fee of the bid has gone.
    expect(await balanceOf(client, dear.address)).toBe(dearBefore - 1_000n);

    expect(await dear.leftovers()).toEqual([]);
    await svcOk(["deploy", "close", result.dseq, "-y", ...tenant]);
    await waitFor(async () => (await cheap.leftovers()).length === 0, "everything to be gone");
  });

  /** Who got the deposit of a bid in a block: the winner in the tenant's transaction, the others at the block's end. */
  async function refundsIn(height: bigint): Promise<string[]> {
    const { txs, events: own } = await localnet.tenant.client.node.block(height);
    const transfers = [...txs.flatMap(({ events }) => events), ...own].filter(({ type }) => type === "transfer");
    const facts = transfers.map(({ attributes }) => new Map(attributes.map(({ key, value }) => [key, value])));
    const refunds = facts.filter((fact) => fact.get("amount") === `${BID_DEPOSIT}utoken`);
    return refunds.map((fact) => fact.get("recipient") ?? "").sort();
  }
});

function priceOf(answer: QueryBidResponse | undefined): bigint {
  return BigInt(answer?.bid?.price?.amount ?? "0");
}
