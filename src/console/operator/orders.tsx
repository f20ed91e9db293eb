import { type ReadonlySignal, useComputed } from "@preact/signals";
import { For } from "@preact/signals/utils";
import { tryParseDec } from "../../util/index.ts";
import { session } from "../live/chain.ts";
import { link, route } from "../live/route.ts";
import { Command, Facts } from "../parts/blocks.tsx";
import { Address, decimal, State, Strange, Time } from "../parts/text.tsx";
import { deploymentWords } from "../text/deployment.ts";
import { t } from "../text/index.ts";
import { operator } from "../text/operator.ts";
import { type OrderFacts, type Told, useRows } from "./facts.ts";

const FILTERS = ["unserved", "open", "won", "all"] as const;
type Filter = (typeof FILTERS)[number];

/** Phases of each filter; an order that was declined stays so after others have filled it. */
const WANTED: Readonly<Record<Filter, (order: OrderFacts) => boolean>> = {
  unserved: ({ phase, declined }) => phase === "refused" || phase === "lost" || declined !== undefined,
  open: ({ phase }) => ["checking", "bidding", "open", "withdrawing"].includes(phase),
  won: ({ phase }) => phase === "won",
  all: () => true,
};

function wanted(): Filter {
  const text = route.value.search.get("orders");
  return FILTERS.find((name) => name === text) ?? "unserved";
}

/** Orders that the provider knows, the latest first; each opens to its reason. */
export function Orders({ told }: { told: ReadonlySignal<Told> }) {
  const filter = useComputed(wanted);
  const rows = useRows(told, ({ orders }) => orders.filter(WANTED[filter.value]).reverse());
  const omitted = useComputed(() => told.value.facts?.omitted ?? 0);
  return (
    <>
      <nav class="pages" aria-label={operator.filter}>
        {FILTERS.map((name) => (
          <a
            key={name}
            href={name === "unserved" ? link("provider") : `${link("provider")}?orders=${name}`}
            aria-current={filter.value === name ? "true" : undefined}
          >
            {operator.filters[name]}
          </a>
        ))}
      </nav>
      <div class="orders">
        <For each={rows} getKey={({ order }) => order} fallback={<p class="none">{operator.noOrders}</p>}>
          {(order) => <Order order={order} />}
        </For>
      </div>
      {omitted.value > 0 && <p class="cut">{operator.omitted(omitted.value)}</p>}
      <Own words={["orders"]} />
    </>
  );
}

const ENDINGS: Readonly<Record<string, string>> = operator.endings;
const WORDS: Readonly<Record<string, string>> = operator.phases;

function Order({ order: { order, ...facts } }: { order: OrderFacts }) {
  const { phase, declined, reason, remedy, price, winner } = facts;
  const [owner = "", dseq = "", ...rest] = order.split("/");
  const ending = reason === undefined ? undefined : (ENDINGS[reason] ?? reason);
  const why = declined ?? ending;
  const kind = phase === "won" ? "good" : phase === "refused" || phase === "lost" ? "bad" : "calm";
  return (
    <details>
      <summary>
        <span class="number">{[dseq, ...rest].join("/")}</span> <State word={WORDS[phase] ?? phase} kind={kind} />{" "}
        {price !== undefined && <span class="number">{priceText(price)}</span>}
        {winner !== undefined && <small> : {priceText(winner.price)}</small>}{" "}
        {why !== undefined && (
          <small>
            <Strange text={why} isName max={120} />
          </small>
        )}
      </summary>
      <Facts
        rows={[
          [operator.reason, why === undefined ? undefined : <Strange key="why" text={why} max={600} />],
          [operator.fix, remedy === undefined ? undefined : <Strange key="fix" text={remedy} max={600} />],
          [operator.ours, price === undefined ? operator.noBid : priceText(price)],
          [operator.winnerPrice, winner === undefined ? undefined : <Winner key="price" ours={price} {...winner} />],
          [operator.winner, winner === undefined ? undefined : <Address key="winner" text={winner.provider} />],
          [operator.tenant, <Address key="tenant" text={owner} />],
          [deploymentWords.id, <Deployment key="deployment" owner={owner} dseq={dseq} />],
          [operator.detected, <Time key="detected" time={facts.detected_at} />],
          [operator.again, facts.again_at === undefined ? undefined : <Time key="again" time={facts.again_at} />],
        ]}
      />
      <Own words={["why", order]} asksNode />
    </details>
  );
}

/** A command about the provider, with its home. */
export function Own({ words, asksNode = false }: { words: readonly string[]; asksNode?: boolean }) {
  const home = session.value?.providerHome;
  const all = [...words, ...(home === undefined ? [] : ["--home", home])];
  return <Command program="svc provider" words={all} asksNode={asksNode} />;
}

export function Deployment({ owner, dseq }: { owner: string; dseq: string }) {
  return (
    <a class="number" href={link("deployment", owner, dseq)}>
      {dseq}
    </a>
  );
}

/** The winner's price, and how much of the own bid it is. */
function Winner({ price, ours }: { price: string; ours: string | undefined }) {
  const [own, other] = [tryParseDec(ours ?? ""), tryParseDec(price)];
  const isComparable = own !== undefined && own > 0n && other !== undefined;
  return (
    <>
      {priceText(price)} {isComparable && <small>{operator.ratio(decimal((other * 1_000n) / own, 1))}</small>}
    </>
  );
}

/** Prices have 18 decimal places. */
const PLACES = 18;

export function priceText(text: string): string {
  const value = tryParseDec(text);
  return value === undefined ? t.gateway.notKnown : decimal(value, PLACES);
}
