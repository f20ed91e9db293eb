import { concatBytes } from "../../util/index.ts";

/** The text of an answer to `fetch`; one that has more bytes is not read to its end. */
export async function boundedText(
  { body }: Pick<Response, "body">,
  { max, tooLarge }: { readonly max: number; readonly tooLarge: () => Error },
): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(concatBytes(...parts));
    size += value.length;
    if (size > max) {
      await reader.cancel().catch(() => {});
      throw tooLarge();
    }
    parts.push(value);
  }
}
