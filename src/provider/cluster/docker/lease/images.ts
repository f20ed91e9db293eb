import { errorText } from "../../../../util/index.ts";
import { parseReference, restartDelay } from "../../shared/index.ts";
import { EngineFailure, isUnreachable } from "../api/failure.ts";
import type { ImagePin, LeaseRecord } from "../journal.ts";
import type { ServicePlan } from "../replica/plan.ts";
import type { LeaseState } from "./state.ts";

/** The pin of a service's image, where it is the one that the wanted generation asks for. */
export function validPin(record: LeaseRecord, plan: ServicePlan): ImagePin | undefined {
  const reference = parseReference(plan.service.image);
  const pin = record.images[plan.name];
  if (pin?.reference !== reference.full) return undefined;
  return pin.generation === record.spec.generation || reference.pinned ? pin : undefined;
}

interface Attempt {
  readonly reference: string;
  readonly generation: number;
  failures: number;
  nextTry: number;
  running: boolean;
}

/**
 * Images of one lease. Pulls run beside the reconcile loop, so that a slow registry never keeps a crashed replica from
 * being restarted; each outcome pokes the loop. The content id that a generation got is pinned in the journal.
 */
export class LeaseImages {
  readonly #state: LeaseState;
  readonly #poke: () => void;
  readonly #attempts = new Map<string, Attempt>();

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

  #attempt(service: string, reference: string, generation: number): Attempt {
    const known = this.#attempts.get(service);
    if (known?.reference === reference && known.generation === generation) return known;
    const fresh = { reference, generation, failures: 0, nextTry: 0, running: false };
    this.#attempts.set(service, fresh);
    return fresh;
  }

  async #pull(plan: ServicePlan, reference: string, attempt: Attempt): Promise<void> {
    const { context } = this.#state;
    const { name, service } = plan;
    attempt.running = true;
    this.#state.event({ type: "Normal", reason: "Pulling", note: `pulling image ${reference}`, service: name });
    try {
      const imageId = await context.images.pull(service.image, service.credentials);
      const pin = { reference, imageId, generation: attempt.generation };
      await this.#state.update((record) => ({ ...record, images: { ...record.images, [name]: pin } }));
      this.#state.event({ type: "Normal", reason: "Pulled", note: `image ${reference} is here`, service: name });
      this.#state.errors.delete(name);
      attempt.failures = 0;
    } catch (error) {
      this.#failed(name, attempt, error);
    } finally {
      attempt.running = false;
      this.#poke();
    }
  }

  #failed(service: string, attempt: Attempt, error: unknown): void {
    const { context } = this.#state;
    context.health.observe(error);
    attempt.failures++;
    // A missing image seldom appears within a second: the quick first retry is for programs.
    attempt.nextTry = Date.now() + restartDelay(attempt.failures + 1, context.settings.timing.backoff);
    if (isUnreachable(error)) return;
    const text = error instanceof EngineFailure ? error.message : errorText(error);
    this.#state.errors.set(service, text);
    this.#state.event({ type: "Warning", reason: "Failed", note: text, service });
  }
}
