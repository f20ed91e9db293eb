import { en, type Text } from "./en.ts";

/** Languages of the pages. */
const LANGUAGES: Readonly<Record<"en", Text>> = { en };

/** The words in the reader's language. */
export const t: Text = LANGUAGES.en;
