// Tests with real processes share a machine with the others, and a machine may do for a minute what nobody foresaw. The files in
// which a few of them failed run once more, alone. What passes then does not fail the run, and the run says so by name: the test
// or the program has a fault that shows seldom.

/** More files than that do not fail by chance. */
const MOST_FILES = 3;

/**
 * What remains of the failures of some parts of the run. `again` runs files with the environment of their part and resolves to
 * their failures.
 */
export async function secondTry(parts, again) {
  const failed = parts.filter(({ failures }) => failures.length > 0);
  const files = failed.flatMap((part) => part.files);
  const isFew = files.length > 0 && files.length <= MOST_FILES;
  if (!isFew || failed.some((part) => part.files.length === 0)) return parts;
  console.log(`\n== once more, alone: ${files.join(" ")}`);
  for (const part of failed) {
    const { failures } = await again(part.files, part.env);
    if (failures.length > 0) continue;
    part.uncertain = part.failures;
    part.passed += part.failures.length;
    part.failures = [];
  }
  return parts;
}
