import type {
  AppInfo,
  Application,
  AppliedChunk,
  ApplySnapshotChunk,
  AppQuery,
  AppQueryResult,
  BlockPlace,
  CheckTx,
  CheckTxResult,
  Claim,
  Claimed,
  FinalizeBlock,
  FinalizeBlockResult,
  InitChain,
  InitChainResult,
  OfferSnapshot,
  PrepareProposal,
  ProcessProposal,
  RestoredState,
  Snapshot,
  SnapshotChunk,
  SnapshotVerdict,
  TouchedAccounts,
  ValidatorUpdate,
} from "../abci/index.ts";
import { Claims, type ConsensusParams, equalConsensusParams } from "../abci/index.ts";
import {
  BlockGas,
  type BlockInfo,
  type BlockProblem,
  brokenInvariants,
  Context,
  EventSink,
  InvariantBreach,
  type Module,
  type Restart,
  Router,
  type TxEnvironment,
  TxRunner,
} from "../runtime/index.ts";
import {
  CacheMultiStore,
  type Database,
  DecodedValues,
  decodedStores,
  type KVStore,
  type MultiStore,
  type PreparedState,
  type Pruning,
  type StateBranch,
  StateStore,
  stateTable,
  type Write,
} from "../store/index.ts";
import { assert, type DecimalCoin, toHex } from "../util/index.ts";
import type { JsonObject } from "../wire/index.ts";
import { exportModules, exportRestart, importGenesis } from "./genesis.ts";
import { beginBlock, endBlock } from "./items.ts";
import { CONSENSUS, readLastBlock, recordLastBlock, unhashedBlockWrite, unhashedRemovals } from "./lastblock.ts";
import { type ModuleSet, storeNames } from "./module-set.ts";
import { fillBlock, isSameProposal, orderByFee, type Proposal, sizeInBlock } from "./proposal.ts";
import { pastStates } from "./queries/past.ts";
import { answerQuery } from "./queries/query.ts";
import type { PendingState } from "./queries/reader.ts";
import { type SimulationTurn, simulation } from "./queries/simulate.ts";
import { type SnapshotSource, Snapshots } from "./snapshots/connection.ts";
import { touchedAccounts } from "./touched.ts";
import {
  checkModuleSet,
  type Migration,
  readModuleSet,
  recordedVersions,
  recordModuleSet,
  unhashedSetWrite,
} from "./upgrades/module-versions.ts";
import { UPGRADES, type UpgradeHandlers, Upgrades } from "./upgrades/upgrades.ts";

export interface ApplicationOptions {
  readonly database: Database;
  readonly set: ModuleSet;
  /** Minimum gas prices for relaying; a transaction must pay one price. None = free. */
  readonly minGasPrices?: readonly DecimalCoin[];
  /** Bounds the time that simulations take from blocks; no bound when left out. */
  readonly simulationTurn?: SimulationTurn;
  /**
   * Runs all invariants after every block, or at the selected heights, and throws `InvariantBreach` when one is broken.
   */
  readonly checkInvariants?: boolean | ((height: bigint) => boolean);
  /** Receives programming errors and failures of block items, which are contained all the same. */
  readonly report?: (problem: BlockProblem) => void;
  readonly version?: string;
  /** How long older heights can be read; the last hundred when it is left out. */
  readonly pruning?: Pruning;
  /** Accepts a state of older versions of the modules; the next block migrates it. */
  readonly upgrade?: boolean;
  /** Planned upgrades that this program executes; the product's unless given. */
  readonly upgrades?: UpgradeHandlers;
  /** Heights at which a planned upgrade is dropped. */
  readonly skippedUpgrades?: readonly bigint[];
  /** Executes blocks of earlier versions, whose app hash does not cover the record of the block. */
  readonly unhashedRecords?: boolean;
  /** Snapshots for other nodes; none are offered when it is left out. */
  readonly snapshots?: SnapshotSource;
}

/** Bytes of checked transactions whose decoded form, some twenty times as large, is kept until they come in a block. */
const TX_CACHE_BYTES = 4 << 20;
const NO_PROPOSER = new Uint8Array(20);
const LAST_HUNDRED: Pruning = { keepRecent: 100n, interval: 10n };

/** A block that was executed and waits for its commit. */
interface Finalized {
  readonly block: BlockInfo;
  readonly prepared: PreparedState;
  /** Parameters of the next block. */
  readonly params: ConsensusParams;
  readonly touched: TouchedAccounts;
}

