import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { GatewayRefusal, marketReader } from "../../client/index.ts";
import { MsgCloseDeploymentSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { type DeploymentKey, type LeaseKey, packAny } from "../../wire/index.ts";
import type { Answer } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { gatewayFor, whyUnknown } from "../live/gateway/gateway.ts";
import { link } from "../live/route.ts";
import { wallet } from "../live/wallet.ts";
import { Act } from "../parts/act.tsx";
import { Facts, Items, Known } from "../parts/blocks.tsx";
import { Address, Amount, Height, State, Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { t } from "../text/index.ts";
import { manage } from "../text/manage.ts";
import type { Sent } from "../wallet/send.ts";
import { type Division, divisionOf, type Held, leftAt, rateOf } from "./funds.ts";

const WORDS = manage;
/** Prices have 18 decimal places. */
const PLACES = 18;

/** A close: the money that was shown before the signature, and once it is in a block, where the money went. */
export interface Closing {
  readonly before: Held;
  readonly after?: { readonly hash: string; readonly height: bigint; readonly division: Division };
}

interface CloseProps {
  readonly id: DeploymentKey;
  readonly held: Signal<Answer<Held | undefined>>;
  readonly closing: Signal<Closing | undefined>;
}

/** Ends a deployment, with the refund before the signature and after it. */
export function CloseForm({ id, held, closing }: CloseProps) {
  return (
    <details class="manage">
      <summary>{WORDS.close}</summary>
      {closing.value?.after === undefined ? (
        <>
          <Before held={held} />
          <Act
            label={WORDS.closeNow}
            command={() => ["deployment", "close", "--dseq", String(id.dseq)]}
            messages={() => {
              const answer = held.peek();
              // The owner sees the refund before the signature.
              if (answer.kind !== "known" || answer.value === undefined) throw new Error(WORDS.unknownRefund);
              closing.value = { before: answer.value };
              return [packAny(MsgCloseDeploymentSchema, { id })];
            }}
            onSent={(sent) => {
              closing.value = closed(closing.peek(), sent);
            }}
          />
        </>
      ) : (
        <After before={closing.value.before} after={closing.value.after} />
      )}
    </details>
  );
}

/** The earlier transaction of the account, whose fate was not known, closes nothing. */
function closed(closing: Closing | undefined, { response, isEarlier }: Sent): Closing | undefined {
  if (closing === undefined || response.code !== 0 || isEarlier) return undefined;
  const { deployment, funds, depositors } = closing.before;
  const division = divisionOf(response.events, { dseq: deployment.dseq, denom: funds.denom, depositors });
  return { ...closing, after: { hash: response.txhash, height: response.height, division } };
}

function Before({ held }: Pick<CloseProps, "held">) {
  return (
    <>
      <p class="notice">{WORDS.closing}</p>
      <Known answer={held}>
        {(now) =>
          now !== undefined && (
            <Facts
              rows={[
                [
                  WORDS.left,
                  <span key="left">
                    <Amount coin={{ denom: now.funds.denom, amount: now.funds.left }} /> {WORDS.toDepositors}
                  </span>,
                ],
                [WORDS.height, <Height key="height" height={now.funds.height} />],
                [
                  WORDS.perBlock,
                  <Amount key="rate" coin={{ denom: now.funds.denom, amount: rateOf(now.funds) }} scale={PLACES} />,
                ],
              ]}
            />
          )
        }
      </Known>
    </>
  );
}

function After({ before, after }: Required<Closing>) {
  const outcome = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone.
  useEffect(() => outcome.current?.focus(), []);
  const { funds, leases } = before;
  const { returned, transfers } = after.division;
  const coin = (amount: bigint) => ({ denom: funds.denom, amount });
  return (
    <div role="status" tabIndex={-1} ref={outcome}>
      <Facts
        rows={[
          [WORDS.closed, <Height key="height" height={after.height} />],
          [
            t.tx.title,
            <a key="tx" href={link("tx", after.hash)}>
              {t.wallet.show}
            </a>,
          ],
          [WORDS.returned, returned === undefined ? WORDS.noEvent : <Amount key="returned" coin={coin(returned)} />],
          [
            WORDS.transfers,
            <span key="transfers" class="stack">
              <Items of={transfers}>
                {({ to, amount }) => (
                  <span key={to}>
                    <Amount coin={coin(amount)} /> <Address text={to} />
                  </span>
                )}
              </Items>
            </span>,
          ],
          [
            WORDS.shownBefore,
            <span key="before">
              <Amount coin={coin(funds.left)} />; {WORDS.blocksBetween(String(after.height - funds.height))}
            </span>,
          ],
        ]}
      />
      <Verdict before={before} after={after} />
      {leases
        .filter(({ state }) => state === "active")
        .map((lease) => (
          <AtProvider key={lease.id.provider} lease={lease.id} />
        ))}
    </div>
  );
}

/** The end of a lease as its provider tells it; the wallet may be asked for the session. */
function AtProvider({ lease }: { lease: LeaseKey }) {
  const says = useSignal("");
  const ask = async (): Promise<void> => {
    says.value = deploy.asking;
    says.value = await endAt(lease).catch(whyUnknown);
  };
  return (
    <p>
      <button type="button" onClick={() => void ask()}>
        {WORDS.askProvider}
      </button>{" "}
      <Address text={lease.provider} /> <Strange text={says.value} max={400} />
    </p>
  );
}

async function endAt(lease: LeaseKey): Promise<string> {
  const [account, provider] = [wallet.peek(), await marketReader(chain.query).provider(lease.provider)];
  if (account === undefined || provider === undefined) return t.gateway.unregistered;
  try {
    const { services } = await (await gatewayFor(account, provider)).leaseStatus(lease);
    return WORDS.stillRuns(Object.keys(services).join(", "));
  } catch (error) {
    if (error instanceof GatewayRefusal && error.status === 404) return WORDS.goneThere(error.message);
    throw error;
  }
}

/** Whether the refund is the one that was shown, and the one that was paid. */
function Verdict({ before, after }: Required<Closing>) {
  const { returned, transfers } = after.division;
  if (returned === undefined) return null;
  const faults = [
    ...(returned === leftAt(before.funds, after.height) ? [] : [WORDS.differs]),
    ...(transfers.reduce((sum, { amount }) => sum + amount, 0n) === returned ? [] : [WORDS.otherTransfers]),
  ];
  if (faults.length === 0) return <State word={WORDS.agrees} kind="good" />;
  return (
    <>
      {faults.map((fault) => (
        <p key={fault} class="notice bad">
          {fault}
        </p>
      ))}
    </>
  );
}
