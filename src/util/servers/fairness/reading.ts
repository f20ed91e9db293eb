import { type Caller, callerOf } from "./caller.ts";
import { FairQueue } from "./fair-queue.ts";
import {
  ACCEPTED_IN_A_ROW,
  FLOOD_TURNS,
  FRESH_BYTES,
  QUIET_AT_A_TIME,
  READING_AT_A_TIME,
  READING_SLICE_MS,
} from "./limits.ts";

/**
 * What the system tells of a socket. The servers of Node.js let it feed them directly; once HTTP/2 has a socket, nothing else
 * pauses it.
 */
interface Handle {
  /** What the socket itself has last wanted of it. */
  readonly reading?: boolean;
  /** Bytes that the system has not taken yet. */
  readonly writeQueueSize?: number;
  readStart(): unknown;
  readStop(): unknown;
}

/** What is used of a socket of Node.js, whose types browsers do not have. */
interface Readable {
  readonly destroyed: boolean;
  readonly bytesRead: number;
  readonly remoteAddress?: string | undefined;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

export interface HandledSocket extends Readable {
  readonly _handle?: Handle | null;
  /** Of a connection with TLS, the one below it. */
  readonly _parent?: HandledSocket | null;
}

interface Connection {
  readonly socket: HandledSocket;
  readonly caller: Caller;
  /** One that has sent less is a newcomer. */
  readonly freshBytes: number;
  /** Forgets it. */
  readonly gone: () => void;
  /** HTTP/2 reads it. */
  isHandedOver: boolean;
  /** What had come of it when its last turn began; undefined if it was never stopped. */
  bytes: number | undefined;
  /** Its last turn was over before it was reached, so it comes first in the next one. */
  wasPassedBy: boolean;
  /** How many turns it has had that were not over before it was reached, and the number of the last one. */
  turns: number;
  lastTurn: number;
}

/** Connections by what became of them in a turn that is over. */
interface Sorted {
  /** Had nothing to say. */
  readonly quiet: Connection[];
  /** Were not reached. */
  readonly unread: Connection[];
  readonly others: Connection[];
}

/**
 * Bounds what is read of clients in one turn of the event loop. Node.js reads every connection that is ready before it looks at
 * the next new one: hundreds of connections with a hundred calls each would keep newcomers waiting for seconds. Where what was read
 * has made work for some milliseconds, all connections stop; a few are read in each turn that follows, of each client in turn.
 */
export class Reading {
  /** Connections that are stopped and have sent little so far, and all others. */
  readonly #fresh = new FairQueue<Connection>();
  readonly #others = new FairQueue<Connection>();
  readonly #read = new Set<Connection>();
  /** Those of the stopped that others may let go on. */
  readonly #loose = new Set<Connection>();
  readonly #connections = new WeakMap<Readable, Connection>();
  /** When the work of this turn began. */
  #since: number | undefined;
  readonly #sliceMs: number;
  readonly #before: Pick<Reading, "isAccepting"> | undefined;
  #willEnd = false;
  #turn = 0;
  /** The turn of the last new connection, and how many turns in a row have brought one. */
  #acceptedIn = -2;
  #accepted = 0;
  /** Turns in a row that have read some and not all of those that waited. */
  #pressed = 0;

  /** Reads nothing while `before` takes new connections; a turn may make work for `sliceMs` milliseconds. */
  constructor(before?: Pick<Reading, "isAccepting">, sliceMs: number = READING_SLICE_MS) {
    this.#before = before;
    this.#sliceMs = sliceMs;
  }

  /** Reads a connection in its turns, until it closes. One with TLS is added before its handshake. */
  add(socket: Readable, freshBytes: number = FRESH_BYTES): void {
    this.#accepted = this.#acceptedIn >= this.#turn - 1 ? this.#accepted + 1 : 1;
    this.#acceptedIn = this.#turn;
    this.#begin(socket, callerOf(socket), freshBytes);
  }

