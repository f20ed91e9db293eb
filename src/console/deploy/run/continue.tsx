import { useSignal } from "@preact/signals";
import { equalBytes } from "../../../util/index.ts";
import type { DeploymentKey } from "../../../wire/index.ts";
import { useAsk } from "../../live/ask.ts";
import { chainId } from "../../live/blocks/head.ts";
import { link } from "../../live/route.ts";
import { wallet } from "../../live/wallet.ts";
import { Known } from "../../parts/blocks.tsx";
import { Fault } from "../../parts/fault.tsx";
import { deploying } from "../../text/deploying.ts";
import { keepRun, keptRunOf } from "./records.ts";

interface ContinueProps extends DeploymentKey {
  /** Hash of the manifest on the chain. */
  readonly version: Uint8Array;
}

/** Goes on with an active deployment of the connected account: with the kept file, or with one that has its hash. */
export function Continue({ owner, dseq, version }: ContinueProps) {
  const shown = chainId.value;
  if (wallet.value?.address !== owner || shown === undefined) return null;
  return <Own owner={owner} dseq={dseq} version={version} shown={shown} />;
}

function Own({ shown, ...props }: ContinueProps & { readonly shown: string }) {
  const { owner, dseq } = props;
  const answer = useAsk(() => keptRunOf(owner, shown, dseq), { key: `${shown}/${owner}/${dseq}` });
  return (
    <details class="continue">
      <summary>{deploying.more}</summary>
      <Known answer={answer}>
        {(run) =>
          run === undefined ? (
            <TakeFile {...props} shown={shown} />
          ) : (
            <p>
              {deploying.known} <a href={link("deploying", run.id)}>{deploying.goOn}</a>
            </p>
          )
        }
      </Known>
    </details>
  );
}

function TakeFile({ shown, ...props }: ContinueProps & { readonly shown: string }) {
  const error = useSignal<unknown>(undefined);
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    error.value = undefined;
    try {
      location.hash = link("deploying", await adopt(props, shown, file));
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <>
      <p>{deploying.lost}</p>
      <label>
        {deploying.file}{" "}
        <input type="file" accept=".yaml,.yml" onChange={(event) => void take(event.currentTarget.files?.[0])} />
      </label>
      {error.value !== undefined && <Fault error={error.value} />}
    </>
  );
}

/** Keeps a run of the deployment with a file that has the hash on the chain; returns its identifier. */
async function adopt({ owner, dseq, version }: ContinueProps, chain: string, file: File): Promise<string> {
  const { fingerprintOf, readDraft, readFile } = await import("../read.ts");
  const text = await readFile(file);
  if (typeof text !== "string") throw new Error(deploying.faulty(text.sentence));
  const { sdl, faults } = readDraft(text, file.name, undefined);
  if (sdl === undefined) throw new Error(deploying.faulty(faults[0]?.sentence ?? ""));
  if (!equalBytes(sdl.hash, version)) throw new Error(deploying.otherFile);
  const id = crypto.randomUUID();
  // The provider is asked whether it has the manifest before it is sent.
  const progress = { dseq, fingerprint: fingerprintOf(sdl), step: "manifest" as const, chosen: [] };
  const kept = { id, chainId: chain, owner, name: file.name, text, progress };
  await keepRun({ ...kept, isChosen: false, begun: Date.now(), addresses: [] });
  return id;
}
