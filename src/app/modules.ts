/**
 * Modules that no other module calls: each line makes one, with the keepers of accounts and coins as arguments. Modules
 * that hear of each other are put together in `marketplace.ts`. They join the chain in the order of their names, after those.
 */
export { certModule } from "../modules/cert/index.ts";
export { vestingModule } from "../modules/vesting/index.ts";
