export { Inventory, type NodeUse, type Reservation, type ReservationState } from "./inventory.ts";
export { type Quantities, totalOf } from "./need.ts";
export { openInventory, reconcileReservations } from "./reservations.ts";
export { groupNeeds, type RowNeed, type VolumeNeed } from "./resources.ts";
export type { Overcommit } from "./room.ts";
