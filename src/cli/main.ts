import { VERSION } from "./version.ts";

const argv = process.argv.slice(2);

// `svc version` is asked by scripts and completions all the time: it loads nothing else.
if (argv.length === 1 && argv[0] === "version") {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(argv);
}
