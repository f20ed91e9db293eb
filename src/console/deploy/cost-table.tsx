import { computed, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { groupPrice, type LoadedSdl, priceOverTime } from "../../sdl/index.ts";
import { leastDeposit, totalPrice } from "../../tenant/index.ts";
import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import type { Answer } from "../live/ask.ts";
import { Section, Table } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { Per } from "../parts/price.tsx";
import { Amount, decimal, grouped, None } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { cheapest, isOutOfReach, lasting, readAmount, type Terms, unitOf } from "./cost.ts";
import { typedDeposit } from "./draft.ts";
import { type Offers, outOfReach, verdictsOf } from "./offers.ts";
import { Start } from "./run/start.tsx";

interface CostProps {
  readonly sdl: LoadedSdl;
  readonly terms: Terms;
  readonly offers: ReadonlySignal<Answer<Offers>>;
}

/** The price of the file over time, at most and at the cheapest offers, and how long a deposit pays for it. */
export function Cost({ sdl, terms, offers }: CostProps) {
  const most = totalPrice(sdl.groups.map(groupPrice));
  const least = leastDeposit(most, terms);
  const { name, places } = unitOf(least.denom);
  const text = typedDeposit.value ?? decimal(least.amount, places).replaceAll("\u202f", "");
  const deposit = readAmount(text, places);
  const isOwn = typedDeposit.value !== undefined && deposit !== undefined;
  const isBeyond = useMemo(() => computed(() => isBeyondReach(offers.value)), [offers]);
  const own = isOwn ? { denom: least.denom, amount: deposit } : undefined;
  return (
    <>
      <Section title={deploy.cost}>
        <p class="deposit">
          <label>
            {deploy.deposit(name)}{" "}
            <input
              inputMode="decimal"
              value={text}
              maxLength={30}
              aria-invalid={deposit === undefined}
              onInput={(event) => {
                typedDeposit.value = event.currentTarget.value;
              }}
            />
          </label>
          <DepositNote deposit={deposit} least={least} />
        </p>
        <Rows most={most} offers={offers} deposit={deposit} seconds={terms.blockSeconds} />
      </Section>
      <Section title={deploy.begin}>
        {isBeyond.value ? (
          <Fault error={outOfReach()} title={deploy.refused} />
        ) : (
          <Start deposit={own} isDeposit={deposit !== undefined} />
        )}
      </Section>
    </>
  );
}

function DepositNote({ deposit, least }: { deposit: bigint | undefined; least: IntCoin }) {
  if (deposit === undefined) return <small role="status">{deploy.depositFault}</small>;
  return (
    <small>
      {deploy.least} <Amount coin={least} />
    </small>
  );
}

interface RowsProps {
  readonly most: DecimalCoin;
  readonly offers: ReadonlySignal<Answer<Offers>>;
  readonly deposit: bigint | undefined;
  readonly seconds: number;
}

function Rows({ most, offers, deposit, seconds }: RowsProps) {
  const best = useMemo(() => computed(() => cheapestOf(offers.value)), [offers]);
  const rows = [
    { name: deploy.limit, price: most },
    { name: deploy.cheapest, price: best.value },
  ];
  const per = (price: DecimalCoin | undefined, span: "perHour" | "perDay" | "perMonth") =>
    price === undefined ? <None key={span} /> : <Per key={span} price={priceOverTime(price, seconds)} span={span} />;
  return (
    <Table
      name={deploy.cost}
      columns={[
        deploy.price,
        { head: deploy.hour, isNumber: true },
        { head: deploy.day, isNumber: true },
        { head: deploy.month, isNumber: true },
        { head: deploy.lasts, isNumber: true },
      ]}
      rows={rows}
      keyOf={({ name }) => name}
      cells={({ name, price }) => [
        name,
        per(price, "perHour"),
        per(price, "perDay"),
        per(price, "perMonth"),
        price === undefined || deposit === undefined ? <None key="lasts" /> : lastingText(deposit, price, seconds),
      ]}
    />
  );
}

function cheapestOf(answer: Answer<Offers>): DecimalCoin | undefined {
  return cheapest(verdictsIn(answer));
}

/** A provider beyond the list may be in reach. */
function isBeyondReach(answer: Answer<Offers>): boolean {
  return answer.kind === "known" && !answer.value.isCut && isOutOfReach(verdictsOf(answer.value.groups));
}

function verdictsIn(answer: Answer<Offers>) {
  return answer.kind === "known" ? verdictsOf(answer.value.groups) : [];
}

function lastingText(deposit: bigint, price: DecimalCoin, seconds: number): string {
  const time = lasting(deposit, price, seconds);
  if (time === undefined) return deploy.forever;
  const { unit, tenths } = time;
  return deploy[unit](tenths > 1000n ? grouped(tenths / 10n) : decimal(tenths, 1));
}
