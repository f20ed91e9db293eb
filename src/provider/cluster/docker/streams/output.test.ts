import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseReference } from "../../shared/reference.ts";
import { DEFAULT_BACKOFF } from "../../shared/restarts/backoff.ts";
import type { ContainerState } from "../api/answers.ts";
import { FrameReader } from "../api/frames.ts";
import { LineReader } from "../api/logs.ts";
import { explainExit, ReplicaHistory } from "../replica/replica.ts";

function frame(stream: number, text: string): Buffer {
  const data = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(data.length, 4);
  return Buffer.concat([header, data]);
}

describe("framed output", () => {
  it("comes out the same however the bytes are cut", () => {
    const frames = fc.array(fc.record({ stream: fc.constantFrom(1, 2), text: fc.string() }));
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 20 })), (given, cuts) => {
        const bytes = Buffer.concat(given.map(({ stream, text }) => frame(stream, text)));
        const reader = new FrameReader();
        const read = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          read.push(...reader.push(bytes.subarray(at, at + cut)));
          at += cut;
        }
        const expected = given.map(({ stream, text }) => ({ stream: stream === 2 ? "stderr" : "stdout", text }));
        expect(read.map(({ stream, data }) => ({ stream, text: data.toString("utf8") }))).toEqual(expected);
      }),
    );
  });

  it("refuses lengths that no engine sends", () => {
    const bytes = Buffer.from([1, 0, 0, 0, 255, 255, 255, 255]);
    expect(() => [...new FrameReader().push(bytes)]).toThrow(/frame of/);
  });

  it("is read no further than its reader takes it", () => {
    const bytes = Buffer.concat([frame(1, "first\n"), frame(1, "later\n")]);
    const lines = new LineReader().push(bytes);
    expect(lines.next().value).toMatchObject({ text: "first" });
    bytes.write("still", bytes.length - 6);
    expect([...lines]).toMatchObject([{ text: "still" }]);
  });

  it("becomes lines: pieces are joined within their stream, times are taken off", () => {
    const reader = new LineReader();
    const lines = [
      ...reader.push(frame(1, "2026-01-02T03:04:05Z hel")),
      ...reader.push(frame(2, "2026-01-02T03:04:06Z error\n")),
      ...reader.push(frame(1, "2026-01-02T03:04:07Z lo 2026-01-02T03:04:05Z as the program wrote it\r\n")),
      ...reader.push(frame(1, "2026-01-02T03:04:07.5Z \n")),
      ...reader.push(frame(1, "no time\n")),
      ...reader.push(frame(1, "2026-01-02T03:04:08Z end")),
      ...reader.end(),
    ];
    const texts = ["error", "hello 2026-01-02T03:04:05Z as the program wrote it", "", "no time", "end"];
    expect(lines.map((line) => line.text)).toEqual(texts);
    const at = (second: number) => Date.parse(`2026-01-02T03:04:0${second}Z`) / 1000;
    expect([lines[1]?.time, lines[1]?.end]).toEqual([at(5), at(7)]);
  });

  it("joins a character that two pieces share, and finds times in pieces of any size", () => {
    const record = Buffer.concat([Buffer.from("2026-01-02T03:04:05Z "), Buffer.alloc(70_000, "x"), Buffer.from("é\n")]);
    const header = Buffer.alloc(8);
    header[0] = 1;
    header.writeUInt32BE(record.length, 4);
    const bytes = Buffer.concat([header, record]);
    for (const cut of [8, 9, 20, 70_030]) {
      const reader = new LineReader();
      const lines = [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut))];
      expect(lines, `cut at ${cut}`).toMatchObject([{ text: `${"x".repeat(70_000)}é` }]);
    }
  });

  it("ends a line that the run before has left open where the next one begins", () => {
    const reader = new LineReader({ start: Date.parse("2026-01-02T03:04:07.2Z") / 1000 });
    const lines = [
      ...reader.push(frame(1, "2026-01-02T03:04:05Z left")),
      ...reader.push(frame(1, "2026-01-02T03:04:06Z open")),
      ...reader.push(frame(1, "2026-01-02T03:04:07Z begun\n")),
    ];
    expect(lines.map(({ text }) => text)).toEqual(["leftopen", "begun"]);
  });
});

