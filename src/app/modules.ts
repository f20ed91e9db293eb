/**
 * Modules that no other module calls: each line makes one, with the keepers of accounts and coins as arguments. Modules
 * that call each other are put together in `marketplace.ts`; these follow them, in the order of their names.
 */
export { certModule } from "../modules/cert/index.ts";
export { genutilModule } from "../modules/genutil/index.ts";
export { vestingModule } from "../modules/vesting/index.ts";
