import type { CommittedTx } from "../../client/index.ts";
import { toBase64 } from "../../util/index.ts";
import { useAsk } from "../live/ask.ts";
import { shortType } from "../live/blocks/txs.ts";
import { chain } from "../live/chain.ts";
import type { ReadMessage, ReadTx } from "../live/messages.ts";
import type { PageProps } from "../live/route.ts";
import { Command, Facts, Items, Known, Section } from "../parts/blocks.tsx";
import { Events } from "../parts/events.tsx";
import { Missing } from "../parts/fault.tsx";
import { Json } from "../parts/json.tsx";
import { safe } from "../parts/safe.ts";
import { Address, Amounts, Code, grouped, Heading, Height, None, State, Strange, Time } from "../parts/text.tsx";
import { t } from "../text/index.ts";

/** A transaction with what the pages say about it. */
interface Shown {
  readonly tx: CommittedTx;
  readonly read: ReadTx;
  readonly time: string | undefined;
  /** Meaning and remedy of its error. */
  readonly meaning: string | undefined;
  readonly remedy: string | undefined;
}

export function Tx({ words: [text = ""] }: PageProps) {
  const hash = text.replace(/^0x/i, "").toUpperCase();
  return /^[0-9A-F]{64}$/.test(hash) ? <OneTx hash={hash} /> : <Missing />;
}

function OneTx({ hash }: { hash: string }) {
  const answer = useAsk(() => load(hash), { key: hash, isLive: true });
  return (
    <>
      <Heading title={t.tx.title} />
      <Known answer={answer}>
        {(shown) => (shown === undefined ? <p class="none">{t.tx.absent(hash)}</p> : <Found {...shown} />)}
      </Known>
      <Command words={["tx", hash]} />
    </>
  );
}

async function load(hash: string): Promise<Shown | undefined> {
  const tx = await chain.node.tx(hash);
  if (tx === undefined) return undefined;
  const [times, { readTx }, { meaningOf, remedyOf }] = await Promise.all([
    chain.node.blockTimes([tx.height]),
    import("../live/messages.ts"),
    import("../live/remedies.ts"),
  ]);
  const { codespace, code, log } = tx;
  const fault = code === 0 ? {} : { meaning: meaningOf(codespace, code), remedy: remedyOf(codespace, code, log) };
  return { tx, read: readTx(tx.bytes), time: times.get(tx.height), meaning: undefined, remedy: undefined, ...fault };
}

function Found({ tx, read, time, meaning, remedy }: Shown) {
  return (
    <>
      {tx.code !== 0 && (
        <div class="fault">
          <p>
            {t.tx.failed(tx.codespace, tx.code)}: {meaning ?? t.fault.unknown}
          </p>
          {remedy !== undefined && (
            <p class="remedy">
              {t.fault.remedy}: {remedy}
            </p>
          )}
        </div>
      )}
      <Facts
        rows={[
          [t.tx.hash, <Code key="hash" text={tx.hash} />],
          [t.tx.result, <Result key="result" tx={tx} />],
          [t.tx.block, <Height key="block" height={tx.height} />],
          [t.tx.time, <Time key="time" time={time} height={tx.height} />],
          [t.tx.signers, <Addresses key="signers" texts={read.signers} />],
          [t.tx.fee, <Amounts key="fee" coins={read.fee} />],
          [t.tx.payer, <Address key="payer" text={read.payer ?? ""} />],
          [t.tx.gas, `${grouped(tx.gasUsed)} / ${grouped(tx.gasWanted)}`],
          [t.tx.memo, read.memo === "" ? undefined : <Strange key="memo" text={read.memo} />],
          [t.tx.timeout, read.timeoutHeight === 0n ? undefined : grouped(read.timeoutHeight)],
          [t.tx.log, tx.code === 0 ? undefined : <Strange key="log" text={tx.log} max={2000} />],
        ]}
      />
      <Section title={`${t.tx.messages} (${read.messages.length})`}>
        <Messages messages={read.messages} />
      </Section>
      <Section title={`${t.tx.events} (${tx.events.length})`}>
        <Events events={tx.events} />
      </Section>
      <details>
        <summary>{t.tx.raw}</summary>
        <pre class="raw">
          <Strange text={toBase64(tx.bytes)} isName />
        </pre>
      </details>
    </>
  );
}

function Result({ tx }: { tx: CommittedTx }) {
  if (tx.code === 0) return <State word={t.tx.ok} kind="good" />;
  return <State word={t.tx.failed(tx.codespace, tx.code)} kind="bad" />;
}

function Addresses({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return <None />;
  return (
    <span class="stack">
      <Items of={texts}>{(text) => <Address key={text} text={text} />}</Items>
    </span>
  );
}

/** Messages with all their fields. */
export function Messages({ messages }: { messages: readonly ReadMessage[] }) {
  return (
    <Items of={messages}>
      {(message, i) => (
        <article key={i} class="message">
          <h3 title={safe(message.typeUrl, { isName: true, max: 200 }).text}>
            <Strange text={shortType(message.typeUrl)} isName max={200} />
          </h3>
          <Json value={message.content} />
        </article>
      )}
    </Items>
  );
}