describe("ends of programs", () => {
  const exited = (exitCode: number, ranSeconds = 1): ContainerState => ({
    id: "c",
    name: "c",
    labels: {},
    status: "exited",
    running: false,
    pid: 0,
    exitCode,
    oomKilled: false,
    error: "",
    startedAt: Date.parse("2026-01-01T00:00:00Z"),
    finishedAt: new Date(Date.parse("2026-01-01T00:00:00Z") + ranSeconds * 1000).toISOString(),
    ports: new Map(),
    health: "",
    addresses: new Map(),
    imageVolumes: [],
    imageId: "",
    createdAt: 0,
    upper: undefined,
  });

  it("are told apart", () => {
    expect(explainExit(exited(137), 64n << 20n, false)).toMatchObject({ reason: "OOMKilled" });
    expect(explainExit(exited(137), 64n << 20n, true)).toMatchObject({ reason: "Killed" });
    expect(explainExit(exited(3), 64n << 20n, false).text).toContain("exit code 3");
    expect(explainExit(exited(0), 64n << 20n, false)).toMatchObject({ reason: "Completed" });
  });

  it("by KILL are a guess if the engine has not said why", () => {
    const limit = "for reaching the memory limit of 64 MiB (exit code 137): give its profile more memory";
    const guess = { reason: "OOMKilled", text: `killed, most likely ${limit}`, isGuess: true };
    expect(explainExit(exited(137), 64n << 20n, false)).toEqual(guess);
    const told = { ...exited(137), oomKilled: true };
    expect(explainExit(told, 64n << 20n, true)).toEqual({ reason: "OOMKilled", text: `killed ${limit}` });
  });

  it("that were guessed are corrected, once, if the engine soon reports a signal", () => {
    const history = new ReplicaHistory(DEFAULT_BACKOFF);
    history.guessedAt = 1_000;
    expect([history.noteKill(1_500), history.killed]).toEqual([true, false]);
    expect([history.noteKill(1_600), history.killed]).toEqual([false, true]);
    const long = new ReplicaHistory(DEFAULT_BACKOFF);
    long.guessedAt = 1_000;
    expect([long.noteKill(20_000), long.killed]).toEqual([false, true]);
  });

  it("lengthen the wait from one second over ten to five minutes, until one ran for long", () => {
    const policy = { first: 1_000, initial: 10_000, max: 300_000, resetAfter: 600_000 };
    const history = new ReplicaHistory(policy);
    const waits = Array.from({ length: 8 }, (_, index) => history.countExit(exited(1, index), 0) / 1000);
    expect(waits).toEqual([1, 10, 20, 40, 80, 160, 300, 300]);
    expect(history.countExit(exited(1, 600), 0)).toBe(1_000);
  });

  it("count once, however often they are looked at", () => {
    const history = new ReplicaHistory({ first: 1, initial: 1, max: 1, resetAfter: 1_000 });
    expect(history.isNewExit(exited(1))).toBe(true);
    history.countExit(exited(1), 0);
    expect(history.isNewExit(exited(1))).toBe(false);
    expect(history.isNewExit(exited(1, 2))).toBe(true);
    expect(history.isNewExit({ ...exited(1, 3), status: "created" })).toBe(false);
  });
});

describe("image names", () => {
  it("are completed as the container tools do", () => {
    const full = (image: string) => parseReference(image).full;
    expect(full("nginx")).toBe("docker.io/library/nginx:latest");
    expect(full("bitnami/redis:7")).toBe("docker.io/bitnami/redis:7");
    expect(full("index.docker.io/library/nginx:1")).toBe("docker.io/library/nginx:1");
    expect(full("ghcr.io/a/b_c/d-e:v1.2")).toBe("ghcr.io/a/b_c/d-e:v1.2");
    expect(full("127.0.0.1:5000/x")).toBe("127.0.0.1:5000/x:latest");
    const digest = `sha256:${"a".repeat(64)}`;
    expect(parseReference(`nginx:1@${digest}`)).toEqual({
      full: `docker.io/library/nginx@${digest}`,
      registry: "docker.io",
      local: false,
      pinned: true,
    });
    expect(parseReference("localhost/app:1").local).toBe(true);
    expect(parseReference("localhost:5000/app:1").local).toBe(false);
  });

  it("are refused if they are malformed", () => {
    for (const image of [
      "",
      "NGINX",
      "a b",
      "nginx:",
      "nginx:a/b",
      "nginx@sha256:12",
      "/nginx",
      "a//b",
      "../x",
      "-x",
    ]) {
      expect(() => parseReference(image)).toThrow(/is not an image name/);
    }
  });
});
