/** Colours stay; everything else that would move the cursor or rename the window is removed. */
const COLOUR = "\\u001b\\[[0-9;]*m";
const CONTROL = new RegExp(
  `(${COLOUR})|\\u001b\\[[0-9;?]*[ -/]*[@-~]|\\u001b\\][^\\u0007]*\\u0007?|[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]`,
  "gu",
);

/** A line written by an untrusted program, made safe for a terminal. */
export function cleanLine(text: string): string {
  return text.replace(CONTROL, (_, colour: string | undefined) => colour ?? "");
}
