import { create } from "@bufbuild/protobuf";
import type { ChainClient } from "../../../src/client/index.ts";
import { GOV_ACCOUNT } from "../../../src/modules/gov/index.ts";
import type { TestKey } from "../../../src/testing/index.ts";
import { MsgSubmitProposalSchema, MsgVoteSchema } from "../../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { Query as StakingQuery } from "../../../src/wire/gen/sdk/staking/v1beta1/query_pb.js";
import { MsgCreateValidatorSchema, MsgUpdateParamsSchema } from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { MsgCreateDeploymentSchema } from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { MsgCreateBidSchema, MsgCreateLeaseSchema } from "../../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../../src/wire/index.ts";
import {
  coin,
  createValidatorMessage,
  groupSpec,
  MIN_DEPOSIT,
  operatorAddress,
  orderOf,
  price,
} from "../chain/index.ts";
import { mustSend } from "../signer.ts";

/** Markup and characters that change how text is read, as a stranger may write them into any field. */
export const HOSTILE = '<img src=x onerror="document.title=1">\u202egnp.exe\u200b';

/** Records that the pages show. */
export interface ShownMarket {
  readonly tenant: string;
  readonly provider: string;
  readonly validator: string;
  readonly dseq: bigint;
  /** Transaction with hostile texts, and its block. */
  readonly hash: string;
  readonly height: bigint;
}

/** A validator, a provider, a deployment with a lease, and a proposal, with hostile texts wherever the chain takes them. */
export async function fillMarket(
  client: ChainClient,
  { tenant, provider }: { readonly tenant: TestKey; readonly provider: TestKey },
): Promise<ShownMarket> {
  const attributes = [
    { key: "region", value: "eu" },
    { key: "note", value: HOSTILE },
  ];
  const info = { email: "help@provider.example", website: "https://provider.example/about" };
  const owner = provider.address;
  const registration = { owner, hostUri: "https://provider.example:8443", attributes, info };
  const { txhash: hash, height } = await mustSend(client, provider, packAny(MsgCreateProviderSchema, registration));
  const description = { moniker: `tenant ${HOSTILE}`, website: "javascript:alert(1)", details: HOSTILE };
  const staked = createValidatorMessage(tenant, { amount: 20_000_000n }, { description });
  await mustSend(client, tenant, packAny(MsgCreateValidatorSchema, staked));

  const id = { owner: tenant.address, dseq: (await client.node.status()).latestHeight };
  const version = new Uint8Array(32).fill(1);
  const deployment = { id, groups: [groupSpec("web")], version, deposit: coin(MIN_DEPOSIT) };
  await mustSend(client, tenant, packAny(MsgCreateDeploymentSchema, deployment));
  const order = orderOf(id);
  const bid = { order, provider: owner, price: price("0.5"), deposit: coin(MIN_DEPOSIT) };
  await mustSend(client, provider, packAny(MsgCreateBidSchema, bid));
  await mustSend(client, tenant, packAny(MsgCreateLeaseSchema, { bidId: { ...order, provider: owner } }));
  await propose(client, tenant);
  return { tenant: tenant.address, provider: owner, validator: operatorAddress(tenant), dseq: id.dseq, hash, height };
}

/** A proposal that changes one parameter of staking, with a vote for it. */
async function propose(client: ChainClient, from: TestKey): Promise<void> {
  const { params } = await client.query.call(StakingQuery.method.params, {});
  if (params === undefined) throw new Error("the chain has no parameters of staking");
  const change = create(MsgUpdateParamsSchema, { authority: GOV_ACCOUNT, params: { ...params, maxValidators: 77 } });
  const proposal = {
    messages: [packAny(MsgUpdateParamsSchema, change)],
    initialDeposit: [coin(10_000_000n)],
    proposer: from.address,
    title: `Fewer validators ${HOSTILE}`,
    summary: HOSTILE,
  };
  await mustSend(client, from, packAny(MsgSubmitProposalSchema, proposal));
  await mustSend(client, from, packAny(MsgVoteSchema, { proposalId: 1n, voter: from.address, option: 1 }));
}
