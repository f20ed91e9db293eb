import { expect, test } from "vitest";
import { StartWords } from "./exec-start.ts";

const PODMAN = [
  'Error: runc: exec failed: unable to start container process: exec: "nope": executable file not found in $PATH\n',
  "Error: read unixpacket @->/proc/self/fd/13/attach: read: connection reset by peer\n",
];
const DOCKER = ['OCI runtime exec failed: exec failed: unable to start container process: exec: "nope": not found\r\n'];

/** The standard error that passes, and the part added at the end. */
function shown(texts: readonly string[], code: number): { readonly passed: string; readonly ended: string } {
  const words = new StartWords(["nope", "-x"]);
  const text = (outputs: readonly { readonly data: Uint8Array }[]): string =>
    outputs.map(({ data }) => Buffer.from(data).toString()).join("");
  const passed = texts.map((each) => text(words.pass({ stream: "stderr", data: Buffer.from(each) }))).join("");
  return { passed, ended: text(words.end(code).outputs) };
}

test.each([
  ["Podman", PODMAN],
  ["Docker", DOCKER],
])("the words of %s become one sentence", (_, texts) => {
  expect(shown(texts, 127)).toEqual({ passed: "", ended: '"nope": there is no such program in the container\n' });
});

test.each([
  "OCI runtime exec failed: runc: exec failed: unable to start container process: read init-p: resource temporarily unavailable",
  "runtime: failed to create new OS thread (have 5 already; errno=11)",
])("want of processes becomes one sentence with the remedy: %s", (text) => {
  const { passed, ended } = shown([text], 255);
  expect(passed).toBe("");
  expect(ended).toBe(
    '"nope": the service has reached its limit of processes; end some, or restart it: svc deploy restart\n',
  );
});

test("a program that is not one becomes one sentence", () => {
  const text = "Error: runc: exec failed: unable to start container process: exec /etc/passwd: permission denied\n";
  expect(shown([text], 126)).toEqual({ passed: "", ended: '"nope": it cannot be run\n' });
});

test("a program that Docker does not find has the exit code of one that is not there", () => {
  const text =
    'OCI runtime exec failed: exec failed: unable to start container process: exec: "nope": executable file not found in $PATH: unknown\r\n';
  const words = new StartWords(["nope"]);
  words.pass({ stream: "stdout", data: Buffer.from(text) });
  const sentence = Buffer.from('"nope": there is no such program in the container\n');
  expect(words.end(126)).toEqual({ outputs: [{ stream: "stderr", data: sentence }], exitCode: 127 });
});

test("the same words of a program that ran are its own", () => {
  expect(shown(PODMAN, 1)).toEqual({ passed: "", ended: PODMAN.join("") });
  expect(shown([...PODMAN, "more"], 127)).toEqual({ passed: `${PODMAN.join("")}more`, ended: "" });
});

test("a program's output passes at once", () => {
  expect(shown(["Error: mine\n", ...PODMAN], 127)).toEqual({ passed: `Error: mine\n${PODMAN.join("")}`, ended: "" });
  const long = `${PODMAN[0]}${"x".repeat(5000)}`;
  expect(shown([long], 127)).toEqual({ passed: long, ended: "" });
});
