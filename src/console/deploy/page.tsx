import { type Signal, useComputed } from "@preact/signals";
import { type Answer, useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { Command, Known, Section } from "../parts/blocks.tsx";
import { MAX_ITEMS } from "../parts/safe.ts";
import { Heading, Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { loadTerms, type Terms } from "./cost.ts";
import { Cost } from "./cost-table.tsx";
import { settled } from "./draft.ts";
import { Editor, goTo } from "./editor.tsx";
import { useOffers } from "./offers.ts";
import { OffersTables } from "./offers-table.tsx";
import { Plan } from "./plan.tsx";
import type { Reading, Remark } from "./read.ts";
import { Unfinished } from "./run/start.tsx";

/** A deployment file, its faults, and its price at each provider, before anything is signed. */
export function Deploy() {
  const reader = useAsk(() => import("./read.ts"), { key: "reader" });
  const terms = useAsk(() => loadTerms(chain), { key: "terms" });
  return (
    <>
      <Heading title={deploy.title} />
      <Unfinished />
      <Editor />
      <Known answer={reader}>{({ readDraft }) => <Read readDraft={readDraft} terms={terms} />}</Known>
      <SameCommand />
    </>
  );
}

function SameCommand() {
  return <Command program="svc deploy" words={[settled.value.name, "--estimate"]} />;
}

interface ReadProps {
  readonly readDraft: typeof import("./read.ts").readDraft;
  readonly terms: Signal<Answer<Terms>>;
}

function Read({ readDraft, terms }: ReadProps) {
  const reading = useComputed((): Reading | undefined => {
    const { name, text } = settled.value;
    if (text.trim() === "") return undefined;
    const known = terms.value.kind === "known" ? terms.value.value : undefined;
    const limits = known && { limits: known.limits, denoms: known.minDeposits.map(({ denom }) => denom) };
    return readDraft(text, name, limits);
  });
  const found = reading.value;
  if (found === undefined) return <p class="none">{deploy.empty}</p>;
  return (
    <>
      <div aria-live="polite">
        <Remarks title={deploy.faults} remarks={found.faults} />
        <Remarks title={deploy.warnings} remarks={found.warnings} />
        {terms.value.kind === "unknown" && <p class="none">{deploy.unchecked}</p>}
      </div>
      {found.sdl !== undefined && <Priced sdl={found.sdl} terms={terms} />}
    </>
  );
}

/** Faults or warnings, each leading to its place in the text. */
function Remarks({ title, remarks }: { title: string; remarks: readonly Remark[] }) {
  if (remarks.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="remarks">
        {remarks.slice(0, MAX_ITEMS).map(({ line, column, sentence }, i) => (
          <li key={i}>
            <button type="button" onClick={() => goTo(line, column)}>
              {deploy.line(line)}
            </button>{" "}
            <Strange text={sentence} max={1000} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Priced({ sdl, terms }: { sdl: NonNullable<Reading["sdl"]>; terms: Signal<Answer<Terms>> }) {
  const offers = useOffers(sdl.groups);
  return (
    <>
      <Plan sdl={sdl} />
      <Known answer={terms}>
        {(known) => (
          <>
            <Cost sdl={sdl} terms={known} offers={offers} />
            <Known answer={offers}>{(value) => <OffersTables offers={value} seconds={known.blockSeconds} />}</Known>
          </>
        )}
      </Known>
    </>
  );
}
