export {
  AddressBook,
  type AddressLedger,
  type AddressState,
  type Holders,
  type Holding,
  isSameHolding,
  leasedAddresses,
  NO_ADDRESSES,
  portTaken,
} from "./book.ts";
export { addressPool, MAX_POOL, normalAddress } from "./pool.ts";
