export * from "./messages.ts";
export * from "./outbox.ts";
export { outboxChain } from "./outbox-chain.ts";
