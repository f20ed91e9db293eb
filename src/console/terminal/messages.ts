import * as v from "valibot";

/** Messages of the console to the frame of the terminal. */
export type ToTerminal =
  | { readonly kind: "output"; readonly bytes: Uint8Array }
  | { readonly kind: "reset" | "copy" | "focus" };

const fromTerminal = v.variant("kind", [
  v.object({ kind: v.literal("input"), text: v.pipe(v.string(), v.maxLength(1 << 20)) }),
  v.object({ kind: v.literal("selection"), text: v.pipe(v.string(), v.maxLength(1 << 20)) }),
  v.object({ kind: v.literal("size"), cols: size(), rows: size() }),
  v.object({ kind: v.literal("shown"), bytes: v.number() }),
  v.object({ kind: v.literal("leave") }),
]);

function size() {
  return v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000));
}

/** Messages of the frame. */
export type FromTerminal = v.InferOutput<typeof fromTerminal>;

/** The frame shows output of strangers, so a stranger may have written its messages. */
export function readMessage(data: unknown): FromTerminal | undefined {
  const read = v.safeParse(fromTerminal, data);
  return read.success ? read.output : undefined;
}
