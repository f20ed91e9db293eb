import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../../../../util/index.ts";
import { processesOfUser, signalsOfUser } from "./process-limit.ts";
import { raiseSharedLimits } from "./shared-limits.ts";

async function raised(
  limits: Readonly<Record<string, string>>,
): Promise<{ readonly root: string; readonly said: string }> {
  const root = mkdtempSync(join(tmpdir(), "svc-limits-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, value] of Object.entries(limits)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), value);
  }
  const said: string[] = [];
  await raiseSharedLimits(createLogger({ level: "info", format: "plain", write: (line) => said.push(line) }), root);
  return { root, said: said.join("") };
}

test("limits that all tenants share are raised where they are low", async () => {
  const { root, said } = await raised({
    "fs/inotify/max_user_instances": "128\n",
    "kernel/pid_max": "32768\n",
    "fs/file-max": "9223372036854775807\n",
    "fs/pipe-user-pages-soft": "0\n",
  });
  const now = (name: string) => readFileSync(join(root, name), "utf8").trim();
  expect(now("fs/inotify/max_user_instances")).toBe("1048576");
  expect(now("kernel/pid_max")).toBe("4194304");
  expect(now("fs/file-max")).toBe("9223372036854775807");
  expect(now("fs/pipe-user-pages-soft")).toBe("0");
  expect(said).toContain("kernel.pid_max from 32768 to 4194304");
  expect(said).not.toContain("file-max");
});

test("nothing is said where they are high enough", async () => {
  expect((await raised({ "kernel/pid_max": "4194304\n" })).said).toBe("");
});

test("a user may have as many processes as this process may, where it has a limit", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-limits-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "limits");
  const hard = (value: string) => {
    writeFileSync(file, `Limit  Soft Limit  Hard Limit  Units\nMax processes  1024  ${value}  processes\n`);
    return processesOfUser(file);
  };
  expect(hard("96365")).toBe(96_365);
  expect(hard("unlimited")).toBe(1 << 22);
});

test("a user may have more waiting timers and signals than fit into a container, where this process may say so", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-limits-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, "limits"),
    "Limit  Soft Limit  Hard Limit  Units\nMax pending signals  96365  96365  signals\n",
  );
  const signals = (capabilities: string) => {
    writeFileSync(join(folder, "status"), `Name:\tnode\nCapEff:\t${capabilities}\n`);
    return signalsOfUser(folder);
  };
  expect(signals("000001ffffffffff")).toBe(1 << 22);
  expect(signals("0000000001000000")).toBe(1 << 22);
  expect(signals("000001fffeffffff")).toBe(96_365);
  expect(signals("0000000000000000")).toBe(96_365);
});