/** The state machine behind either engine: modules over a state store. */
export class SvcApplication implements Application {
  readonly modules: readonly Module[];
  readonly #endBlockers: readonly Module[];
  #state: StateStore;
  readonly #snapshots: Snapshots;
  readonly #router: Router;
  readonly #runner: TxRunner;
  readonly #upgrades: Upgrades;
  readonly #options: ApplicationOptions;
  /** Values read by invariants: most are the same after every block. */
  readonly #decoded = new DecodedValues();
  /** The last committed block; at first the one that genesis describes. */
  #last: BlockInfo | undefined;
  #committed: boolean;
  /** Parameters of the next block; undefined before the chain begins. */
  #params: ConsensusParams | undefined;
  /**
   * The state against which transactions are checked: the last commit, or genesis before the first. Nothing is written
   * to it.
   */
  #view: CacheMultiStore;
  /** Reservations of waiting transactions. */
  readonly #claims = new Claims();
  #areClaimsHeld = false;
  /** Migrations with which the next block begins. */
  #due: readonly Migration[];
  /** Whether the database has records of an earlier version, which the next block moves into the state. */
  #hasUnhashed: boolean;
  /** State of genesis, until the first block is committed with it. */
  #genesis: { readonly branch: StateBranch; readonly prepared: PreparedState } | undefined;
  #finalized: Finalized | undefined;
  /** The proposal that this validator made last for the next block. */
  #proposal: Proposal | undefined;

