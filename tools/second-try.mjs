// Tests with real processes share a machine with others, which may be slow for a minute. If a few files fail, they run
// once more, alone. A pass then does not fail the run, and is listed by name: the test or the program has a rare fault.

/** More files than that do not fail by chance. */
const MOST_FILES = 3;

/**
 * Remaining failures of some parts of the run. `again` runs files with the environment of their part and resolves to
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
