export * from "./inventory.ts";
export { openInventory, reconcileReservations } from "./reservations.ts";
export { groupNeeds, type RowNeed, type VolumeNeed } from "./resources.ts";
