import type { Readable } from "node:stream";
import type { ManifestCredentials } from "../../../../sdl/index.ts";
import { Semaphore } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { type ImageReference, isRegistryHost, parseReference } from "../../shared/index.ts";
import type { DockerSettings } from "../options.ts";
import type { EngineApi, RegistryAuth } from "./api.ts";
import { EngineFailure, isNotFound } from "./failure.ts";

/** Fetches images for leases. Nothing that lies on the engine is used for a lease that did not pull it itself. */
export class Images {
  readonly #api: EngineApi;
  readonly #settings: DockerSettings;
  readonly #slots: Semaphore;

  constructor(api: EngineApi, settings: DockerSettings) {
    this.#api = api;
    this.#settings = settings;
    this.#slots = new Semaphore(settings.limits.parallelPulls);
  }

  /** Whether the content is still on the engine. */
  async present(imageId: string): Promise<boolean> {
    try {
      await this.#api.imageId(imageId);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Pulls with the tenant's credentials and returns the content id; rejects with the reason in one sentence. */
  async pull(image: string, credentials: ManifestCredentials | null): Promise<string> {
    const reference = parseReference(image);
    if (reference.local) return this.#local(image, reference);
    await this.#slots.run(() => this.#download(reference, credentials));
    return this.#api.imageId(reference.full);
  }

  async #local(image: string, reference: ImageReference): Promise<string> {
    if (!this.#settings.allowLocalImages) throw clusterErrors.imageRefused(`image ${image}`);
    try {
      return await this.#api.imageId(reference.full);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new EngineFailure("refused", `image ${image} does not exist on this machine; build or import it first`);
    }
  }

  async #download(reference: ImageReference, credentials: ManifestCredentials | null): Promise<void> {
    const signal = AbortSignal.timeout(this.#settings.timing.pullTimeout);
    try {
      const progress = await this.#api.pull(reference.full, authOf(reference, credentials), signal);
      await drain(progress, signal);
    } catch (error) {
      if (signal.aborted) throw pullFailure(reference, credentials, "timeout");
      if (error instanceof EngineFailure && error.kind !== "unreachable") {
        throw pullFailure(reference, credentials, error.message);
      }
      throw error;
    }
  }
}

function authOf(reference: ImageReference, credentials: ManifestCredentials | null): RegistryAuth | undefined {
  if (credentials === null || !isRegistryHost(credentials.host, reference.registry)) return undefined;
  const { username, password } = credentials;
  return { username, password, serveraddress: reference.registry };
}

/** Reads the progress lines to the end; a line with `error` is the outcome. */
async function drain(progress: Readable, signal: AbortSignal): Promise<void> {
  let pending = "";
  for await (const chunk of progress) {
    pending += String(chunk);
    const lines = pending.split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) failOnError(line);
  }
  failOnError(pending);
  signal.throwIfAborted();
}

function failOnError(line: string): void {
  if (line.trim() === "") return;
  const message: unknown = JSON.parse(line);
  if (typeof message === "object" && message !== null && "error" in message) {
    throw new EngineFailure("refused", String(message.error));
  }
}

/** Says in one sentence why an image could not be had, from the engine's own words. */
export function pullFailure(
  reference: ImageReference,
  credentials: ManifestCredentials | null,
  text: string,
): EngineFailure {
  return new EngineFailure("refused", explain(reference, credentials, text));
}

function explain(reference: ImageReference, credentials: ManifestCredentials | null, text: string): string {
  const { full, registry } = reference;
  if (text === "timeout") return `image ${full} could not be pulled in time; use a smaller image or a nearer registry`;
  if (/unauthorized|authentication required|denied|forbidden|401|403/i.test(text)) {
    if (credentials === null) return `image ${full} does not exist or needs credentials; add them under credentials`;
    if (!isRegistryHost(credentials.host, registry)) {
      return `image ${full} needs credentials for ${registry}, those given are for ${credentials.host}`;
    }
    return `registry ${registry} refused the credentials for image ${full}; check user name and password`;
  }
  if (/manifest unknown|not found|name unknown|no such image|does not exist/i.test(text)) {
    return `image ${full} does not exist in the registry; check name and tag`;
  }
  if (/no such host|connection refused|network is unreachable|i\/o timeout|no route to host|tls|x509/i.test(text)) {
    return `registry ${registry} cannot be reached (${lastWords(text, 160)})`;
  }
  return `image ${full} could not be pulled: ${lastWords(text, 300)}`;
}

/** The end of an engine's text, which has the cause, beginning at a whole word. */
function lastWords(text: string, length: number): string {
  if (text.length <= length) return text;
  return `... ${text.slice(-length).replace(/^\S*\s+/, "")}`;
}
