import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { errorText } from "../../src/util/index.ts";
import { ROOT } from "./build.ts";
import type { Fixture } from "./fixture.ts";
import { environment } from "./run-svc.ts";

const run = promisify(execFile);

/** Packs the checkout; the path of the tarball. `SVC_TEST_PACKAGE` names one that was made from the present sources. */
export async function packPackage(folder: string): Promise<string> {
  const made = process.env.SVC_TEST_PACKAGE;
  if (made !== undefined) return made;
  const { stdout } = await run(process.execPath, [join(ROOT, "tools", "package.mjs"), folder]);
  return stdout.trim();
}

/**
 * A project of an application with the packed package in it, like an installation. It sees only the packages that the
 * package names as its dependencies.
 */
export async function linkedProject(fixture: Fixture, tarball: string): Promise<string> {
  const project = fixture.tempHome("application");
  const installed = join(project, "node_modules", "svc");
  mkdirSync(installed, { recursive: true });
  // The packages inside lack native parts, which npm would bring.
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1", "--exclude=package/node_modules"]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const link = join(project, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }
  writeFileSync(join(project, "package.json"), '{ "name": "application", "private": true, "type": "module" }\n');
  return project;
}

/**
 * A project with the packed package installed by npm itself, with whatever the registry has for its dependencies.
 * Returns npm's words if that fails.
 */
export async function installedProject(fixture: Fixture, tarball: string): Promise<{ path: string; fault?: string }> {
  const path = fixture.tempHome("installed");
  writeFileSync(join(path, "package.json"), '{ "name": "application", "private": true, "type": "module" }\n');
  const args = ["install", tarball, "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  try {
    await run("npm", args, { cwd: path, env: environment({}) });
    return { path };
  } catch (error) {
    return { path, fault: errorText(error) };
  }
}

/** Kinds of applications: programs for Node.js, programs for bundlers, and pages, which see no types of Node.js. */
export type Consumer = "node" | "bundler" | "page";

const SETTINGS: Readonly<Record<Consumer, object>> = {
  node: {
    module: "NodeNext",
    moduleResolution: "NodeNext",
    lib: ["ES2023"],
    types: ["node"],
    rewriteRelativeImportExtensions: true,
  },
  bundler: {
    module: "ESNext",
    moduleResolution: "bundler",
    lib: ["ES2023", "DOM"],
    types: ["node"],
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  page: { module: "ESNext", moduleResolution: "bundler", lib: ["ES2023", "DOM"], types: [], noEmit: true },
};

/**
 * Compiles the examples in a project as its own sources, and checks the types of the package with them; for Node.js the
 * programs are written too. Rejects with the compiler's words.
 */
export async function compileExamples(project: string, consumer: Consumer): Promise<void> {
  cpSync(join(ROOT, "docs", "examples"), join(project, "src"), { recursive: true });
  const compilerOptions = {
    target: "ES2023",
    moduleDetection: "force",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    typeRoots: [join(ROOT, "node_modules", "@types")],
    rootDir: "src",
    outDir: "out",
    ...SETTINGS[consumer],
  };
  const path = join(project, `tsconfig.${consumer}.json`);
  writeFileSync(path, JSON.stringify({ compilerOptions, include: [consumer === "page" ? "src/browser.ts" : "src"] }));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [tsc, "--project", path]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}

/** Runs a compiled example of a project. */
export async function runExample(project: string, name: string, args: readonly string[], env = {}): Promise<string> {
  const file = join(project, "out", `${name}.js`);
  const { stdout } = await run(process.execPath, [file, ...args], { env: environment({ env }), timeout: 120_000 });
  return stdout;
}
