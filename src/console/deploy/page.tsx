import { type ReadonlySignal, type Signal, useComputed } from "@preact/signals";
import { type Answer, useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { Command, Known, Section } from "../parts/blocks.tsx";
import { MAX_ITEMS } from "../parts/safe.ts";
import { Heading, Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { loadTerms, type Terms } from "./cost.ts";
import { Cost } from "./cost-table.tsx";
import { settled } from "./draft.ts";
import { Beginnings, Editor, goTo } from "./editor.tsx";
import { useOffers } from "./offers.ts";
import { OffersTables } from "./offers-table.tsx";
import { Plan } from "./plan.tsx";
import type { Reading, Remark } from "./read.ts";
import { Unfinished } from "./run/start.tsx";

/** The reader of deployment files, and the form, which reads with the same YAML. */
async function loadParts() {
  const [{ readDraft }, { Form }] = await Promise.all([import("./read.ts"), import("./form/form.tsx")]);
  return { readDraft, Form };
}

/** A deployment file as a form and as a text, its faults, and its price at each provider, before anything is signed. */
export function Deploy() {
  const parts = useAsk(loadParts, { key: "parts" });
  const terms = useAsk(() => loadTerms(chain), { key: "terms" });
  const reading = useComputed((): Reading | undefined => {
    const { name, text } = settled.value;
    if (parts.value.kind !== "known" || text.trim() === "") return undefined;
    const known = terms.value.kind === "known" ? terms.value.value : undefined;
    const limits = known && { limits: known.limits, denoms: known.minDeposits.map(({ denom }) => denom) };
    return parts.value.value.readDraft(text, name, limits);
  });
  return (
    <>
      <Heading title={deploy.title} />
      <Unfinished />
      <Beginnings />
      <div class="sides">
        <Known answer={parts}>{({ Form }) => <Form reading={reading} />}</Known>
        <Editor reading={reading} />
      </div>
      <Read reading={reading} terms={terms} />
      <SameCommand />
    </>
  );
}

function SameCommand() {
  return <Command program="svc deploy" words={[settled.value.name, "--estimate"]} />;
}

interface ReadProps {
  readonly reading: ReadonlySignal<Reading | undefined>;
  readonly terms: Signal<Answer<Terms>>;
}

function Read({ reading, terms }: ReadProps) {
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
