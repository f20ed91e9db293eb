import type { DescMessage, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ValidatorUpdate } from "../abci/index.ts";
import type { JsonValue } from "../wire/index.ts";
import type { Context } from "./context.ts";

/** One handler per rpc of a service: a missing rpc does not compile. */
export type Handlers<S extends DescService> = {
  readonly [K in keyof S["method"]]: (
    ctx: Context,
    request: MessageShape<S["method"][K]["input"]>,
  ) => MessageInitShape<S["method"][K]["output"]>;
};

/** Stateless checks of messages: they run before fees are taken and need no state. */
export type Validators<S extends DescService> = {
  readonly [K in keyof S["method"]]?: (request: MessageShape<S["method"][K]["input"]>) => void;
};

/** A service with its handlers, type-erased for the router. */
export interface BoundService {
  readonly service: DescService;
  readonly methods: ReadonlyMap<string, BoundMethod>;
}

export interface BoundMethod {
  readonly input: DescMessage;
  readonly output: DescMessage;
  validate(request: MessageShape<DescMessage>): void;
  handle(ctx: Context, request: MessageShape<DescMessage>): MessageInitShape<DescMessage>;
}

/** Binds handlers (and stateless validators) to a service; methods are keyed by their proto name. */
export function bindService<S extends DescService>(
  service: S,
  handlers: Handlers<S>,
  validators: Validators<S> = {},
): BoundService {
  const bound = bindSome(service, handlers, validators);
  const missing = service.methods.find(({ name }) => !bound.methods.has(name));
  if (missing !== undefined) throw new Error(`no handler for ${service.typeName}/${missing.name}`);
  return bound;
}

/** Binds the rpcs of a service that are answered here; its other rpcs are answered elsewhere. */
export function bindSome<S extends DescService>(
  service: S,
  handlers: Partial<Handlers<S>>,
  validators?: Validators<S>,
): BoundService;
export function bindSome(
  service: DescService,
  handlers: Readonly<Record<string, BoundMethod["handle"] | undefined>>,
  validators: Readonly<Record<string, BoundMethod["validate"] | undefined>> = {},
): BoundService {
  const methods = new Map<string, BoundMethod>();
  for (const method of service.methods) {
    const handle = handlers[method.localName];
    if (handle === undefined) continue;
    const validate = validators[method.localName] ?? (() => {});
    methods.set(method.name, { input: method.input, output: method.output, validate, handle });
  }
  return { service, methods };
}

/** Genesis of a module: the proto JSON of `schema` is under the module's name in `app_state`. */
export interface GenesisPart {
  readonly schema: DescMessage;
  defaults(): MessageShape<DescMessage>;
  /** Faults of a state, one sentence each; called before anything is imported. */
  validate?(state: MessageShape<DescMessage>): readonly string[];
  init(ctx: Context, state: MessageShape<DescMessage>): void;
  /** Checks the imported state against other modules', after all modules are imported. */
  check?(ctx: Context): string | undefined;
  /** A list of the state that the other functions do not receive. */
  readonly long?: LongList<MessageShape<DescMessage>>;
  /** Transactions that the state brings; they run when every module has its state. */
  txs?(state: MessageShape<DescMessage>): readonly Uint8Array[];
  export(ctx: Context): MessageShape<DescMessage>;
  readonly restart?: RestartPart<MessageShape<DescMessage>>;
}

/** A list that may have a million items: each is read, checked and imported by itself, and none is kept. */
export interface LongList<S> {
  /** Name of its field in the message of the state. */
  readonly field: string;
  /** Begins with the first item, after `init`. Without a context, the items are only checked. */
  begin(state: S, ctx: Context | undefined): LongListWalk;
}

export interface LongListWalk {
  /** Takes the next item and returns its faults, one sentence each; throws if it cannot be read. */
  take(item: JsonValue, index: number): readonly string[];
  /**
   * Finishes the import if the state is right so far, and returns the faults of the items together and of the parts
   * behind them.
   */
  end(isRight: boolean): readonly string[];
}

/** Prepares this state for the first block of another chain. */
export interface RestartPart<S> {
  /** Ends what belongs to this chain alone, before the export, on a copy of the state that is thrown away. */
  prepare?(ctx: Context, restart: Restart): void;
  /** The exported state with every height counted from `last`, the last block of this chain, which becomes 0. */
  move?(state: S, last: bigint): S;
}

