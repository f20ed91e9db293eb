import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { programArchive } from "../e2e/program-archive.ts";
import { ROOT } from "./build.ts";
import { writeImage } from "./image-archive.ts";
import { packPackage } from "./package.ts";

const run = promisify(execFile);
/** Where npm puts packages that are installed for everybody. */
const PLACE = "usr/lib/node_modules/svc";
/** An image of Podman's to try in place of our own, such as one that was built from `deploy/image/Containerfile`. */
const GIVEN = process.env.SVC_TEST_PROVIDER_IMAGE;

/**
 * Writes an image by the instructions for operators: Node.js of this machine, the packed package as npm installs it,
 * and the command as its entry point. `folder` holds intermediate files.
 */
export async function writeProviderImage(path: string, name: string, folder: string): Promise<void> {
  if (GIVEN !== undefined) return saveImage(GIVEN, path, name);
  const node = await programArchive(process.execPath, folder);
  const archives = [node, await packageArchive(folder)];
  const config = {
    Entrypoint: ["svc"],
    User: "1000:1000",
    // BusyBox has a program of the same name, which comes after it.
    Env: ["PATH=/usr/bin:/bin"],
  };
  await writeImage(
    path,
    name,
    config,
    archives.map((archive) => readFileSync(archive)),
  );
  for (const archive of archives) rmSync(archive);
}

async function saveImage(image: string, path: string, name: string): Promise<void> {
  await run("podman", ["tag", image, name]);
  await run("podman", ["save", "--output", path, name]);
}

/** Result of `npm install --global`: the package, its dependencies, and the command. */
async function packageArchive(folder: string): Promise<string> {
  const stage = join(folder, "stage");
  const installed = join(stage, PLACE);
  mkdirSync(installed, { recursive: true });
  // The packages inside lack native parts: all come from the checkout.
  const inside = ["--strip-components=1", "--exclude=package/node_modules"];
  await run("tar", ["-xzf", await packPackage(folder), "-C", installed, ...inside]);
  mkdirSync(join(stage, "usr", "bin"), { recursive: true });
  for (const [target, link] of [
    [`../../${PLACE}/dist/svc.cjs`, "svc"],
    ["/bin/env", "env"],
  ] as const)
    await run("ln", ["-s", target, join(stage, "usr", "bin", link)]);
  if (!existsSync(join(stage, "usr/bin/node")) && process.execPath !== "/usr/bin/node")
    await run("ln", ["-s", process.execPath, join(stage, "usr", "bin", "node")]);
  const archive = join(folder, "package.tar");
  const modules = [`--transform=flags=r;s,^node_modules/,${PLACE}/node_modules/,`, "-C", ROOT, ...dependencies()];
  await run("tar", ["--owner=0", "--group=0", "-cf", archive, "-C", stage, "usr", ...modules]);
  rmSync(stage, { recursive: true });
  return archive;
}

/** Folders of the packages that an installation has here. */
function dependencies(): string[] {
  const { packages }: { packages: Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }> } =
    JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) => {
    const wanted = path.startsWith("node_modules/") && !dev && !devOptional && !NESTED.test(path);
    return wanted && existsSync(join(ROOT, path)) ? [path] : [];
  });
}

/** They come with the folder that they lie in. */
const NESTED = /.\/node_modules\//;
