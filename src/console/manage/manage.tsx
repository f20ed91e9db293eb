import { type Signal, useComputed, useSignal } from "@preact/signals";
import type { DeploymentKey } from "../../wire/index.ts";
import { type Answer, latest, useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { Known, Section } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { manage } from "../text/manage.ts";
import { CloseForm, type Closing } from "./close.tsx";
import { type Held, loadHeld } from "./funds.ts";
import { TopUp } from "./top-up.tsx";

interface UpdateProps {
  readonly id: DeploymentKey;
  readonly held: Signal<Answer<Held | undefined>>;
}

/** The ways in which its owner changes and ends a deployment. A close stays in view after it. */
export function Manage(id: DeploymentKey) {
  const held = useAsk(() => loadHeld(chain, id), { key: `${id.owner}/${id.dseq}`, isPerBlock: true });
  const closing = useSignal<Closing | undefined>(undefined);
  const state = useComputed(() => latest(held.value)?.value?.deployment.state);
  if (state.value === undefined) return <Known answer={held}>{() => null}</Known>;
  const isActive = state.value === "active";
  if (!isActive && closing.value === undefined) return null;
  return (
    <Section title={manage.title}>
      {held.value.kind === "unknown" && <Fault error={held.value.error} />}
      {isActive && <TopUp id={id} held={held} />}
      {isActive && <Update id={id} held={held} />}
      <CloseForm id={id} held={held} closing={closing} />
    </Section>
  );
}

/** The editor and the reader of files are loaded once it is opened. */
function Update({ id, held }: UpdateProps) {
  const isOpen = useSignal(false);
  return (
    <details
      class="manage"
      onToggle={(event) => {
        if (event.currentTarget.open) isOpen.value = true;
      }}
    >
      <summary>{manage.update}</summary>
      {isOpen.value && <Opened id={id} held={held} />}
    </details>
  );
}

function Opened({ id, held }: UpdateProps) {
  const answer = useAsk(() => import("./update.tsx"), { key: "update" });
  return <Known answer={answer}>{(part) => <part.Update id={id} held={held} />}</Known>;
}