  constructor(options: ApplicationOptions) {
    const { set, database } = options;
    this.#options = options;
    this.modules = set.modules;
    this.#endBlockers = set.endBlockers ?? set.modules;
    this.#upgrades = upgradesOf(options);
    const loaded = loadState(options);
    this.#state = loaded.state;
    this.#params = loaded.params;
    const maxBlockGas = () => this.#maxGas;
    this.#runner = new TxRunner({
      router: new Router(set.modules),
      ante: { ...set.ante, minGasPrices: options.minGasPrices ?? [], maxBlockGas },
      cacheBytes: TX_CACHE_BYTES,
      report: this.#report,
    });
    this.#router = new Router(set.modules, [
      simulation({
        runner: this.#runner,
        environment: () => this.#checkEnvironment(),
        maxBlockGas,
        turn: options.simulationTurn ?? ((run) => run(() => {})),
      }),
    ]);
    this.#last = loaded.last;
    this.#due = loaded.due;
    this.#hasUnhashed = loaded.hasUnhashed;
    this.#committed = loaded.last !== undefined;
    this.#snapshots = new Snapshots({
      database,
      stores: storeNames(set.modules),
      source: options.snapshots,
      isEmpty: () => this.#state.isEmpty && this.#genesis === undefined,
      check: () => checkState(options),
      params: () => set.consensus.read(database.table(stateTable(CONSENSUS))),
      changed: () => this.#adopt(loadState(options)),
    });
    this.#view = new CacheMultiStore(this.#state);
  }

  /** The parameters of consensus of the next block; undefined before the chain begins. */
  get consensusParams(): ConsensusParams | undefined {
    return this.#params;
  }

  /** The state store, for snapshots and proofs. */
  get state(): StateStore {
    return this.#state;
  }

  /** Paths of the rpcs that `query` answers, such as `/sdk.bank.v1beta1.Query/Balance`. */
  get rpcs(): readonly string[] {
    return this.#router.queryPaths;
  }

  info(): AppInfo {
    const isEmpty = this.#state.isEmpty;
    return {
      version: this.#version,
      lastBlockHeight: this.#state.height,
      lastBlockAppHash: isEmpty ? new Uint8Array(0) : this.#state.appHash,
    };
  }

  initChain(request: InitChain): InitChainResult {
    if (!this.#state.isEmpty) throw new Error("the chain is initialised already");
    const { chainId, time, initialHeight } = request;
    // The state of genesis is that before the first block.
    const block = { chainId, time, height: initialHeight - 1n, proposer: NO_PROPOSER };
    const branch = this.#state.branch();
    const ctx = new Context({ block, mode: "genesis", stores: branch, report: this.#report });
    const run = (tx: Uint8Array) => this.#runner.deliverGenesis({ block, stores: branch }, tx);
    this.#options.set.consensus.setParams(ctx, request.consensusParams);
    const validators = importGenesis(ctx, { modules: this.modules, appState: request.appState, run });
    const prepared = this.#state.workingHash(branch);
    this.#genesis = { branch, prepared };
    this.#last = block;
    this.#params = request.consensusParams;
    this.#view = new CacheMultiStore(branch);
    return { validators, consensusParams: undefined, appHash: prepared.appHash };
  }

  checkTx({ tx, kind, place }: CheckTx): CheckTxResult {
    const result = this.#runner.check(this.#checkEnvironment(place), tx, kind);
    const stays = kind === "trial" || (kind === "recheck" && place !== undefined);
    if (result.code !== 0 || result.claim === undefined || stays) return result;
    if (place !== undefined) this.#claims.release(place);
    this.#claims.add(result.claim);
    return result;
  }

  holdClaims(): void {
    this.#areClaimsHeld = true;
  }

  releaseClaim(claim: Claim): void {
    this.#claims.release(claim);
  }

  /**
   * The transactions that fit into a block, by their fees. An engine that holds claims knows that all can be paid; of
   * other engines' transactions, the ones that fail the checks of a block are left out. Throws like `checkNextBlock`, so
   * that nothing is signed.
   */
  prepareProposal(request: PrepareProposal): readonly Uint8Array[] {
    this.checkNextBlock();
    const candidates = request.txs.flatMap((tx) => {
      const bid = this.#runner.bidOf(tx);
      return bid === undefined ? [] : [{ tx, ...bid }];
    });
    const room = { maxBytes: request.maxBytes, maxGas: this.#maxGas };
    if (this.#areClaimsHeld) return fillBlock(orderByFee(candidates), room);
    const rehearsal = this.#rehearsal(request);
    const txs = fillBlock(orderByFee(candidates), room, (tx) => this.#runner.rehearse(rehearsal, tx) !== undefined);
    this.#proposal = { ...request, txs };
    return txs;
  }

  /**
   * Whether the transactions fit into a block, and every one can be read, is signed and pays its fee after the ones
   * before it. An engine that holds claims makes all blocks itself, of transactions that it had checked.
   */
  processProposal(request: ProcessProposal): boolean {
    const { txs } = request;
    if (this.#proposal !== undefined && isSameProposal(this.#proposal, request)) return true;
    const maxGas = this.#maxGas;
    const { maxBytes = -1n } = this.#params?.block ?? {};
    const rehearsal = this.#areClaimsHeld ? undefined : this.#rehearsal(request);
    let [wanted, bytes] = [0n, 0];
    for (const tx of txs) {
      bytes += sizeInBlock(tx.length);
      if (maxBytes >= 0n && BigInt(bytes) > maxBytes) return false;
      const gas = rehearsal === undefined ? this.#runner.bidOf(tx)?.gas : this.#runner.rehearse(rehearsal, tx);
      if (gas === undefined) return false;
      wanted += gas;
      if (maxGas >= 0n && wanted > maxGas) return false;
    }
    return true;
  }

  finalizeBlock(request: FinalizeBlock): FinalizeBlockResult {
    const { txs, height, time, proposer, lastCommit, misbehavior, nextValidatorsHash } = request;
    const last = this.#requireLast();
    if (height !== last.height + 1n) throw new Error(`block ${height} does not follow height ${last.height}`);
    const block = { chainId: last.chainId, height, time, proposer };
    const genesis = this.#genesis;
    const stores = genesis ? this.#state.branchOver(genesis.branch, genesis.prepared) : this.#state.branch();
    const events = new EventSink();
    const evidence = { lastCommit, misbehavior };
    const { appHash } = genesis?.prepared ?? this.#state;
    const described = { ...block, appHash, nextValidatorsHash };
    const ctx = new Context({ block: described, evidence, mode: "block", stores, events, report: this.#report });
    this.#upgrades.begin(ctx, this.#due);
    beginBlock(ctx, this.modules);
    const env = { block, stores };
    const gas = new BlockGas(this.#maxGas);
    const txResults = txs.map((tx, index) => {
      const result = this.#runner.deliver(env, tx, gas);
      return request.keep?.(result, index) ?? result;
    });
    const validatorUpdates = endBlock(ctx, this.#endBlockers);
    const params = this.#options.set.consensus.params(ctx);
    const isChanged = this.#params === undefined || !equalConsensusParams(params, this.#params);
    if (this.#options.unhashedRecords !== true) this.#record(stores.store(CONSENSUS), block);
    if (this.#isChecked(height)) this.#checkInvariants(ctx, stores);
    const prepared = this.#state.workingHash(stores);
    const touched = isChanged ? "all" : touchedAccounts(stores, this.#options.set.accountsOf);
    this.#finalized = { block, prepared, params, touched };
    return {
      events: events.all(),
      txResults,
      validatorUpdates,
      consensusParamUpdates: isChanged ? params : undefined,
      appHash: prepared.appHash,
    };
  }

  /**
   * Throws if this program must not execute the next block: `UpgradeNeeded` where it lacks the upgrade that is due, an
   * error of `modules` where it is older than the chain or has a planned upgrade too early.
   */
  checkNextBlock(): void {
    const { block, stores } = this.#checkEnvironment();
    this.#upgrades.check(new Context({ block, mode: "query", stores }));
  }

  /** The same, and tries an upgrade with which the next block begins: all nodes say why it fails, not those alone that propose. */
  tryNextBlock(): void {
    this.#rehearsal(this.#checkEnvironment().block);
  }

  commit(alongside: readonly Write[] = []): TouchedAccounts {
    const finalized = this.#finalized;
    assert(finalized !== undefined, "a block is finalized before it is committed");
    const { block, prepared, params, touched } = finalized;
    this.#state.commit(block.height, prepared, { writes: alongside, kept: this.#unhashedWrites(block) });
    this.#hasUnhashed = this.#options.unhashedRecords === true;
    this.#params = params;
    this.#due = [];
    this.#finalized = undefined;
    this.#proposal = undefined;
    this.#genesis = undefined;
    this.#last = block;
    this.#committed = true;
    this.#view = new CacheMultiStore(this.#state);
    if (!this.#areClaimsHeld) this.#claims.clear();
    return touched;
  }

  /** Reservations of waiting transactions on some accounts, for simulations in another thread. */
  pending(addresses: readonly Uint8Array[]): PendingState {
    const claimed = new Map<string, Claimed>();
    for (const account of addresses.map(toHex)) {
      const found = this.#claims.of(account);
      if (found !== undefined) claimed.set(account, found);
    }
    return { height: this.#committed ? this.#requireLast().height : 0n, claimed };
  }

  query(query: AppQuery): AppQueryResult {
    return answerQuery(
      {
        router: this.#router,
        state: this.#state,
        storeNames: storeNames(this.modules),
        version: this.#version,
        block: this.#committed ? this.#last : undefined,
        past: pastStates(this.#options.database),
        report: this.#report,
      },
      query,
    );
  }

  listSnapshots(): readonly Snapshot[] {
    return this.#snapshots.listSnapshots();
  }

  offerSnapshot(request: OfferSnapshot): SnapshotVerdict {
    return this.#snapshots.offerSnapshot(request);
  }

  loadSnapshotChunk(request: SnapshotChunk): Uint8Array {
    return this.#snapshots.loadSnapshotChunk(request);
  }

  applySnapshotChunk(
    request: ApplySnapshotChunk,
    alongside?: (restored: RestoredState) => readonly Write[],
  ): AppliedChunk {
    return this.#snapshots.applySnapshotChunk(request, alongside);
  }

  /** The `app_state` of the last committed height. */
  exportGenesis(): JsonObject {
    return exportModules(this.#readContext(), this.modules);
  }

  /** The state that this chain needs to continue after a committed height; undefined if that height is not kept. */
  exportAt(height: bigint): ExportedState | undefined {
    const ctx = this.#contextAt(height);
    if (ctx === undefined) return undefined;
    return {
      consensusParams: this.#options.set.consensus.params(ctx),
      appState: exportModules(ctx, this.modules),
      voters: votersOf(this.modules, ctx),
    };
  }

  /**
   * The state that another chain needs at its first block to continue from a height; undefined if that height is not
   * kept. The state of this chain does not change.
   */
  restartAt(height: bigint, restart: Restart): RestartState | undefined {
    const ctx = this.#contextAt(height);
    if (ctx === undefined) return undefined;
    const before = votersOf(this.modules, ctx);
    const appState = exportRestart(ctx, this.modules, restart);
    const consensusParams = this.#options.set.consensus.params(ctx);
    return { consensusParams, appState, before, voters: votersOf(this.modules, ctx) };
  }

  /** The voters last reported to the engine, for the block after the next. */
  voters(): readonly ValidatorUpdate[] {
    return votersOf(this.modules, this.#readContext());
  }

  /** The sentences of the invariants that do not hold at the last committed height. */
  brokenInvariants(): string[] {
    return brokenInvariants(this.modules, this.#readContext());
  }

  /** Continues with a restored state. */
  #adopt({ state, params, last, due, hasUnhashed }: LoadedState): void {
    this.#state = state;
    this.#params = params;
    this.#last = last;
    this.#due = due;
    this.#hasUnhashed = hasUnhashed;
    this.#committed = last !== undefined;
    this.#view = new CacheMultiStore(state);
  }

  #record(store: KVStore, block: BlockInfo): void {
    recordLastBlock(store, block);
    recordModuleSet(store, recordedVersions(this.modules));
  }

  #unhashedWrites(block: BlockInfo): Write[] {
    if (this.#options.unhashedRecords === true)
      return [unhashedBlockWrite(block), unhashedSetWrite(recordedVersions(this.modules))];
    return this.#hasUnhashed ? unhashedRemovals(this.#options.database) : [];
  }

  get #maxGas(): bigint {
    return this.#params?.block.maxGas ?? -1n;
  }

  get #version(): string {
    return this.#options.version ?? "dev";
  }

  readonly #report = (problem: BlockProblem): void => this.#options.report?.(problem);

  /** Transactions are checked for the block that they can come into. */
  #checkEnvironment(place?: Claim): TxEnvironment {
    const last = this.#requireLast();
    const waiting = { claims: this.#claims, place };
    return { block: { ...last, height: last.height + 1n }, stores: this.#view, waiting };
  }

  /** The block of a proposal, with its upgrade, on a branch that is thrown away. */
  #rehearsal({ height, time, proposer }: Pick<BlockPlace, "height" | "time" | "proposer">): TxEnvironment {
    const { chainId } = this.#requireLast();
    const [block, stores] = [{ chainId, height, time, proposer }, this.#view.branch()];
    this.#upgrades.begin(new Context({ block, mode: "block", stores }), this.#due);
    return { block, stores };
  }

  #readContext(): Context {
    return new Context({ block: this.#requireLast(), mode: "query", stores: new CacheMultiStore(this.#state) });
  }

  #contextAt(height: bigint): Context | undefined {
    if (height === this.#state.height) return this.#readContext();
    if (height > this.#state.height) return undefined;
    const past = pastStates(this.#options.database).at(height);
    return past && new Context({ block: past.block, mode: "query", stores: new CacheMultiStore(past.stores) });
  }

  #requireLast(): BlockInfo {
    assert(this.#last !== undefined, "the chain is initialised before it is used");
    return this.#last;
  }

  #isChecked(height: bigint): boolean {
    const { checkInvariants = false } = this.#options;
    return typeof checkInvariants === "boolean" ? checkInvariants : checkInvariants(height);
  }

  #checkInvariants(ctx: Context, stores: MultiStore): void {
    const { block, mode } = ctx;
    const broken = brokenInvariants(
      this.modules,
      new Context({ block, mode, stores: decodedStores(stores, this.#decoded) }),
    );
    if (broken.length > 0) throw new InvariantBreach(ctx.height, broken);
  }
}

/** The state of a height, for a genesis file. */
export interface ExportedState {
  /** Parameters of the next block. */
  readonly consensusParams: ConsensusParams;
  readonly appState: JsonObject;
  /** Voters of a chain that begins with the state; empty if the modules have none. */
  readonly voters: readonly ValidatorUpdate[];
}

/** The state with which another chain begins at its first block. */
export interface RestartState extends ExportedState {
  /** The modules' voters, before any were jailed for the new chain. */
  readonly before: readonly ValidatorUpdate[];
}

function votersOf(modules: readonly Module[], ctx: Context): ValidatorUpdate[] {
  return modules.flatMap((module) => module.genesisVoters?.(ctx) ?? []);
}

/** The state with which an application continues. */
interface LoadedState {
  readonly state: StateStore;
  readonly params: ConsensusParams | undefined;
  readonly last: BlockInfo | undefined;
  readonly due: readonly Migration[];
  readonly hasUnhashed: boolean;
}

function loadState(options: ApplicationOptions): LoadedState {
  const { database, set, pruning = LAST_HUNDRED } = options;
  const state = StateStore.open(database, storeNames(set.modules), { pruning });
  return {
    state,
    params: set.consensus.read(state.store(CONSENSUS)),
    last: readLastBlock(database),
    due: checkState(options),
    hasUnhashed: unhashedRemovals(database).length > 0,
  };
}

/** The migrations that the state of a database needs. Throws if the state is not for this set of modules. */
function checkState(options: ApplicationOptions): readonly Migration[] {
  const { database, set, upgrade = false } = options;
  const last = readLastBlock(database);
  if (last === undefined) return [];
  const isDue = upgradesOf(options).isDue(database.table(stateTable(CONSENSUS)), last.height + 1n);
  return checkModuleSet(readModuleSet(database), set.modules, upgrade || isDue);
}

function upgradesOf({
  set,
  upgrades: handlers = UPGRADES,
  skippedUpgrades: skipped = [],
}: ApplicationOptions): Upgrades {
  return new Upgrades({ keeper: set.upgrade, modules: set.modules, handlers, skipped: new Set(skipped) });
}
