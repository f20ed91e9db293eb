import { balanceNow, GatewayClient, type MarketReader, marketReader, type PaidLease } from "../../client/index.ts";
import type { IntCoin } from "../../util/index.ts";
import type { DeploymentKey, LeaseKey } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { chain, session } from "../live/chain.ts";
import { gatewayUrl, whyUnknown } from "../live/gateway/gateway.ts";
import { wallet } from "../live/wallet.ts";
import { deploy } from "../text/deploy.ts";
import { deploymentWords } from "../text/deployment.ts";
import { t } from "../text/index.ts";
import { Facts, Known, Section, Table } from "./blocks.tsx";
import { Address, Amount, Height, State, Strange } from "./text.tsx";

interface Found {
  readonly leases: readonly PaidLease[];
  /** Money of an active deployment at the newest height. */
  readonly left: IntCoin | undefined;
}

async function load(reader: MarketReader, id: DeploymentKey): Promise<Found> {
  const [deployment, leases] = await Promise.all([reader.deployment(id), reader.leases(id)]);
  const { state, escrow } = deployment ?? {};
  if (state !== "active" || escrow === undefined) return { leases, left: undefined };
  return { leases, left: { denom: escrow.denom, amount: balanceNow(escrow, leases) } };
}

/** The money of a deployment now, and its leases as the chain and as their providers see them. */
export function Truths({ owner, dseq }: DeploymentKey) {
  const answer = useAsk(() => load(marketReader(chain.query), { owner, dseq }), {
    key: `${owner}/${dseq}`,
    isPerBlock: true,
  });
  return (
    <Known answer={answer}>
      {({ leases, left }) => (
        <>
          {left !== undefined && <Facts rows={[[deploymentWords.refund, <Amount key="refund" coin={left} />]]} />}
          {leases.length > 0 && <Leases leases={leases} />}
        </>
      )}
    </Known>
  );
}

function Leases({ leases }: { leases: readonly PaidLease[] }) {
  return (
    <Section title={deploymentWords.truths}>
      <Table
        name={deploymentWords.truths}
        columns={[
          deploymentWords.lease,
          deploymentWords.provider,
          deploymentWords.chainSays,
          deploymentWords.providerSays,
        ]}
        rows={leases}
        keyOf={({ id }) => `${id.gseq}/${id.oseq}/${id.provider}`}
        cells={(lease) => [
          `${lease.id.gseq}/${lease.id.oseq}`,
          <Address key="provider" text={lease.id.provider} />,
          <OnChain key="chain" lease={lease} />,
          lease.state === "active" ? <AtProvider key="provider-says" id={lease.id} /> : t.gateway.ended,
        ]}
      />
    </Section>
  );
}

/** The state, and for a lease that has ended when and why. */
function OnChain({ lease: { state, closeReason, closedOn } }: { lease: PaidLease }) {
  const kind = state === "active" ? "good" : "bad";
  return (
    <span class="stack">
      <State word={state.replaceAll("_", " ")} kind={kind} />
      {state !== "active" && (
        <span>
          <Strange text={closeReason.replaceAll("_", " ")} isName max={100} /> <Height height={closedOn} />
        </span>
      )}
    </span>
  );
}

/** Milliseconds for the answer of a provider. */
const ANSWER_MS = 8_000;

/** Facts that a provider tells everybody; the state of containers is the tenant's. */
function AtProvider({ id: { owner, provider: address } }: { id: LeaseKey }) {
  const mode = session.value?.mode ?? "";
  const answer = useAsk(() => reach(address), { key: `${mode}/${address}` });
  const { value } = answer;
  if (value.kind === "waiting") return <State word={deploy.asking} />;
  const says =
    value.kind === "unknown"
      ? whyUnknown(value.error)
      : t.gateway[wallet.value?.address === owner ? "below" : "forTenant"];
  return (
    <span class="stack">
      <State
        word={value.kind === "known" ? t.gateway.answers : t.gateway.notKnown}
        kind={value.kind === "known" ? "good" : "calm"}
      />
      <Strange text={says} isName max={400} />
    </span>
  );
}

async function reach(address: string): Promise<void> {
  const provider = await marketReader(chain.query).provider(address);
  if (provider === undefined) throw new Error(t.gateway.unregistered);
  await new GatewayClient({ provider: address, url: gatewayUrl(provider), timeoutMs: ANSWER_MS }).version();
}
