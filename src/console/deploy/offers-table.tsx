import type { Signal } from "@preact/signals";
import { priceOverTime } from "../../sdl/index.ts";
import { whyUnknown } from "../live/gateway/gateway.ts";
import { link } from "../live/route.ts";
import { Section, Table } from "../parts/blocks.tsx";
import { Per } from "../parts/price.tsx";
import { None, Out, State, Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { t } from "../text/index.ts";
import type { Verdict } from "./cost.ts";
import type { GroupOffers, Offers } from "./offers.ts";

/** Every provider's answer; each appears when it comes. */
export function OffersTables({ offers: { groups, isCut }, seconds }: { offers: Offers; seconds: number }) {
  return (
    <>
      {groups.map((each) => (
        <Section
          key={each.group.name}
          title={groups.length === 1 ? deploy.providers : deploy.providersOf(each.group.name)}
        >
          <GroupTable {...each} seconds={seconds} />
        </Section>
      ))}
      {isCut && <p class="cut">{deploy.more}</p>}
      <p class="none">{deploy.sent}</p>
    </>
  );
}

function GroupTable({ group, offers, seconds }: GroupOffers & { seconds: number }) {
  if (offers.length === 0) return <p class="none">{deploy.noProviders}</p>;
  return (
    <Table
      name={deploy.providersOf(group.name)}
      columns={[
        deploy.provider,
        deploy.answer,
        { head: deploy.hour, isNumber: true },
        { head: deploy.day, isNumber: true },
        { head: deploy.month, isNumber: true },
      ]}
      rows={offers}
      keyOf={({ provider }) => provider.address}
      cells={({ provider, verdict }) => [
        <span key="provider" class="stack">
          <a class="code" href={link("provider", provider.address)}>
            {provider.address}
          </a>
          <small>
            <Out url={provider.hostUri} />
          </small>
        </span>,
        <Answer key="answer" verdict={verdict} />,
        <Price key="hour" verdict={verdict} seconds={seconds} span="perHour" />,
        <Price key="day" verdict={verdict} seconds={seconds} span="perDay" />,
        <Price key="month" verdict={verdict} seconds={seconds} span="perMonth" />,
      ]}
    />
  );
}

function Answer({ verdict: { value } }: { verdict: Signal<Verdict> }) {
  if (value.kind === "asking") return <State word={deploy.asking} />;
  if (value.kind === "yes") return <State word={t.state.yes} kind="good" />;
  return (
    <span class="stack">
      <State word={value.kind === "no" ? t.state.no : t.gateway.notKnown} kind={value.kind === "no" ? "bad" : "calm"} />
      <Strange
        text={
          value.kind === "no" ? value.reason : value.error === undefined ? deploy.impossible : whyUnknown(value.error)
        }
        isName
        max={400}
      />
    </span>
  );
}

interface PriceProps {
  readonly verdict: Signal<Verdict>;
  readonly seconds: number;
  readonly span: "perHour" | "perDay" | "perMonth";
}

function Price({ verdict: { value }, seconds, span }: PriceProps) {
  return value.kind === "yes" ? <Per price={priceOverTime(value.price, seconds)} span={span} /> : <None />;
}
