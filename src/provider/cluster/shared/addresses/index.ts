export { AddressBook, type AddressLedger, type Holding } from "./book.ts";
export { NO_ADDRESSES } from "./none.ts";
export { addressPool, MAX_POOL, normalAddress } from "./pool.ts";
export { type AddressState, leasedAddresses } from "./told.ts";
