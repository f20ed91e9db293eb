import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { blockSeconds } from "../../client/index.ts";
import { MsgDepositDeploymentSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { type DeploymentKey, packAny } from "../../wire/index.ts";
import { readAmount, unitOf } from "../deploy/cost.ts";
import { type Answer, latest, useAsk } from "../live/ask.ts";
import { newest } from "../live/blocks/head.ts";
import { chain } from "../live/chain.ts";
import { Act } from "../parts/act.tsx";
import { Facts, Known } from "../parts/blocks.tsx";
import { decimal, grouped, Time } from "../parts/text.tsx";
import { manage } from "../text/manage.ts";
import { costOf, type Funds, type Held, lastBlock, rateOf } from "./funds.ts";

const WORDS = manage;
/** Offered at once, in days. */
const SPANS = [7, 30, 90] as const;

interface TopUpProps {
  readonly id: DeploymentKey;
  readonly held: Signal<Answer<Held | undefined>>;
}

/** Adds money to a deployment: an amount, or as much as some days cost, and until when it then lasts. */
export function TopUp({ id, held }: TopUpProps) {
  const pace = useAsk(() => blockSeconds(chain), { key: "pace" });
  const denom = useComputed(() => latest(held.value)?.value?.funds.denom ?? "");
  return (
    <details class="manage">
      <summary>{WORDS.topUp}</summary>
      <Known answer={pace}>
        {(seconds) => denom.value !== "" && <Form id={id} held={held} denom={denom.value} seconds={seconds} />}
      </Known>
    </details>
  );
}

function Form({ id, held, denom, seconds }: TopUpProps & { readonly denom: string; readonly seconds: number }) {
  const typed = useSignal("");
  const { name, places } = unitOf(denom);
  const field = useId();
  const amount = readAmount(typed.value, places);
  const span = (days: number): void => {
    const funds = latest(held.peek())?.value?.funds;
    if (funds === undefined) return;
    const rate = rateOf(funds);
    typed.value = decimal(costOf(days, { rate, seconds }), places).replaceAll("\u202f", "");
  };
  return (
    <Act
      label={WORDS.add}
      command={() => ["deployment", "deposit", `${amount ?? "AMOUNT"}${denom}`, "--dseq", String(id.dseq)]}
      messages={() => {
        if (amount === undefined) throw new Error(WORDS.badAmount);
        return [packAny(MsgDepositDeploymentSchema, { id, amount: { denom, amount: amount.toString() } })];
      }}
      onSent={() => {
        typed.value = "";
      }}
    >
      <div class="row">
        {SPANS.map((days) => (
          <button key={days} type="button" onClick={() => span(days)}>
            {WORDS.daysMore(days)}
          </button>
        ))}
      </div>
      <p class="field">
        <label htmlFor={field}>{WORDS.amount(name)}</label>
        <input
          id={field}
          inputMode="decimal"
          value={typed}
          maxLength={30}
          autocomplete="off"
          aria-invalid={typed.value !== "" && amount === undefined}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
        />
      </p>
      <Ends held={held} amount={amount} seconds={seconds} />
    </Act>
  );
}

interface EndsProps {
  readonly held: TopUpProps["held"];
  readonly amount: bigint | undefined;
  readonly seconds: number;
}

/** The last block that the money covers, now and with the amount. */
function Ends({ held, amount, seconds }: EndsProps) {
  const row = (funds: Funds, more: bigint) => {
    const block = lastBlock(funds, more);
    return block === undefined ? WORDS.lastsForever : <End block={block} seconds={seconds} />;
  };
  return (
    <Known answer={held}>
      {(now) =>
        now !== undefined && (
          <Facts
            rows={[
              [WORDS.lasts, row(now.funds, 0n)],
              [WORDS.lastsThen, amount === undefined ? undefined : row(now.funds, amount)],
            ]}
          />
        )
      }
    </Known>
  );
}

/** A block to come, and when it comes at that pace. */
export function End({ block, seconds }: { block: bigint; seconds: number }) {
  const now = newest.value;
  if (now === undefined) return <>{grouped(block)}</>;
  const time = new Date(Date.parse(now.time) + Number(block - now.height) * seconds * 1000);
  return (
    <>
      {WORDS.blockAbout(grouped(block))} <Time time={time} />
    </>
  );
}
