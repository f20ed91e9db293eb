// Cosmovisor's use of the folders, the file and the exit code of a program, as its manual describes it: it runs the current
// program, and after an error switches to the one of the plan in upgrade-info.json, if that has a folder and is another.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const { DAEMON_HOME: home, DAEMON_NAME: name } = process.env;
const root = join(home, "cosmovisor");
const current = join(root, "current");
if (!existsSync(current)) symlinkSync(join(root, "genesis"), current);

function run() {
  const child = spawn(join(current, "bin", name), process.argv.slice(2), { stdio: "inherit" });
  const forward = (signal) => child.kill(signal);
  process.once("SIGINT", forward);
  child.once("exit", (code, signal) => {
    process.off("SIGINT", forward);
    if (code !== 0 && signal === null && hasSwitched()) run();
    else process.exit(code ?? 1);
  });
}

function hasSwitched() {
  const info = join(home, "data", "upgrade-info.json");
  if (!existsSync(info)) return false;
  const folder = join(root, "upgrades", JSON.parse(readFileSync(info, "utf8")).name);
  if (!existsSync(join(folder, "bin", name)) || readlinkSync(current) === folder) return false;
  rmSync(current);
  symlinkSync(folder, current);
  return true;
}

run();
