import type { ManifestService } from "../../../../sdl/index.ts";
import { Mutex } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { parseReference, restartDelay } from "../../shared/index.ts";
import { engineWords, isOwnRefusal, isUnreachable, startSentence } from "../api/failure.ts";
import type { Images, WeighedImage } from "../images/images.ts";
import { LEASE_IMAGE, LEASE_VOLUMES } from "../images/limits.ts";
import type { ImagePin, LeaseRecord } from "../journal.ts";
import type { ServicePlan } from "../replica/plan.ts";
import { withoutGone, withPin } from "./pins.ts";
import type { LeaseState } from "./state.ts";

/** The pin of a service's image, if it is the one that the wanted generation asks for. */
export function validPin(record: LeaseRecord, plan: ServicePlan): ImagePin | undefined {
  const reference = parseReference(plan.service.image);
  const pin = record.images[plan.name];
  if (pin?.reference !== reference.full) return undefined;
  return pin.generation === record.spec.generation || reference.pinned ? pin : undefined;
}

/** Maximum bytes of one image for the storage that a lease pays for. */
export function largestImage(services: readonly ManifestService[]): bigint {
  const storage = services.reduce((sum, { count, resources }) => sum + BigInt(count) * storageOf(resources), 0n);
  return storage > LEASE_IMAGE ? storage : LEASE_IMAGE;
}

function storageOf({ storage }: ManifestService["resources"]): bigint {
  return storage.reduce((sum, { size }) => sum + BigInt(size.val), 0n);
}

/** Volumes that one image declares, and the number of replicas of any image in its lease. */
interface DeclaredVolumes {
  readonly declared: readonly string[];
  /** Where the tenant mounts something himself: engines make no volume there. */
  readonly mounted: ReadonlySet<string>;
  readonly replicas: number;
}

/** Refuses an image with more volumes than a replica may have, so that no lease takes the engine's locks from others. */
export function checkImageVolumes(image: string, { declared, mounted, replicas }: DeclaredVolumes): void {
  const plain = (path: string) => path.replace(/\/+$/, "");
  const taken = new Set([...mounted].map(plain));
  const count = declared.filter((path) => !taken.has(plain(path))).length;
  const most = Math.floor(LEASE_VOLUMES / replicas);
  if (count <= most) return;
  throw clusterErrors.imageInvalid(
    `image ${image} declares ${count} volumes, with ${replicas} replicas ${most} are possible`,
  );
}

interface Attempt {
  readonly reference: string;
  readonly generation: number;
  failures: number;
  nextTry: number;
  running: boolean;
}

/**
 * Images of one lease. Pulls run beside the reconcile loop, so that a slow registry never delays the restart of a
 * crashed replica; each outcome pokes the loop. The journal pins the content id of a generation.
 */
export class LeaseImages {
  readonly #state: LeaseState;
  readonly #poke: () => void;
  readonly #attempts = new Map<string, Attempt>();
  /** One pull of a lease at a time: the others' are not to wait for it. */
  readonly #order = new Mutex();
  /** The same for images that were refused or did not come: no other image of the lease waits for them. */
  readonly #again = new Mutex();
  /** Images that services are about to use. */
  readonly #claims = new Map<string, WeighedImage>();
  readonly #pulls = new Set<Promise<void>>();
  readonly #ended = new AbortController();

  constructor(state: LeaseState, poke: () => void) {
    this.#state = state;
    this.#poke = poke;
  }

