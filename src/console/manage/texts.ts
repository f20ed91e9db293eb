import * as v from "valibot";
import type { LoadedSdl } from "../../sdl/index.ts";
import { equalBytes, errorText } from "../../util/index.ts";
import type { DeploymentKey } from "../../wire/index.ts";
import { keepRun, keptRunOf } from "../deploy/run/records.ts";
import { manage } from "../text/manage.ts";

/** A deployment file as a text. */
export interface FileText {
  readonly name: string;
  readonly text: string;
}

/** The files of a deployment that this browser keeps. */
export interface KnownTexts {
  /** The file whose manifest the chain has; undefined where the browser does not keep it. */
  readonly deployed: FileText | undefined;
  /** The file that is to be edited: one that was edited, a begun update, or the deployed file. */
  readonly newest: FileText;
}

/** A deployment on a chain. */
export interface Place {
  readonly id: DeploymentKey;
  readonly chainId: string;
}

const NO_FILE: FileText = { name: "deploy.yaml", text: "" };

/** Finds the files of a deployment. `read` gives their manifests' hashes, by which the deployed one is known. */
export async function knownTexts(
  { id, chainId }: Place,
  version: Uint8Array,
  read: (file: FileText) => LoadedSdl | undefined,
): Promise<KnownTexts> {
  const run = await keptRunOf(id.owner, chainId, id.dseq);
  const [begun, edited] = [keptText(begunName({ id, chainId })), keptText(editName({ id, chainId }))];
  const files = [begun, run, edited].filter((each) => each !== undefined);
  const deployed = files.find((file) => equalBytes(read(file)?.hash ?? new Uint8Array(), version));
  return { deployed, newest: edited ?? begun ?? run ?? NO_FILE };
}

/** The name under which the browser keeps the file of an update that has not arrived yet. */
const begunName = ({ id, chainId }: Place): string => `svc update ${chainId} ${id.owner} ${id.dseq}`;
/** The same for a file that was edited and not sent. A sent file keeps its own name. */
const editName = ({ id, chainId }: Place): string => `svc edit ${chainId} ${id.owner} ${id.dseq}`;
const schema = v.pipe(v.string(), v.parseJson(), v.object({ name: v.string(), text: v.string() }));

function keptText(name: string): FileText | undefined {
  const read = v.safeParse(schema, localStorage.getItem(name));
  return read.success ? read.output : undefined;
}

/** Keeps the file of an update before it is signed, so that nothing is lost when the page ends. */
export function keepBegun(place: Place, { name, text }: FileText): void {
  try {
    localStorage.setItem(begunName(place), JSON.stringify({ name, text }));
  } catch (error) {
    throw new Error(manage.notKept(errorText(error)));
  }
}

/** Keeps a file that is being edited, unless it is the deployed one. A browser that keeps nothing loses it with the page. */
export function keepEdited(place: Place, { name, text }: FileText, deployed: FileText | undefined): void {
  try {
    // No older text stays where the browser has no room for this one.
    localStorage.removeItem(editName(place));
    if (text !== (deployed ?? NO_FILE).text) localStorage.setItem(editName(place), JSON.stringify({ name, text }));
  } catch {
    // The text then ends with the page.
  }
}

/** Keeps the file as the deployed one, once its hash is on the chain. */
export async function keepDeployed(place: Place, file: FileText, fingerprint: string): Promise<void> {
  const { owner, dseq } = place.id;
  const known = await keptRunOf(owner, place.chainId, dseq);
  const progress = { chosen: [], ...known?.progress, dseq, fingerprint, step: "done" as const };
  const begun = {
    id: crypto.randomUUID(),
    chainId: place.chainId,
    owner,
    isChosen: false,
    begun: Date.now(),
    addresses: [],
  };
  await keepRun({ ...begun, ...known, name: file.name, text: file.text, progress });
  localStorage.removeItem(begunName(place));
  if (keptText(editName(place))?.text === file.text) localStorage.removeItem(editName(place));
}
