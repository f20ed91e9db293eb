import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createIo, type Io } from "./io.ts";

class FakeTerminal extends PassThrough {
  readonly isTTY = true;
  readonly modes: boolean[] = [];

  setRawMode(raw: boolean): void {
    this.modes.push(raw);
  }
}

function make<T extends PassThrough>(input: T): { io: Io; input: T; written: { out: string; err: string } } {
  const written = { out: "", err: "" };
  const output = { write: (text: string) => (written.out += text) };
  const error = { write: (text: string) => (written.err += text) };
  return { io: createIo({ input, output, error }), input, written };
}

describe("piped input", () => {
  test("all prompts share the lines, and none is shown", async () => {
    const { io, input, written } = make(new PassThrough());
    input.end("words\r\nsecret\nY\nno\nlast");
    expect(await io.ask("Enter words")).toBe("words");
    expect(await io.password("Enter secret:")).toBe("secret");
    expect(await io.confirm("Continue?")).toBe(true);
    expect(await io.confirm("Continue?")).toBe(false);
    expect(await io.readLine()).toBe("last");
    expect(written).toEqual({ out: "", err: "" });
  });

  test("lines that arrive in pieces, with characters cut in two", async () => {
    const { io, input } = make(new PassThrough());
    const bytes = Buffer.from("pässwörd\nnext\n");
    const line = io.readLine();
    for (const byte of bytes) input.write(Buffer.of(byte));
    expect(await line).toBe("pässwörd");
    expect(await io.readLine()).toBe("next");
  });

  test("the end is an error: a script that nobody answers must not look like one that was", async () => {
    const { io, input } = make(new PassThrough());
    input.end("");
    await expect(io.confirm("Continue?")).rejects.toMatchObject({
      message: expect.stringContaining("standard input ended"),
      hint: "the question was: Continue?; pipe y, or use -y",
    });
    await expect(io.confirm("Continue?", { hasYes: false })).rejects.toMatchObject({
      hint: "the question was: Continue?; pipe y",
    });
    await expect(io.readLine()).rejects.toThrow("standard input ended");
    await expect(io.password("x")).rejects.toThrow("standard input ended");
  });

  test("the rest of the input", async () => {
    const { io, input } = make(new PassThrough());
    input.end('first\n{\n"a":1}');
    expect(await io.readLine()).toBe("first");
    expect(await io.readAll(1024)).toBe('{\n"a":1}');
  });

  test("a line without end is refused", async () => {
    const { io, input } = make(new PassThrough());
    input.end("x".repeat(1_100_000));
    await expect(io.readLine()).rejects.toThrow("longer than 1 MiB");
  });

  test("a broken input is an error", async () => {
    const { io, input } = make(new PassThrough());
    const line = io.readLine();
    input.destroy(new Error("read EIO"));
    await expect(line).rejects.toThrow("standard input: read EIO");
  });

  test.each(["yes", "", "n", "yy", "ja"])("%j is not a confirmation", async (answer) => {
    const { io, input } = make(new PassThrough());
    input.end(`${answer}\n`);
    expect(await io.confirm("Continue?")).toBe(false);
  });
});

describe("terminal", () => {
  test("prompts stand on standard error", async () => {
    const { io, input, written } = make(new FakeTerminal());
    input.write("words\ny\n");
    await io.ask("Enter words");
    await io.confirm("Continue?");
    expect(written).toEqual({ out: "", err: "> Enter words\nContinue? [y/N]: " });
    expect(input.modes).toEqual([]);
  });

  test("passwords are read without echo, with the keys for corrections", async () => {
    const { io, input, written } = make(new FakeTerminal());
    input.write("wrong\u0015pasx\u007fs\u001b[Dword\rnext\r");
    expect(await io.password("Enter keyring passphrase:")).toBe("password");
    expect(await io.password("Re-enter keyring passphrase:")).toBe("next");
    expect(written.err).toBe("Enter keyring passphrase:\nRe-enter keyring passphrase:\n");
    expect(input.modes).toEqual([true, false, true, false]);
  });

  test("Ctrl-C at a password gives the terminal back and ends with 130", async () => {
    const { io, input } = make(new FakeTerminal());
    input.write("secr\u0003");
    await expect(io.password("Enter:")).rejects.toMatchObject({ code: 130 });
    expect(input.modes).toEqual([true, false]);
  });

  test("Ctrl-D on an empty line is the end of the input", async () => {
    const { io, input } = make(new FakeTerminal());
    input.write("\u0004");
    await expect(io.password("Enter:")).rejects.toThrow("standard input ended");
  });
});
