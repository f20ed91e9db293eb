import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import * as v from "valibot";
import { postJson } from "../live/chain.ts";
import { Field } from "../parts/act.tsx";
import { Facts, Table } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { Strange } from "../parts/text.tsx";
import { operator } from "../text/operator.ts";
import { type Told, useRows } from "./facts.ts";
import { Own, priceText } from "./orders.tsx";

const NAMES = ["cpu", "memory", "storage", "endpoint", "ip", "tokenUsd"] as const;
type Name = (typeof NAMES)[number];
type Flags = Readonly<Record<string, string>>;

/** Flags of `svc provider run` with the same prices. */
const FLAGS: Readonly<Record<Name, string>> = {
  cpu: "--bid-price-cpu-scale",
  memory: "--bid-price-memory-scale",
  storage: "--bid-price-storage-scale",
  endpoint: "--bid-price-endpoint-scale",
  ip: "--bid-price-ip-scale",
  tokenUsd: "--bid-price-token-usd",
};

/** The prices in force, and a form to change them while the provider runs. */
export function Prices({ told }: { told: ReadonlySignal<Told> }) {
  const rows = useRows(told, ({ prices, price_flags: flags }) => [{ prices, flags }]);
  const progress = useSignal<Progress | undefined>(undefined);
  const [now] = rows.value;
  if (now === undefined) return null;
  const { prices, flags } = now;
  const form = flags === undefined ? undefined : { flags, progress };
  return (
    <>
      <Facts rows={[[operator.strategy, <Strange key="strategy" text={prices} max={600} />]]} />
      {/* Other prices in force make another form: its fields begin with them. */}
      {form === undefined ? <p class="none">{operator.fixed}</p> : <Change key={JSON.stringify(flags)} {...form} />}
      <div aria-live="polite">
        <Answer progress={progress} />
      </div>
    </>
  );
}

type Progress = "asking" | "changed" | { readonly error: unknown };

interface ChangeProps {
  readonly flags: Flags;
  readonly progress: Signal<Progress | undefined>;
}

function Change({ flags, progress }: ChangeProps) {
  const wanted = useSignal<Flags>({});
  const isOpen = useComputed(() => progress.value === "asking" || Object.keys(wanted.value).length === 0);
  const run = async (): Promise<void> => {
    progress.value = "asking";
    progress.value = await postJson("provider/prices", wanted.value).then(
      () => "changed" as const,
      (error: unknown) => ({ error }),
    );
  };
  return (
    <form
      class="act"
      onInput={(event) => {
        wanted.value = changesOf(flags, new FormData(event.currentTarget));
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOpen.value) void run();
      }}
    >
      <p>{operator.unit}</p>
      {NAMES.map((name) => (
        <Field key={name} name={name} label={operator.names[name]} value={flags[name] ?? ""} isOptional />
      ))}
      <Before flags={flags} wanted={wanted} />
      <button type="submit" disabled={isOpen}>
        {operator.change}
      </button>
      <Tried wanted={wanted} />
      <Same flags={flags} wanted={wanted} />
    </form>
  );
}

/** The prices of the form that differ. */
function changesOf(flags: Flags, fields: FormData): Flags {
  const texts = NAMES.map((name) => [name, String(fields.get(name) ?? "").trim()] as const);
  return Object.fromEntries(texts.filter(([name, text]) => text !== (flags[name] ?? "")));
}

function Before({ flags, wanted }: { flags: Flags; wanted: ReadonlySignal<Flags> }) {
  const rows = NAMES.filter((name) => wanted.value[name] !== undefined);
  if (rows.length === 0) return <p class="none">{operator.unchanged}</p>;
  return (
    <Table
      name={operator.change}
      columns={[operator.price, operator.before, operator.after]}
      rows={rows}
      keyOf={(name) => name}
      cells={(name) => [
        operator.names[name],
        <Strange key="before" text={flags[name] ?? ""} isName max={200} />,
        <Strange key="after" text={wanted.value[name] ?? ""} isName max={200} />,
      ]}
    />
  );
}

function Answer({ progress: { value } }: { progress: ReadonlySignal<Progress | undefined> }) {
  if (value === undefined) return null;
  if (value === "asking") return <p class="waiting">{operator.asking} …</p>;
  return value === "changed" ? <p>{operator.changed}</p> : <Fault error={value.error} />;
}

const tried = v.object({
  bids: v.array(
    v.object({ order: v.string(), before: v.optional(v.string()), after: v.string(), winner: v.optional(v.string()) }),
  ),
});
type Bids = v.InferOutput<typeof tried>["bids"];

/** Bids of the latest orders at the prices of the form. Nothing changes by asking. */
function Tried({ wanted }: { wanted: ReadonlySignal<Flags> }) {
  const found = useSignal<Bids | { readonly error: unknown } | undefined>(undefined);
  const ask = async (): Promise<void> => {
    found.value = await postJson("provider/prices/try", wanted.value).then(
      (answer) => v.parse(tried, answer).bids,
      (error: unknown) => ({ error }),
    );
  };
  const { value } = found;
  return (
    <div>
      <button type="button" onClick={() => void ask()}>
        {operator.tryPrices}
      </button>
      {value !== undefined && "error" in value && <Fault error={value.error} />}
      {value !== undefined && !("error" in value) && <BidTable bids={value} />}
    </div>
  );
}

function BidTable({ bids }: { bids: Bids }) {
  return (
    <Table
      name={operator.tried}
      columns={[
        operator.order,
        { head: operator.oldBid, isNumber: true },
        { head: operator.newBid, isNumber: true },
        { head: operator.winnerPrice, isNumber: true },
      ]}
      rows={bids}
      keyOf={({ order }) => order}
      cells={({ order, before, after, winner }) => [
        <Strange key="order" text={order.slice(order.indexOf("/") + 1)} isName max={100} />,
        before === undefined ? operator.noBid : priceText(before),
        priceText(after),
        winner === undefined ? "" : priceText(winner),
      ]}
    />
  );
}

/** The settings with which the provider has the same prices after its next start. */
function Same({ flags, wanted }: { flags: Flags; wanted: ReadonlySignal<Flags> }) {
  const all = NAMES.map((name) => [FLAGS[name], wanted.value[name] ?? flags[name] ?? ""] as const);
  const words = all.filter(([, text]) => text !== "").flat();
  return <Own words={["run", "--bid-price-strategy", "scale", ...words]} asksNode />;
}
