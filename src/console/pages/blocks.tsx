import { useComputed } from "@preact/signals";
import { latest, useAsk } from "../live/ask.ts";
import { blocks, blocksBefore } from "../live/blocks/head.ts";
import { txRow } from "../live/blocks/txs.ts";
import { chain } from "../live/chain.ts";
import { link, type PageProps, readHeight, route } from "../live/route.ts";
import { Command, Facts, Known, Section } from "../parts/blocks.tsx";
import { Events } from "../parts/events.tsx";
import { Missing } from "../parts/fault.tsx";
import { BlockList, TxList } from "../parts/lists.tsx";
import { Code, Heading, Height, Strange, Time } from "../parts/text.tsx";
import { t } from "../text/index.ts";

/** The newest blocks, live; or those up to the height of the address. */
export function Blocks() {
  const last = readHeight(route.value.search.get("until") ?? "");
  return (
    <>
      <Heading title={t.block.list} />
      {last === undefined ? <Newest /> : <Older key={String(last)} last={last} />}
      <Command words={last === undefined ? ["blocks"] : ["blocks", last > 19n ? last - 19n : 1n, last]} />
    </>
  );
}

function Newest() {
  const lowest = useComputed(() => blocks.value.at(-1)?.height ?? 1n);
  return (
    <>
      <BlockList rows={blocks} />
      <More lowest={lowest.value} />
    </>
  );
}

function Older({ last }: { last: bigint }) {
  const answer = useAsk(() => blocksBefore(last), { key: String(last) });
  const rows = useComputed(() => latest(answer.value)?.value ?? []);
  return (
    <Known answer={answer}>
      {(found) => (
        <>
          <BlockList rows={rows} />
          <More lowest={found.at(-1)?.height ?? 1n} />
        </>
      )}
    </Known>
  );
}

function More({ lowest }: { lowest: bigint }) {
  return (
    <p class="pages">
      {route.value.search.has("until") && <a href={link("blocks")}>{t.state.newest}</a>}
      {lowest > 1n && <a href={`${link("blocks")}?until=${lowest - 1n}`}>{t.block.older}</a>}
    </p>
  );
}

export function Block({ words: [text = ""] }: PageProps) {
  const height = readHeight(text);
  return height === undefined ? <Missing /> : <OneBlock height={height} />;
}

function OneBlock({ height }: { height: bigint }) {
  const answer = useAsk(
    async () => {
      const [block, rows] = await Promise.all([chain.node.block(height), blocksBefore(height)]);
      return { block, proposer: rows.find((row) => row.height === height)?.proposer ?? "" };
    },
    { key: String(height) },
  );
  const rows = useComputed(() => latest(answer.value)?.value.block.txs.map(txRow) ?? []);
  return (
    <>
      <Heading title={t.block.title(String(height))}>
        <nav class="pages" aria-label={t.block.list}>
          {height > 1n && <a href={link("block", height - 1n)}>← {t.block.previous}</a>}
          <a href={link("block", height + 1n)}>{t.block.next} →</a>
        </nav>
      </Heading>
      <Known answer={answer}>
        {({ block, proposer }) => (
          <>
            <Facts
              rows={[
                [t.block.height, <Height key="height" height={block.height} />],
                [t.block.time, <Time key="time" time={block.timestamp} height={block.height} />],
                [t.block.hash, <Code key="hash" text={block.hash} />],
                [t.block.chain, <Strange key="chain" text={block.chainId} isName />],
                [t.block.proposer, <Code key="proposer" text={proposer} />],
              ]}
            />
            <Section title={`${t.block.txs} (${block.txs.length})`}>
              {block.txs.length === 0 ? <p class="none">{t.state.none}</p> : <TxList rows={rows} />}
            </Section>
            <Section title={`${t.block.events} (${block.events.length})`}>
              <Events events={block.events} />
            </Section>
          </>
        )}
      </Known>
      <Command words={["block", height]} />
    </>
  );
}
