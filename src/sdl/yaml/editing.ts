import { type Document, parseDocument } from "yaml";
import { Report } from "../report.ts";
import { TextLines } from "../text.ts";
import { guardText } from "./guard.ts";

/** The options that `parseDocumentText` reads with: every value stays the text that it is. */
const OPTIONS = { schema: "failsafe", uniqueKeys: false, prettyErrors: false, version: "1.2" } as const;

/** The document of a deployment file, to be changed with its comments and its layout; undefined if it is not readable. */
export function editableDocument(text: string): Document | undefined {
  if (!guardText(text, new TextLines(text), new Report(""))) return undefined;
  const document = parseDocument(text, OPTIONS);
  return document.errors.length > 0 ? undefined : document;
}

const MAX_INDENT = 8;

/** The text of a document that was read from `before`, indented as that was. */
export function documentText(document: Document, before: string): string {
  const indent = Math.min(/^( +)[^ #\n-]/m.exec(before)?.[1]?.length ?? 2, MAX_INDENT);
  const indentSeq = !/^( *)[^ \n#].*:[ \t]*\n\1- /m.test(before);
  const flowCollectionPadding = /[^\s"'][ \t]*\{ \S/.test(before);
  return document.toString({ indent, indentSeq, flowCollectionPadding, lineWidth: 0 });
}
