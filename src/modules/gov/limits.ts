/** Bytes of the title, the metadata of a proposal and of a vote. */
export const MAX_METADATA = 255;
/** Bytes of a summary. */
export const MAX_SUMMARY = 40 * MAX_METADATA;
/** Characters of a title before release 0.46. */
export const MAX_OLD_TITLE = 140;
export const MAX_OLD_DESCRIPTION = 10_000;
/** Maximum number of parameter changes in a content before release 0.47. */
export const MAX_CHANGES = 100;
/** Bytes kept of the reason of a failure. */
export const MAX_REASON = 1000;

/** Proposals, validators, deposits and votes that the end of one block reads, gives back or deletes; the rest waits. */
export const BLOCK_WORK = 4000;
/** Work that the messages of one passed proposal count as. */
export const EXECUTION_WORK = 1000;
/** Gas for the messages of one passed proposal: the gas of a full block of a new chain. */
export const EXECUTION_GAS = 30_000_000n;
