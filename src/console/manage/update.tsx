import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { DeploymentRecord } from "../../client/index.ts";
import { groupChanges } from "../../tenant/index.ts";
import { equalBytes } from "../../util/index.ts";
import type { DeploymentKey } from "../../wire/index.ts";
import { replace } from "../deploy/draft.ts";
import { FileText as FileEditor } from "../deploy/file-text.tsx";
import type { Reading } from "../deploy/read.ts";
import { type Answer, latest, useAsk } from "../live/ask.ts";
import { chainId } from "../live/blocks/head.ts";
import { link } from "../live/route.ts";
import { Known } from "../parts/blocks.tsx";
import { MAX_ITEMS } from "../parts/safe.ts";
import { Strange } from "../parts/text.tsx";
import { deploy } from "../text/deploy.ts";
import { t } from "../text/index.ts";
import { manage } from "../text/manage.ts";
import { changedLines } from "./changes.ts";
import type { Held } from "./funds.ts";
import { Send } from "./send.tsx";
import { type FileText, type KnownTexts, keepEdited, knownTexts } from "./texts.ts";

const WORDS = manage;
/** Milliseconds without a change after which a text is read. */
const PAUSE_MS = 250;
const NO_HASH = new Uint8Array();

interface UpdateProps {
  readonly id: DeploymentKey;
  readonly held: Signal<Answer<Held | undefined>>;
}

/** Changes the file of a deployment: its differences, the need of a new deployment, and the update itself. */
export function Update({ id, held }: UpdateProps) {
  const reader = useAsk(() => import("../deploy/read.ts"), { key: "reader" });
  const last = useRef<DeploymentRecord | undefined>(undefined);
  const deployment = useComputed(() => {
    const next = latest(held.value)?.value?.deployment;
    // A block without an update renders nothing anew.
    if (next?.version.join() !== last.current?.version.join()) last.current = next;
    return last.current;
  });
  return (
    <Known answer={reader}>
      {(read) => deployment.value !== undefined && <Files id={id} deployment={deployment.value} read={read} />}
    </Known>
  );
}

interface FilesProps {
  readonly id: DeploymentKey;
  readonly deployment: DeploymentRecord;
  readonly read: typeof import("../deploy/read.ts");
}

function Files({ id, deployment, read }: FilesProps) {
  const place = { id, chainId: chainId.value ?? "" };
  const sdlOf = ({ text, name }: FileText) => read.readDraft(text, name, undefined).sdl;
  const texts = useAsk(() => knownTexts(place, deployment.version, sdlOf), { key: place.chainId });
  return (
    <Known answer={texts}>{(known) => <Editing id={id} deployment={deployment} read={read} known={known} />}</Known>
  );
}

function Editing({ id, deployment, read, known }: FilesProps & { readonly known: KnownTexts }) {
  const file = useSignal(known.newest);
  const settled = useSignal(known.newest);
  const deployed = useSignal(known.deployed);
  const keep = (): void => {
    // Another tab may have edited since this one looked.
    if (file.peek() !== known.newest) keepEdited({ id, chainId: chainId.peek() ?? "" }, file.peek(), deployed.peek());
  };
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = file.value;
      keep();
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [file.value]);
  // The last text, where another page is shown before the pause.
  useEffect(() => keep, []);
  const reading = useComputed((): Reading | undefined => {
    const { text, name } = settled.value;
    return text.trim() === "" ? undefined : read.readDraft(text, name, undefined);
  });
  const isVersion = (found: Reading | undefined) => equalBytes(found?.sdl?.hash ?? NO_HASH, deployment.version);
  const isDeployed = isVersion(reading.value);
  useEffect(() => {
    const before = deployed.peek();
    // A comment changes no manifest: the text with which it was deployed stays the deployed one.
    const isKnown = before !== undefined && isVersion(read.readDraft(before.text, before.name, undefined));
    if (isDeployed && !isKnown) deployed.value = settled.peek();
  }, [isDeployed, deployment.version]);
  const fault = useSignal<string | undefined>(undefined);
  const open = async (opened: File): Promise<void> => {
    const text = await read.readFile(opened);
    fault.value = typeof text === "string" ? undefined : text.sentence;
    if (typeof text !== "string") return;
    file.value = { name: opened.name, text };
    settled.value = file.value;
  };
  return (
    <>
      <Text file={file} reading={reading} open={open} />
      {fault.value !== undefined && <Sentences title={deploy.faults} sentences={[fault.value]} />}
      {deployed.value === undefined && <p class="notice">{WORDS.noText}</p>}
      <Judged
        id={id}
        deployment={deployment}
        file={settled}
        deployed={deployed}
        reading={reading}
        isDeployed={isDeployed}
        isSettled={file.value === settled.value}
      />
    </>
  );
}