  /** The same for a connection that this end has opened: it is one of the client's, whoever that stands for. */
  follow(socket: Readable, client: string): void {
    if (!this.#connections.has(socket)) this.#begin(socket, { client, connection: socket }, FRESH_BYTES);
  }

  /** Reads a connection always, as one that nobody uses at present: its end must be noticed at once. */
  release(socket: HandledSocket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const isRead = this.#read.has(connection);
    this.#connections.delete(socket);
    this.#remove(connection);
    socket.off("close", connection.gone);
    if (!isRead && !socket.destroyed && canBeFed(connection)) socket._handle?.readStart();
  }

  #begin(socket: Readable, caller: Caller, freshBytes: number): void {
    const gone = (): void => this.#remove(connection);
    const connection: Connection = {
      socket,
      caller,
      freshBytes,
      gone,
      isHandedOver: false,
      bytes: undefined,
      wasPassedBy: false,
      turns: 0,
      lastTurn: -1,
    };
    this.#connections.set(socket, connection);
    this.#read.add(connection);
    socket.once("close", gone);
    this.worked();
  }

  /** In a flood of connections that close at once, those that have closed would take the turns of others, and grow in number. */
  #remove(connection: Connection): void {
    this.#read.delete(connection);
    this.#loose.delete(connection);
    for (const queue of [this.#fresh, this.#others]) queue.remove(connection.caller);
  }

  /** HTTP/2 reads the socket from now on. */
  handOver(socket: HandledSocket): void {
    const connection = this.#connections.get(socket._parent ?? socket);
    if (connection !== undefined) connection.isHandedOver = true;
  }

  /** Whether a connection is stopped until its next turn, or has its turn and the network was not polled since this began. */
  isWaiting(socket: HandledSocket): boolean {
    const connection = this.#connections.get(socket._parent ?? socket);
    return connection !== undefined && (connection.lastTurn === this.#turn || !this.#read.has(connection));
  }

  /** How many turns a connection has had that were not over before it was reached, the one that has just begun included. */
  turnsOf(socket: HandledSocket): number {
    return this.#connections.get(socket._parent ?? socket)?.turns ?? 0;
  }

  /** The number of the turn of the event loop, among those in which something was read. */
  get turn(): number {
    return this.#turn;
  }

  /**
   * Whether new connections come turn by turn. Node.js takes one in each turn: with all work of the others in between, the last of
   * some hundreds would wait for seconds. So other work waits for them, up to a limit.
   */
  get isAccepting(): boolean {
    return this.#acceptedIn >= this.#turn - 1 && this.#accepted < ACCEPTED_IN_A_ROW;
  }

  /** Told whenever what was read has made work, and gives the number of the turn. */
  worked(): number {
    const now = performance.now();
    this.#since ??= now;
    if (now - this.#since >= this.#sliceMs) this.#stopAll();
    this.#endLater();
    return this.#turn;
  }

  /** Whether connections wait for their turn. */
  get isPressed(): boolean {
    return !this.#fresh.isEmpty || !this.#others.isEmpty;
  }

  /** Whether connections have been waiting for a while: for a moment they do so behind each large request. */
  get isFlooded(): boolean {
    return this.#pressed >= FLOOD_TURNS;
  }

  /** Those of which something came are read last. Of the others, some that are silent and all that are not read yet come first. */
  #stopAll(): void {
    const { quiet, unread, others } = this.#sort();
    for (const connection of this.#read) this.#halt(connection);
    this.#read.clear();
    const kept = quiet.slice(-QUIET_AT_A_TIME);
    for (const connection of [...quiet.slice(0, -QUIET_AT_A_TIME), ...others]) this.#queue(connection);
    const first = [...kept, ...unread].map((each) => [each.caller, each] as const);
    if (first.length > 0) this.#others.putBack(first);
  }

  /**
   * What became of those that were read. The system reports connections in the order in which they were started: where something has
   * come of one, those before it had nothing to say, and the turn was over before those behind it were reached.
   */
  #sort(): Sorted {
    const all = [...this.#read];
    const last = all.findLastIndex((each) => this.#isCurrent(each) && hasCome(each));
    const sorted: Sorted = { quiet: [], unread: [], others: [] };
    for (const [index, connection] of all.entries()) {
      const isPassedBy = !hasCome(connection) && this.#isCurrent(connection) && index > last;
      if (isPassedBy) connection.turns -= 1;
      // Where other work has ended the turn, silent ones would be passed by for ever.
      connection.wasPassedBy = isPassedBy && (last >= 0 || !connection.wasPassedBy);
      if (connection.wasPassedBy) sorted.unread.push(connection);
      else if (isPassedBy || hasCome(connection)) sorted.others.push(connection);
      else sorted.quiet.push(connection);
    }
    return sorted;
  }

  /** Whether its turn is the present one. */
  #isCurrent({ lastTurn }: Connection): boolean {
    return lastTurn === this.#turn;
  }

  #halt(connection: Connection): void {
    const isFed = canBeFed(connection);
    if (isFed) connection.socket._handle?.readStop();
    if (!isFed || connection.isHandedOver) this.#loose.add(connection);
  }

  #queue(connection: Connection): void {
    const { socket, caller, freshBytes } = connection;
    (socket.bytesRead < freshBytes ? this.#fresh : this.#others).push(caller, connection);
  }

  /** An immediate that is set within another runs after the next poll of the network. */
  #endLater(): void {
    if (this.#willEnd) return;
    this.#willEnd = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#willEnd = false;
    this.#turn += 1;
    // A row of turns that bring new connections is one turn: their handshakes would hold up those that wait to be taken.
    if (!this.#isHeldUp) {
      this.#since = undefined;
      // One that comes now begins a new row.
      this.#acceptedIn = -2;
      this.#startSome();
      this.#pressed = this.isPressed ? this.#pressed + 1 : 0;
    } else if (this.isPressed) this.#stopAll();
    this.#stopAgain();
    // The others have their turn even if nothing comes of these, and so has other work if nothing comes of a new connection.
    if (this.isPressed || this.isAccepting) this.#endLater();
  }

  get #isHeldUp(): boolean {
    return this.isAccepting || this.#before?.isAccepting === true;
  }

  /**
   * HTTP/2 stops reading a connection with TLS while it writes, and then goes on by itself; so does a request whose body could not be
   * passed on as fast as it came.
   */
  #stopAgain(): void {
    for (const connection of this.#loose) if (canBeFed(connection)) connection.socket._handle?.readStop();
  }

  #startSome(): void {
    for (let i = 0; i < READING_AT_A_TIME; i++) {
      const next = this.#next(i);
      if (next === undefined) return;
      this.#start(next);
    }
  }

