export { AddressBook, type AddressLedger, type Holders, type Holding, isSameHolding } from "./book.ts";
export { NO_ADDRESSES } from "./none.ts";
export { addressPool, MAX_POOL, normalAddress } from "./pool.ts";
export { type AddressState, leasedAddresses, portTaken } from "./told.ts";
