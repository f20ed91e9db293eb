import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { type GatewayClient, marketReader } from "../../client/index.ts";
import { type DeploymentKey, formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import { type Answer, useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { gatewayFor } from "../live/gateway/gateway.ts";
import { link } from "../live/route.ts";
import { wallet } from "../live/wallet.ts";
import { Known } from "../parts/blocks.tsx";
import { t } from "../text/index.ts";
import { runningWords } from "../text/running.ts";
import type { Wallet } from "../wallet/wallet.ts";

/** An active lease of the connected account, and its provider's gateway. */
export interface OpenLease {
  readonly id: LeaseKey;
  readonly gateway: GatewayClient;
}

interface ForOwnerProps {
  readonly id: DeploymentKey;
  readonly children: (account: Wallet, leases: readonly LeaseKey[]) => ComponentChildren;
}

/** Content about the active leases of a deployment for its owner, the only account to which providers tell what runs. */
export function ForOwner({ id, children }: ForOwnerProps) {
  const account = wallet.value;
  if (account?.address !== id.owner) {
    return (
      <p class="none">
        {runningWords.ownerOnly} <a href={link("wallet")}>{runningWords.connect}</a>
      </p>
    );
  }
  const lack = account.lacks.text;
  if (lack !== undefined) return <p class="none">{t.wallet.lacks[lack]}</p>;
  return (
    <Active id={id}>{(leases) => <InSession account={account}>{() => children(account, leases)}</InSession>}</Active>
  );
}

function Active({
  id: { owner, dseq },
  children,
}: {
  id: DeploymentKey;
  children: (leases: readonly LeaseKey[]) => ComponentChildren;
}) {
  const answer = useAsk(() => marketReader(chain.query).leases({ owner, dseq, state: "active" }), {
    key: `${owner}/${dseq}`,
    isLive: true,
  });
  return (
    <Known answer={answer}>
      {(leases) =>
        leases.length === 0 ? <p class="none">{runningWords.noLease}</p> : children(leases.map(({ id }) => id))
      }
    </Known>
  );
}

/** Asks the account for its session, once; after a refusal only when its user wishes. */
function InSession({ account, children }: { account: Wallet; children: () => ComponentChildren }) {
  const tries = useSignal(0);
  const open = async () => (await import("../live/gateway/session.ts")).gatewayCredential(account);
  const answer = useAsk(open, { key: `${account.address}/${tries.value}` });
  return (
    <>
      <Known answer={answer}>{children}</Known>
      {answer.value.kind === "unknown" && (
        <button type="button" onClick={() => tries.value++}>
          {runningWords.askAgain}
        </button>
      )}
    </>
  );
}

/** The gateway of a lease; the first one asks the account for its session. */
export async function openLease(account: Wallet, id: LeaseKey): Promise<OpenLease> {
  const provider = await marketReader(chain.query).provider(id.provider);
  if (provider === undefined) throw new Error(t.gateway.unregistered);
  return { id, gateway: await gatewayFor(account, provider) };
}

export const leaseKey = (id: LeaseKey): string => formatLeaseId(id);

/** Asks again and again while the page is in view, and keeps the answer before meanwhile. */
export function usePolled<T>(ask: () => Promise<T>, { key, everyMs }: { key: string; everyMs: number }) {
  const answer = useSignal<Answer<T>>({ kind: "waiting" });
  useEffect(() => poll(ask, answer, everyMs), [key, everyMs]);
  return answer;
}

/** Returns the function that ends it. */
function poll<T>(ask: () => Promise<T>, answer: Signal<Answer<T>>, everyMs: number): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = async (): Promise<void> => {
    if (!document.hidden || answer.peek().kind === "waiting") {
      const found = await ask().then(
        (value): Answer<T> => ({ kind: "known", value }),
        (error: unknown): Answer<T> => ({ kind: "unknown", error }),
      );
      if (isOver) return;
      answer.value = found;
    }
    timer = setTimeout(() => void run(), everyMs);
  };
  void run();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
