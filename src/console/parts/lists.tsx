import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { For } from "@preact/signals/utils";
import { useRef } from "preact/hooks";
import type { BlockRow } from "../live/blocks/head.ts";
import { outcomeOf } from "../live/blocks/outcome.ts";
import type { TxRow } from "../live/blocks/txs.ts";
import { link } from "../live/route.ts";
import { type Slot, Slots } from "../live/slots.ts";
import { t } from "../text/index.ts";
import { safe } from "./safe.ts";
import { grouped, timeOf } from "./text.tsx";

/** Live lists: texts of a row are signals bound in place, and the elements of one that leaves are used for one that comes. */

/** The places of rows; the one with the focus keeps its row, so that a key acts on what was read. */
function useSlots<T>(
  rows: ReadonlySignal<readonly T[]>,
  keyOf: (row: T) => string,
): ReadonlySignal<readonly Slot<T>[]> {
  const { current: slots } = useRef(new Slots(keyOf));
  const shown = useSignal<readonly Slot<T>[]>([]);
  useSignalEffect(() => {
    const focused = document.activeElement?.closest("tr[data-slot]")?.getAttribute("data-slot");
    shown.value = slots.take(rows.value, focused === null || focused === undefined ? undefined : Number(focused));
  });
  return shown;
}

const heightKey = ({ height }: BlockRow): string => String(height);
const txKey = ({ hash, height }: TxRow): string => `${hash}${height}`;

export function BlockList({ rows }: { rows: ReadonlySignal<readonly BlockRow[]> }) {
  const slots = useSlots(rows, heightKey);
  return (
    <div class="scroll live-list">
      <table aria-label={t.block.list}>
        <thead>
          <tr>
            <th scope="col">{t.block.height}</th>
            <th scope="col" class="wide">
              {t.block.time}
            </th>
            <th scope="col" class="right">
              {t.block.txs}
            </th>
            <th scope="col">{t.block.proposer}</th>
          </tr>
        </thead>
        <tbody>
          <For each={slots} getKey={({ id }) => id}>
            {(slot) => <Block slot={slot} />}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function Block({ slot: { id, row } }: { slot: Slot<BlockRow> }) {
  const proposer = useComputed(() => row.value.proposer);
  return (
    <tr data-slot={id}>
      <td>
        <LiveHeight row={row} />
      </td>
      <td>
        <LiveTime row={row} />
      </td>
      <td class="right">{useComputed(() => row.value.txs)}</td>
      <td>
        <span class="code" title={proposer}>
          {useComputed(() => begun(proposer.value))}
        </span>
      </td>
    </tr>
  );
}

/** The beginning of a hash. */
const begun = (hash: string): string => `${hash.slice(0, 12)}…`;

function LiveHeight({ row }: { row: ReadonlySignal<{ readonly height: bigint }> }) {
  return (
    <a class="number" href={useComputed(() => link("block", row.value.height))}>
      {useComputed(() => grouped(row.value.height))}
    </a>
  );
}

function LiveTime({ row }: { row: ReadonlySignal<BlockRow> }) {
  const shown = useComputed(() => timeOf(row.value.time, row.value.height));
  return (
    <time dateTime={useComputed(() => shown.value?.iso ?? "")} title={useComputed(() => shown.value?.title ?? "")}>
      {useComputed(() => shown.value?.text ?? "–")}
    </time>
  );
}

export function TxList({ rows }: { rows: ReadonlySignal<readonly TxRow[]> }) {
  const slots = useSlots(rows, txKey);
  return (
    <div class="scroll live-list">
      <table aria-label={t.block.txs}>
        <thead>
          <tr>
            <th scope="col">{t.tx.hash}</th>
            <th scope="col" class="wide">
              {t.tx.action}
            </th>
            <th scope="col">{t.tx.block}</th>
            <th scope="col">{t.tx.result}</th>
          </tr>
        </thead>
        <tbody>
          <For each={slots} getKey={({ id }) => id}>
            {(slot) => <Tx slot={slot} />}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function Tx({ slot: { id, row } }: { slot: Slot<TxRow> }) {
  const hash = useComputed(() => row.value.hash);
  return (
    <tr data-slot={id}>
      <td>
        <a class="code" href={useComputed(() => link("tx", hash.value))} title={hash}>
          {useComputed(() => begun(hash.value))}
        </a>
      </td>
      <td>
        <span class="name">{useComputed(() => actionText(row.value.action))}</span>
      </td>
      <td>
        <LiveHeight row={row} />
      </td>
      <td>
        <span class={useComputed(() => `state ${outcomeOf(row.value.code).kind}`)}>
          {useComputed(() => outcomeOf(row.value.code).word)}
        </span>
      </td>
    </tr>
  );
}

/** The type of a message, which may be a stranger's. */
function actionText(action: string): string {
  const { text, cut } = safe(action, { isName: true, max: 80 });
  return cut > 0 ? `${text} … ${t.value.cut(cut)}` : text || "–";
}
