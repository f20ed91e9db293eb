import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LoadedSdl } from "../../sdl/index.ts";
import type { DeployReporter, DeployResult } from "../../tenant/index.ts";
import type { DeploymentKey } from "../../wire/index.ts";
import { chainId } from "../live/blocks/head.ts";
import { wallet } from "../live/wallet.ts";
import { Command, Items } from "../parts/blocks.tsx";
import { Fault } from "../parts/fault.tsx";
import { Out, State, Strange } from "../parts/text.tsx";
import { t } from "../text/index.ts";
import { manage } from "../text/manage.ts";
import type { UpdateStage } from "./run-update.ts";
import type { FileText } from "./texts.ts";

const WORDS = manage;

interface SendProps {
  readonly id: DeploymentKey;
  readonly file: FileText;
  readonly sdl: LoadedSdl;
  /** The chain has this manifest: it is sent to the providers again. */
  readonly isSame: boolean;
  /** The text that is read is the one in the editor. */
  readonly isSettled: boolean;
}

type Outcome =
  | { readonly kind: "running" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "done"; readonly result: DeployResult };

/** Signs and sends an update, and tells how far it has come. It ends with the page, and can be sent again. */
export function Send({ id, file, sdl, isSame, isSettled }: SendProps) {
  const outcome = useSignal<Outcome | undefined>(undefined);
  const stage = useSignal<UpdateStage | undefined>(undefined);
  const waiting = useSignal("");
  const steps = useSignal<readonly string[]>([]);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const account = wallet.value;
  if (account === undefined) return null;
  if (account.lacks.transaction !== undefined) return <p class="none">{t.wallet.lacks[account.lacks.transaction]}</p>;
  const reporter: DeployReporter = {
    step: (_, text) => {
      steps.value = [...steps.peek(), text];
    },
    waiting: (text) => {
      waiting.value = text;
    },
    note: (text) => {
      steps.value = [...steps.peek(), text];
    },
  };
  const run = async (): Promise<void> => {
    outcome.value = { kind: "running" };
    steps.value = [];
    try {
      const { update } = await import("./run-update.ts");
      const place = { id, chainId: chainId.peek() ?? "" };
      const onStage = (now: UpdateStage | undefined): void => {
        stage.value = now;
      };
      const { signal } = stop.current;
      const result = await update({ place, account, file, sdl, reporter, onStage, signal });
      outcome.value = { kind: "done", result };
    } catch (error) {
      outcome.value = { kind: "failed", error };
    }
    stage.value = undefined;
    waiting.value = "";
  };
  const isRunning = outcome.value?.kind === "running";
  return (
    <div class="act">
      <button type="button" disabled={isRunning || !isSettled} onClick={() => void run()}>
        {isSame ? WORDS.sendAgain : WORDS.sendUpdate}
      </button>
      <div aria-live="polite">
        {steps.value.map((text, i) => (
          <p key={i}>
            <Strange text={text} max={1000} />
          </p>
        ))}
        {isRunning && (
          <p class="waiting">{stage.value !== undefined ? STAGES[stage.value] : <Waiting text={waiting.value} />} …</p>
        )}
        {outcome.value?.kind === "failed" && <Fault error={outcome.value.error} />}
        {outcome.value?.kind === "done" && <Done result={outcome.value.result} />}
      </div>
      <Command
        program="svc deploy"
        words={["update", file.name, "--dseq", String(id.dseq), "--from", account.address]}
      />
    </div>
  );
}

function Waiting({ text }: { text: string }) {
  if (text === "") return <>{t.state.loading}</>;
  return (
    <>
      {WORDS.waitingFor} <Strange text={text} max={1000} />
    </>
  );
}

const STAGES: Readonly<Record<UpdateStage, string>> = { ...t.wallet.stages, ...WORDS.updateStages };

function Done({ result: { services, uris } }: { result: DeployResult }) {
  return (
    <>
      <p>
        <State word={WORDS.runs} kind="good" />{" "}
        <Strange
          text={services.map(({ name, available, total }) => `${name} ${available}/${total}`).join(", ")}
          isName
        />
      </p>
      <Items of={uris}>
        {(uri) => (
          <p key={uri}>
            <Out url={uri} isPlain />
          </p>
        )}
      </Items>
    </>
  );
}
