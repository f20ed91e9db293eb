import { create, type DescMessage } from "@bufbuild/protobuf";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import {
  type Any,
  decodeAddress,
  encodeAddress,
  findTypeUrl,
  messageSigners,
  namespaceOf,
  packAny,
  type Unpacked,
  unpackStrictly,
} from "../../wire/index.ts";
import { routeOf } from "../ante/tx.ts";
import type { Context } from "../context.ts";
import type { Router } from "../router.ts";
import { chargeMessage, failedMessage } from "./messages.ts";

/** How many messages may enclose the innermost one. */
export const MAX_MESSAGE_NESTING = 6;
/** How many messages one message may hold in all, nested ones included. */
export const MAX_NESTED_MESSAGES = 100;

/** A message that another one, or a record of the state, carries. */
export interface NestedMessage extends Unpacked {
  /** The one account that signs it. */
  readonly signer: Uint8Array;
}

/**
 * Runs messages that did not arrive by themselves in a transaction. Modules get it through their constructor, and may
 * hold it before the router exists; it is used when all modules exist.
 */
export interface MessageService {
  /** The message type of a type URL in either spelling, if there is a handler for it. */
  find(typeUrl: string): DescMessage | undefined;
  /**
   * Reads messages strictly and makes the checks that need no state: there is a handler (`sdk/6`), its own check passes,
   * one account signs each (`sdk/4`), and neither their number nor their nesting is beyond the limits (`sdk/18`). Costs
   * nothing the second time.
   */
  read(messages: readonly Any[]): readonly NestedMessage[];
  /** The same, and `signer` signs every message (`sdk/4`). For a handler's check without state. */
  check(messages: readonly Any[], signer: Uint8Array): void;
  /**
   * Runs one decoded message without checking its signers; the caller has their consent. Gas is consumed from `ctx` by
   * the price list of the message's module, and events are emitted in `ctx`. An error leaves no change. Returns the
   * response, its type URL in the spelling of the message.
   */
  run(ctx: Context, message: NestedMessage): Any;
  /** Checks messages for `signer` and runs them in order: all, or the error of the first that failed and no change. */
  execute(ctx: Context, messages: readonly Any[], signer: Uint8Array): readonly Any[];
}

export function messageService(router: () => Router): MessageService {
  return new RoutedMessages(router);
}

class RoutedMessages implements MessageService {
  readonly #router: () => Router;
  /** Messages that were read and passed their checks: everything about them follows from their bytes. */
  readonly #known = new WeakMap<Any, NestedMessage>();
  /** State of reading and running in progress: handlers and their checks come back here for inner messages. */
  #reading = 0;
  #count = 0;
  #running = 0;

  constructor(router: () => Router) {
    this.#router = router;
  }

  read(messages: readonly Any[]): readonly NestedMessage[] {
    if (this.#reading === 0) this.#count = 0;
    this.#count += messages.length;
    if (this.#count > MAX_NESTED_MESSAGES)
      throw sdkErrors.invalidRequest(`more than ${MAX_NESTED_MESSAGES} messages inside one`);
    this.#reading += 1;
    try {
      checkNesting(this.#reading);
      return messages.map((any) => this.#known.get(any) ?? this.#readNew(any));
    } finally {
      this.#reading -= 1;
    }
  }

  check(messages: readonly Any[], signer: Uint8Array): void {
    for (const message of this.read(messages)) checkSigner(message, signer);
  }

  find(typeUrl: string): DescMessage | undefined {
    const schema = findTypeUrl(typeUrl);
    return schema === undefined ? undefined : this.#router().message(schema)?.method.input;
  }

  execute(ctx: Context, messages: readonly Any[], signer: Uint8Array): readonly Any[] {
    const read = this.read(messages);
    return ctx.attempt((branch) =>
      read.map((message, index) => {
        try {
          checkSigner(message, signer);
          return this.run(branch, message);
        } catch (error) {
          throw failedMessage(error, index);
        }
      }),
    );
  }

  run(ctx: Context, message: NestedMessage): Any {
    const route = routeOf(message, this.#router());
    const { output, handle } = route.method;
    this.#running += 1;
    try {
      checkNesting(this.#running);
      return ctx.attempt((branch) => {
        const response = handle(branch.with({ gas: chargeMessage(branch, route) }), message.value);
        return packAny(output, create(output, response), namespaceOf(message.typeUrl));
      });
    } finally {
      this.#running -= 1;
    }
  }

  #readNew(any: Any): NestedMessage {
    const unpacked = unpackStrictly(any);
    routeOf(unpacked, this.#router()).method.validate(unpacked.value);
    const message = { ...unpacked, signer: onlySigner(unpacked) };
    this.#known.set(any, message);
    return message;
  }
}

function onlySigner({ typeUrl, schema, value }: Unpacked): Uint8Array {
  const [first, ...others] = messageSigners(schema, value);
  if (first !== undefined && others.length === 0) return decodeAddress(first);
  const found = first === undefined ? "nobody" : `${others.length + 1} accounts`;
  throw sdkErrors.unauthorized(`a message inside another has one signer; ${typeUrl} is signed by ${found}`);
}

function checkSigner({ typeUrl, signer }: NestedMessage, expected: Uint8Array): void {
  if (equalBytes(signer, expected)) return;
  throw sdkErrors.unauthorized(`${typeUrl} must be signed by ${encodeAddress(expected)}, not ${encodeAddress(signer)}`);
}

function checkNesting(depth: number): void {
  if (depth <= MAX_MESSAGE_NESTING) return;
  throw sdkErrors.invalidRequest(`messages are nested too deeply: at most ${MAX_MESSAGE_NESTING} around one`);
}
