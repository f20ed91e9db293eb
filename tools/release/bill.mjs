// The list of contents of the npm package, in the form of CycloneDX: node tools/release/bill.mjs TARBALL
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { containedPackages } from "./bundled.mjs";
import { output, root } from "./packages.mjs";

/** Text of a file in a tarball of npm. */
function read(tarball, name) {
  return output("tar", ["-xzOf", tarball, `package/${name}`]);
}

/**
 * The packages in a tarball and in its program, from the lockfile: for every platform, without what only building needs. They
 * are chosen here, because `npm sbom --omit=dev` also leaves out packages that building shares with the program.
 */
export function billOfMaterials(tarball) {
  const args = [
    "sbom",
    "--sbom-format=cyclonedx",
    "--sbom-type=application",
    "--package-lock-only",
    "--loglevel=error",
  ];
  const { serialNumber, metadata, components: all, dependencies: links, ...bill } = JSON.parse(output("npm", args));
  const { timestamp, ...about } = metadata;
  const [manifest, plan] = [read(tarball, "package.json"), read(tarball, "dist/.plan")].map((text) => JSON.parse(text));
  const contained = containedPackages(root, manifest, plan);
  const components = all.filter((each) => contained.has(`${each.name}@${each.version}`));
  const refs = new Set([metadata.component["bom-ref"], ...components.map((each) => each["bom-ref"])]);
  const dependencies = links
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  const hashes = [{ alg: "SHA-256", content: createHash("sha256").update(readFileSync(tarball)).digest("hex") }];
  // npm names the program after the folder.
  const { name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const component = { ...about.component, name, hashes };
  return { ...bill, metadata: { ...about, component }, components, dependencies };
}

if (process.argv[1] === import.meta.filename) {
  process.stdout.write(`${JSON.stringify(billOfMaterials(process.argv[2]), null, 2)}\n`);
}
