/** Colours stay; everything else that would move the cursor or name the window is taken out. */
const COLOUR = "\\u001b\\[[0-9;]*m";
const CONTROL = new RegExp(
  `(${COLOUR})|\\u001b\\[[0-9;?]*[ -/]*[@-~]|\\u001b\\][^\\u0007]*\\u0007?|[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]`,
  "gu",
);

/** A line that a stranger's program wrote, fit for a terminal. */
export function cleanLine(text: string): string {
  return text.replace(CONTROL, (_, colour: string | undefined) => colour ?? "");
}
