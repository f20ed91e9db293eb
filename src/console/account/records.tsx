import { useComputed } from "@preact/signals";
import {
  Certificate_State,
  Query as CertQuery,
  MsgRevokeCertificateSchema,
} from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { packAny } from "../../wire/index.ts";
import { latest, useAsk } from "../live/ask.ts";
import { loadHistory } from "../live/blocks/txs.ts";
import { chain } from "../live/chain.ts";
import { link, readHeight, route } from "../live/route.ts";
import { Act } from "../parts/act.tsx";
import { Command, Facts, Items, Known, Pages, pageKey, Section } from "../parts/blocks.tsx";
import { TxList } from "../parts/lists.tsx";
import { MarketState } from "../parts/market.tsx";
import { Strange } from "../parts/text.tsx";
import { account as accountWords, views } from "../text/account.ts";
import { t } from "../text/index.ts";

const WORDS = views;
const ROWS = 50n;

/** Certificates that the account has published. A page needs none: it reaches gateways by sessions. */
export function Certificates({ address: owner }: { address: string }) {
  const key = pageKey();
  const answer = useAsk(
    () => chain.query.call(CertQuery.method.certificates, { filter: { owner }, pagination: { key, limit: ROWS } }),
    { key: `${owner}/${key}`, isLive: true },
  );
  return (
    <Section title={accountWords.certificates}>
      <p>{WORDS.aboutCertificates}</p>
      <Known answer={answer}>
        {({ certificates, pagination }) => (
          <>
            {certificates.length === 0 && <p class="none">{t.state.none}</p>}
            <Items of={certificates}>
              {({ serial, certificate }) => (
                <One key={serial} owner={owner} serial={serial} state={certificate?.state ?? 0} />
              )}
            </Items>
            <Pages next={pagination?.nextKey} />
          </>
        )}
      </Known>
    </Section>
  );
}

interface OneProps {
  readonly owner: string;
  readonly serial: string;
  readonly state: Certificate_State;
}

function One({ owner, serial, state }: OneProps) {
  return (
    <article class="message">
      <Facts
        rows={[
          [accountWords.serial, <Strange key="serial" text={serial} isName max={200} />],
          [accountWords.state, <MarketState key="state" names={Certificate_State} value={state} />],
        ]}
      />
      {state === Certificate_State.valid && (
        <Act
          label={WORDS.revoke}
          command={() => ["cert", "revoke", "--serial", serial]}
          messages={() => [packAny(MsgRevokeCertificateSchema, { id: { owner, serial } })]}
        >
          <p class="notice">{WORDS.revokeWarning}</p>
        </Act>
      )}
    </article>
  );
}

/** All transactions of an account, page by page. */
export function History({ address }: { address: string }) {
  const last = readHeight(route.value.search.get("upto") ?? "");
  const answer = useAsk(() => loadHistory(chain, address, last), {
    key: `${address}/${last}`,
    isLive: last === undefined,
  });
  const rows = useComputed(() => latest(answer.value)?.value.rows ?? []);
  return (
    <Section title={accountWords.txs}>
      <Known answer={answer}>
        {({ rows: found, next }) => (
          <>
            {found.length === 0 ? <p class="none">{t.state.none}</p> : <TxList rows={rows} />}
            <p class="pages">
              {last !== undefined && <a href={link("wallet", "history")}>{t.state.newest}</a>}
              {next !== undefined && <a href={`${link("wallet", "history")}?upto=${next}`}>{WORDS.older}</a>}
            </p>
          </>
        )}
      </Known>
      <Command words={["txs", "--query", `message.sender='${address}'`]} />
    </Section>
  );
}