interface TextProps {
  readonly file: Signal<FileText>;
  readonly reading: ReadonlySignal<Reading | undefined>;
  readonly open: (file: File) => Promise<void>;
}

function Text({ file, reading, open }: TextProps) {
  const text = useComputed(() => file.value.text);
  const place = useSignal(undefined);
  return (
    <>
      <p class="beginnings">
        <label>
          {WORDS.open}{" "}
          <input
            type="file"
            accept=".yaml,.yml"
            onChange={(event) => {
              const [chosen] = event.currentTarget.files ?? [];
              if (chosen !== undefined) void open(chosen);
            }}
          />
        </label>
      </p>
      <FileEditor
        text={text}
        reading={reading}
        place={place}
        rows={16}
        onText={(typed) => {
          file.value = { ...file.peek(), text: typed };
        }}
        onFile={(dropped) => void open(dropped)}
      />
    </>
  );
}

interface JudgedProps {
  readonly id: DeploymentKey;
  readonly deployment: DeploymentRecord;
  readonly file: Signal<FileText>;
  readonly deployed: Signal<FileText | undefined>;
  readonly reading: ReadonlySignal<Reading | undefined>;
  /** The chain has the manifest of the text. */
  readonly isDeployed: boolean;
  /** The text that was read is the one in the editor. */
  readonly isSettled: boolean;
}

/** The faults of the text; else its differences from the deployed one, and the update if it is one. */
function Judged({ id, deployment, file, deployed, reading, isDeployed, isSettled }: JudgedProps) {
  const found = reading.value;
  if (found === undefined) return null;
  if (found.sdl === undefined)
    return <Sentences title={deploy.faults} sentences={found.faults.map(({ sentence }) => sentence)} />;
  const groups = groupChanges(deployment, found.sdl);
  return (
    <>
      <Sentences title={deploy.warnings} sentences={found.warnings.map(({ sentence }) => sentence)} />
      {deployed.value !== undefined && !isDeployed && <Changes before={deployed.value.text} after={file.value.text} />}
      {isDeployed && <p class="none">{WORDS.sameManifest}</p>}
      {groups.length > 0 ? (
        <NewDeployment sentences={groups} file={file.value} />
      ) : (
        <Send id={id} file={file.value} sdl={found.sdl} isSame={isDeployed} isSettled={isSettled} />
      )}
    </>
  );
}

function Sentences({ title, sentences }: { title: string; sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <div class="fault" role="status">
      <p>{title}</p>
      {sentences.slice(0, MAX_ITEMS).map((sentence, i) => (
        <p key={i}>
          <Strange text={sentence} max={1000} />
        </p>
      ))}
    </div>
  );
}

/** Changes that an update cannot make, and the way to a deployment that has them. */
function NewDeployment({ sentences, file }: { sentences: readonly string[]; file: FileText }) {
  return (
    <>
      <Sentences title={WORDS.needsNew} sentences={sentences} />
      <p>{WORDS.changeable}</p>
      <button
        type="button"
        onClick={() => {
          replace(file);
          location.hash = link("deploy");
        }}
      >
        {WORDS.deployNew}
      </button>
    </>
  );
}

function Changes({ before, after }: { before: string; after: string }) {
  const lines = changedLines(before, after);
  if (lines.length === 0) return <p class="none">{WORDS.noChange}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keys.
    <section class="changes" aria-label={WORDS.changes} tabIndex={0}>
      {lines.slice(0, MAX_ITEMS).map((line, i) =>
        line.kind === "skip" ? (
          <p key={i} class="none">
            {WORDS.skipped(line.count)}
          </p>
        ) : (
          <p key={i} class={line.kind}>
            {SIGNS[line.kind]} {line.text !== "" && <Strange text={line.text} max={500} />}
          </p>
        ),
      )}
      {lines.length > MAX_ITEMS && <p class="cut">{t.value.items(lines.length - MAX_ITEMS)}</p>}
    </section>
  );
}

const SIGNS = { same: " ", gone: "−", new: "+" } as const;
