import { en, type Text } from "./en.ts";
import { type Language, language } from "./language.ts";

const LANGUAGES: Readonly<Record<Language, Text>> = { en };

/** The words in the reader's language. */
export const t: Text = LANGUAGES[language];
