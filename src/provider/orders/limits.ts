/** Orders that are checked at once; the others wait as their ids alone. */
export const MAX_CHECKS = 1_000;
/** Checks that ask the chain at once. */
export const CHECKS_AT_ONCE = 16;
/** Waiting orders for which one pass tries to reserve room, and those that it checks. */
export const TRIES_A_PASS = 500;
export const CHECKS_A_PASS = 64;
/** A waiting order is checked less and less often: the interval stays the same after this many doublings. */
export const MAX_DOUBLINGS = 5;

/** Refusals and ends that are remembered for those who ask. */
export const MAX_REMEMBERED = 1_000;
/** Orders that wait for something: room, money, the cluster, or a moment. */
export const MAX_WAITING = 5_000;
/** New orders between two times that known ones are counted. */
export const COUNT_EVERY = 500;

/** Interval at which listed orders are taken up. */
export const LOT_MS = 5_000;
/** Listed orders of a lot while many wait already. */
export const LEAST_LOT = 100;
/** Number of waiting orders above which few new ones are taken up. */
export const CROWD = MAX_WAITING / 2;
/** Time after which orders that found no place are listed again although many wait. */
export const LIST_AGAIN_MS = 300_000;

/** Bids on one order at most, each of which costs the provider two fees. */
export const MAX_BIDS = 16;
/** Orders whose bids are counted; those whose bids ended least recently are forgotten first. */
export const COUNTED = 5_000;
/** Part of the bid timeout for which an order first rests after a bid that nobody accepted. */
export const FIRST_PAUSE = 1 / 5;

/** Times that a balance is asked for while bids keep coming into blocks. */
export const MAX_BALANCE_TRIES = 5;
