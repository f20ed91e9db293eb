import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { initFailure, readInitFailure } from "./init-failure.ts";

it.each([
  ["ERROR (catatonit:6): failed to exec pid1: No such file or directory", "no such file or directory"],
  ["[FATAL tini (7)] exec /no/such failed: No such file or directory", "no such file or directory"],
  ["ERROR: no such file", undefined],
  ["", undefined],
])("the init process says why the program did not begin: %s", (line, reason) => {
  expect(readInitFailure(line)).toBe(reason);
});

it("the last line is asked for again where the engine has none yet", async () => {
  const said = ["", "", "ERROR (catatonit:6): failed to exec pid1: Permission denied\n"];
  const api = { logs: () => Promise.resolve(Readable.from([frame(said.shift() ?? "")])) };
  expect(await initFailure(api, { id: "web-0", exitCode: 1 })).toBe("permission denied");
  expect(await initFailure(api, { id: "web-0", exitCode: 1 })).toBeUndefined();
});

function frame(text: string): Buffer {
  const header = Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(text.length, 4);
  return Buffer.concat([header, Buffer.from(text)]);
}
