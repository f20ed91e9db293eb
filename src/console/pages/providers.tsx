import { Query as AuditQuery } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  Query as ProviderQuery,
  type Provider as ProviderRecord,
} from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { isAddress } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { link, type PageProps } from "../live/route.ts";
import { Command, Facts, Known, Pages, pageKey, Section, Table } from "../parts/blocks.tsx";
import { Missing } from "../parts/fault.tsx";
import { Leases } from "../parts/market.tsx";
import { Address, Heading, Height, None, Out, Strange } from "../parts/text.tsx";
import { provider as providerWords } from "../text/account.ts";
import { t } from "../text/index.ts";

const PAGE = 50n;

export function Providers() {
  const key = pageKey();
  const answer = useAsk(() => chain.query.call(ProviderQuery.method.providers, { pagination: { key, limit: PAGE } }), {
    key: String(key),
    isLive: true,
  });
  return (
    <>
      <Heading title={providerWords.list} />
      <Known answer={answer}>
        {({ providers, pagination }) => (
          <>
            <Table
              name={providerWords.list}
              columns={[providerWords.address, providerWords.host, providerWords.attributes, providerWords.created]}
              rows={providers}
              keyOf={({ owner }) => owner}
              cells={(each) => [
                <a key="address" class="code" href={link("provider", each.owner)}>
                  {each.owner}
                </a>,
                <Out key="host" url={each.hostUri} />,
                <Tags key="attributes" attributes={each.attributes} />,
                <Height key="created" height={each.createdAt} />,
              ]}
            />
            <Pages next={pagination?.nextKey} />
          </>
        )}
      </Known>
      <Command words={["provider", "list"]} />
    </>
  );
}

/** The first attributes, as a list shows them. */
function Tags({ attributes }: { attributes: readonly Attribute[] }) {
  const shown = attributes.slice(0, 6);
  return (
    <span class="tags">
      {shown.map(({ key, value }) => (
        <span key={key}>
          <Strange text={`${key}=${value}`} isName max={60} />
        </span>
      ))}
      {attributes.length > shown.length && <em class="cut">{t.value.items(attributes.length - shown.length)}</em>}
    </span>
  );
}

export function Provider({ words: [address = ""] }: PageProps) {
  return isAddress(address) ? <OneProvider address={address} /> : <Missing />;
}

function OneProvider({ address: owner }: { address: string }) {
  const answer = useAsk(() => chain.query.call(ProviderQuery.method.provider, { owner }), { key: owner, isLive: true });
  return (
    <>
      <Heading title={providerWords.title} />
      <Known answer={answer}>
        {({ provider }) => (provider === undefined ? <None /> : <Found provider={provider} />)}
      </Known>
      <Audits owner={owner} />
      <Section title={providerWords.leases}>
        <Leases filters={{ provider: owner, state: "active" }} />
      </Section>
      <Command words={["provider", "get", owner]} />
    </>
  );
}

function Found({ provider }: { provider: ProviderRecord }) {
  return (
    <>
      <Facts
        rows={[
          [providerWords.address, <Address key="address" text={provider.owner} />],
          [providerWords.host, <Out key="host" url={provider.hostUri} />],
          [providerWords.website, <Out key="website" url={provider.info?.website ?? ""} />],
          [providerWords.email, <Strange key="email" text={provider.info?.email ?? ""} isName max={300} />],
          [providerWords.created, <Height key="created" height={provider.createdAt} />],
          [providerWords.updated, <Height key="updated" height={provider.updatedAt} />],
        ]}
      />
      <Section title={providerWords.attributes}>
        <Attributes attributes={provider.attributes} />
      </Section>
    </>
  );
}

function Attributes({ attributes }: { attributes: readonly Attribute[] }) {
  return (
    <Table
      name={providerWords.attributes}
      columns={[providerWords.key, providerWords.value]}
      rows={attributes}
      keyOf={({ key }) => key}
      cells={({ key, value }) => [
        <Strange key="key" text={key} isName max={300} />,
        <Strange key="value" text={value} isName max={1000} />,
      ]}
    />
  );
}

function Audits({ owner }: { owner: string }) {
  const pagination = { limit: PAGE };
  const answer = useAsk(() => chain.query.call(AuditQuery.method.providerAttributes, { owner, pagination }), {
    key: owner,
  });
  return (
    <Section title={providerWords.audits}>
      <Known answer={answer}>
        {({ providers }) => (
          <Table
            name={providerWords.audits}
            columns={[providerWords.auditor, providerWords.attributes]}
            rows={providers}
            keyOf={({ auditor }) => auditor}
            cells={({ auditor, attributes }) => [
              <Address key="auditor" text={auditor} />,
              <Tags key="attributes" attributes={attributes} />,
            ]}
          />
        )}
      </Known>
    </Section>
  );
}