  /** Newcomers have every other place, and the first in every other turn: those read last may find the turn over. */
  #next(place: number): Connection | undefined {
    const isFresh = (this.#turn + place) % 2 === 0;
    const [first, second] = isFresh ? [this.#fresh, this.#others] : [this.#others, this.#fresh];
    return first.shift() ?? second.shift();
  }

  #start(connection: Connection): void {
    const { socket } = connection;
    this.#loose.delete(connection);
    if (socket.destroyed) return;
    connection.bytes = socket.bytesRead;
    connection.turns += 1;
    connection.lastTurn = this.#turn;
    this.#read.add(connection);
    // The turn is over once the network was polled.
    this.#endLater();
    // Unless the socket has stopped by itself meanwhile.
    if (canBeFed(connection)) socket._handle?.readStart();
  }
}

/** Whether something has come of a connection since its last turn began; of one that was never stopped, nobody knows. */
function hasCome({ bytes, socket }: Connection): boolean {
  return bytes !== socket.bytesRead;
}

/** HTTP/2 itself stops while what it sends is not read, and goes on then: read meanwhile, it would keep all that comes. */
function canBeFed({ socket, isHandedOver }: Connection): boolean {
  const { reading, writeQueueSize = 0 } = socket._handle ?? {};
  return isHandedOver ? writeQueueSize === 0 : reading !== false;
}
