/** A language of the pages. */
export type Language = "en";

/** The reader's. */
export const language: Language = "en";
