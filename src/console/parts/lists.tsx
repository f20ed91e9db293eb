import type { ReadonlySignal } from "@preact/signals";
import { For } from "@preact/signals/utils";
import type { BlockRow } from "../live/blocks/head.ts";
import type { TxRow } from "../live/blocks/txs.ts";
import { link } from "../live/route.ts";
import { t } from "../text/index.ts";
import { Height, State, Strange, Time } from "./text.tsx";

/** Live lists: a new row is added at the top, and the others keep their place in the page. */

export function BlockList({ rows }: { rows: ReadonlySignal<readonly BlockRow[]> }) {
  return (
    <div class="scroll">
      <table aria-label={t.block.list}>
        <thead>
          <tr>
            <th scope="col">{t.block.height}</th>
            <th scope="col">{t.block.time}</th>
            <th scope="col" class="right">
              {t.block.txs}
            </th>
            <th scope="col">{t.block.proposer}</th>
          </tr>
        </thead>
        <tbody>
          <For each={rows} getKey={({ height }) => String(height)}>
            {(row) => (
              <tr>
                <td>
                  <Height height={row.height} />
                </td>
                <td>
                  <Time time={row.time} height={row.height} />
                </td>
                <td class="right">{row.txs}</td>
                <td>
                  <span class="code" title={row.proposer}>
                    {row.proposer.slice(0, 12)}…
                  </span>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

export function TxList({ rows }: { rows: ReadonlySignal<readonly TxRow[]> }) {
  return (
    <div class="scroll">
      <table aria-label={t.block.txs}>
        <thead>
          <tr>
            <th scope="col">{t.tx.hash}</th>
            <th scope="col">{t.tx.action}</th>
            <th scope="col">{t.tx.block}</th>
            <th scope="col">{t.tx.result}</th>
          </tr>
        </thead>
        <tbody>
          <For each={rows} getKey={({ hash, height }) => `${hash}${height}`}>
            {(row) => (
              <tr>
                <td>
                  <a class="code" href={link("tx", row.hash)} title={row.hash}>
                    {row.hash.slice(0, 12)}…
                  </a>
                </td>
                <td>
                  <Strange text={row.action} isName max={80} />
                </td>
                <td>
                  <Height height={row.height} />
                </td>
                <td>
                  <Outcome code={row.code} />
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function Outcome({ code }: { code: number | undefined }) {
  if (code === undefined) return <State word={t.fault.unknown} />;
  return code === 0 ? <State word={t.tx.ok} kind="good" /> : <State word={`${code}`} kind="bad" />;
}