/** How another chain begins. */
export interface Restart {
  /**
   * Operators (20 bytes) whose validators keep their status; all others are jailed. Undefined = no validator is jailed.
   */
  readonly unjailed?: readonly Uint8Array[];
}

/** Types a module's genesis by its message. */
export function defineGenesis<D extends DescMessage>(part: {
  readonly schema: D;
  defaults(): MessageShape<D>;
  validate?(state: MessageShape<D>): readonly string[];
  init(ctx: Context, state: MessageShape<D>): void;
  check?(ctx: Context): string | undefined;
  readonly long?: LongList<MessageShape<D>>;
  txs?(state: MessageShape<D>): readonly Uint8Array[];
  export(ctx: Context): MessageShape<D>;
  readonly restart?: RestartPart<MessageShape<D>>;
}): GenesisPart;
export function defineGenesis(part: GenesisPart): GenesisPart {
  return part;
}

/** A module account: holds coins under a name, with the permission to mint or burn where listed. */
export interface ModuleAccountSpec {
  readonly name: string;
  readonly permissions: readonly ("minter" | "burner" | "staking")[];
}

/** One invariant: returns a sentence when it is broken. */
export type Invariant = (ctx: Context) => string | undefined;

/** Changes to consensus by the end of a block; at most one module makes them. */
export interface BlockUpdates {
  readonly validators?: readonly ValidatorUpdate[];
}

export type BlockPhase = "beginBlock" | "endBlock";

/** The interface of a module, made by its `index.ts`. */
export interface Module {
  readonly name: string;
  /**
   * Store of another module that holds this one's state; unless given, it has a store with its name. Such a state is of
   * the version of the other module.
   */
  readonly store?: string;
  /** Version of the form of the module's state; 1 unless given. A change of the form needs the next one and a migration. */
  readonly version?: number;
  /** Migrations by version n, from the state of n to n + 1. */
  readonly migrations?: Readonly<Record<number, (ctx: Context) => void>>;
  readonly msg?: BoundService;
  readonly query?: BoundService;
  /** The same of earlier releases of the ecosystem, on the same state. */
  readonly older?: { readonly msg: BoundService; readonly query: BoundService };
  readonly genesis: GenesisPart;
  readonly accounts?: readonly ModuleAccountSpec[];
  /** Chooses the voters of the first block when the state of genesis is complete; at most one module does. */
  readonly genesisVoters?: (ctx: Context) => readonly ValidatorUpdate[];
  /** Begin- and end-block items: each runs in its own sub-transaction; an error is reported, and the block continues. */
  readonly beginBlock?: (ctx: Context) => void;
  readonly endBlock?: (ctx: Context) => BlockUpdates | undefined;
  /** End-block items whose failure halts the node, which keeps nothing of the block. */
  readonly vital?: readonly BlockPhase[];
  readonly invariants?: Readonly<Record<string, Invariant>>;
  /**
   * Fixed gas of a message by its short name ("MsgCreateBid"); for a module that has it, this includes so much of the
   * gas of store operations.
   */
  readonly messageGas?: (ctx: Context, message: string) => bigint;
}

export function defineModule(module: Module): Module {
  return module;
}

/** Runs every invariant of the modules and returns the sentences of the broken ones, `bank/supply: ...`. */
export function brokenInvariants(modules: readonly Module[], ctx: Context): string[] {
  return modules.flatMap((module) =>
    Object.entries(module.invariants ?? {}).flatMap(([name, holds]) => {
      const problem = holds(ctx);
      return problem === undefined ? [] : [`${module.name}/${name}: ${problem}`];
    }),
  );
}

/** A broken invariant: the state is wrong, whatever caused it. Nothing may continue with it. */
export class InvariantBreach extends Error {
  readonly sentences: readonly string[];

  constructor(height: bigint, sentences: readonly string[]) {
    super(`invariants broken at height ${height}:\n${sentences.join("\n")}`);
    this.name = "InvariantBreach";
    this.sentences = sentences;
  }
}

/**
 * A height as seen by a chain that begins after block `last`: blocks of the older chain have 0 and negative heights.
 */
export function movedHeight(height: bigint, last: bigint): bigint {
  return height - last;
}

/** The same for a height at which something ended; 0 means that it has not ended, before and after. */
export function movedEnd(height: bigint, last: bigint): bigint {
  if (height === 0n) return 0n;
  return height === last ? -1n : height - last;
}

/** The same for a height at which something is due; overdue heights become due at once. */
export function movedDue(height: bigint, last: bigint): bigint {
  return height > last ? height - last : 0n;
}