  /** Content id for the service's wanted image, or undefined until there is one; starts a pull if one is due. */
  async resolve(plan: ServicePlan): Promise<string | undefined> {
    const pin = validPin(this.#state.record, plan);
    if (pin !== undefined) return pin.imageId;
    const reference = parseReference(plan.service.image);
    const attempt = this.#attempt(plan.name, reference.full, this.#state.spec.generation);
    if (attempt.running || Date.now() < attempt.nextTry) return undefined;
    const pull = this.#pull(plan, reference.full, attempt);
    this.#pulls.add(pull);
    void pull.finally(() => this.#pulls.delete(pull));
    if (!reference.local) return undefined;
    await pull;
    return validPin(this.#state.record, plan)?.imageId;
  }

  /** Time of the next pull of the service's image, where one is waiting. */
  nextTry(service: string): number | undefined {
    const attempt = this.#attempts.get(service);
    return attempt === undefined || attempt.running || attempt.failures === 0 ? undefined : attempt.nextTry;
  }

  /** The pinned content is gone from the engine: pull again. */
  async forget(service: string): Promise<void> {
    this.#attempts.delete(service);
    await this.#state.update((record) => {
      const { [service]: _gone, ...images } = record.images;
      return { ...record, images };
    });
  }

  /** Images that services have or are about to have. */
  inUse(): readonly string[] {
    const pins = Object.values(this.#state.record.images).map(({ imageId }) => imageId);
    return [...pins, ...[...this.#claims.values()].map(({ config }) => config)];
  }

  /** Ends pulls that are under way. */
  stop(): void {
    this.#ended.abort();
  }

  /** Resolves when no pull is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#pulls);
  }

  #attempt(service: string, reference: string, generation: number): Attempt {
    const known = this.#attempts.get(service);
    if (known?.reference === reference && known.generation === generation) return known;
    this.#forgetOthers();
    const fresh = { reference, generation, failures: 0, nextTry: 0, running: false };
    this.#attempts.set(service, fresh);
    return fresh;
  }

  /** Each update may name its services anew. */
  #forgetOthers(): void {
    const names = new Set(this.#state.spec.group.services.map(({ name }) => name));
    for (const name of this.#attempts.keys()) if (!names.has(name)) this.#attempts.delete(name);
  }

  async #pull(plan: ServicePlan, reference: string, attempt: Attempt): Promise<void> {
    const { name } = plan;
    attempt.running = true;
    this.#state.event({ type: "Normal", reason: "Pulling", note: `pulling image ${reference}`, service: name });
    try {
      const imageId = await this.#fetch(plan, attempt.failures > 0);
      const pin = { reference, imageId, generation: attempt.generation };
      const isThere = (id: string) => this.#state.context.images.heldFor(id) !== undefined;
      await this.#state.update((record) => withoutGone(withPin(record, name, pin), isThere));
      this.#state.event({ type: "Normal", reason: "Pulled", note: `image ${reference} is here`, service: name });
      this.#state.errors.delete(name);
      attempt.failures = 0;
    } catch (error) {
      this.#failed(name, attempt, error);
    } finally {
      this.#claims.delete(name);
      attempt.running = false;
      this.#poke();
    }
  }

  async #fetch({ name, service }: ServicePlan, hasFailed: boolean): Promise<string> {
    const { namespace, spec } = this.#state;
    const { images } = this.#state.context;
    const most = largestImage(spec.group.services);
    const { image, credentials } = service;
    const { owner } = spec.id;
    const claim = (weighed: WeighedImage) => this.#claim(name, weighed);
    const pull = () => {
      this.#ended.signal.throwIfAborted();
      return images.pull(image, { owner, lease: namespace, most, credentials, claim, signal: this.#ended.signal });
    };
    if (parseReference(image).local) return pull();
    return (hasFailed ? this.#again : this.#order).run(pull);
  }

  /** The image that a service had before goes with it, and does not count. */
  async #claim(service: string, image: WeighedImage): Promise<void> {
    const { images, settings } = this.#state.context;
    const { record, units } = this.#state;
    const pins = Object.entries(record.images);
    const others = pins.flatMap(([name, { imageId }]) => (name === service ? [] : (images.weightOf(imageId) ?? [])));
    const pinned = pins.flatMap(([name, { imageId }]) => (name === service ? [imageId] : []));
    const running = units.flatMap((unit) => (unit.service === service ? [unit.imageId] : []));
    this.#claims.set(service, image);
    await makeRoomForImage(images, {
      wanted: [...others, ...this.#claims.values()],
      earlier: record.earlier,
      leaving: new Set([...pinned, ...running]),
      most: settings.limits.leaseImageBytes,
    });
  }

  #failed(service: string, attempt: Attempt, error: unknown): void {
    if (this.#ended.signal.aborted) return;
    const { context } = this.#state;
    context.health.observe(error);
    attempt.failures++;
    // A missing image seldom appears within a second: the quick first retry is for programs.
    attempt.nextTry = Date.now() + restartDelay(attempt.failures + 1, context.settings.timing.backoff);
    if (isUnreachable(error)) return;
    const text = this.#told(error);
    this.#state.errors.set(service, text);
    this.#state.event({ type: "Warning", reason: "Failed", note: text, service });
  }

  /** The sentence for the tenant: our own words, or one for the engine's reason. */
  #told(error: unknown): string {
    if (isOwnRefusal(error)) return error.message;
    const { context, spec, notices } = this.#state;
    context.news.failed(spec.id, error);
    notices.say("an image could not be put on the engine", { err: engineWords(error) });
    return startSentence(error);
  }
}

/** A service of a lease is about to get an image. */
export interface ImageWish {
  /** The new image, and the images of the other services. */
  readonly wanted: readonly WeighedImage[];
  /** Engine's ids of images that the lease had before, the oldest first. */
  readonly earlier: readonly string[];
  /** The service's images until the new one is ready; afterwards nothing needs them. */
  readonly leaving: ReadonlySet<string>;
  /** Bytes that all images of a lease may take. */
  readonly most: bigint;
}

/** Refuses images that take more than `most` bytes together. Shared images count once. */
export function checkLeaseImages(images: readonly WeighedImage[], most: bigint): void {
  const total = totalOf(images);
  if (total <= most) return;
  throw clusterErrors.imageTooLarge(
    `the images of the lease take ${total >> 20n} MiB, this provider has ${most >> 20n} MiB for them; use smaller ones`,
  );
}

/**
 * Removes the lease's earlier images until its images on disk are within the limit, then refuses the new one if that
 * was not enough. An image that a container still runs from stays, and counts.
 */
export async function makeRoomForImage(
  images: Pick<Images, "weightOf" | "heldFor" | "discard">,
  { wanted, earlier, leaving, most }: ImageWish,
): Promise<void> {
  const held = (ids: Iterable<string>) => [...ids].flatMap((id) => images.heldFor(id) ?? []);
  const running = [...leaving].flatMap((id) => images.weightOf(id) ?? []);
  const others = earlier.filter((id) => !leaving.has(id));
  for (const id of others) {
    if (totalOf([...wanted, ...running, ...held(others)]) <= most) break;
    await images.discard(id);
  }
  checkLeaseImages([...wanted, ...held(others)], most);
}

function totalOf(images: readonly WeighedImage[]): bigint {
  const bytes = new Map(images.map((image) => [image.config, BigInt(image.bytes)]));
  return [...bytes.values()].reduce((sum, each) => sum + each, 0n);
}
