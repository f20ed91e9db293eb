// A reporter of the test runner that notes what failed before or after the tests of a group, for instance in their tidying: the
// runner's own report as JSON counts such a file as failed and does not say why.
import { writeFileSync } from "node:fs";

export default class SuiteErrors {
  /** Messages by the path of the file, into the file that the environment names. */
  onTestRunEnd(modules) {
    const file = process.env.SVC_TEST_SUITE_ERRORS;
    if (file === undefined) return;
    const entries = modules.map((module) => [module.moduleId, [...module.children.allSuites()].flatMap(errorsOf)]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(entries.filter(([, errors]) => errors.length > 0))));
  }
}

function errorsOf(suite) {
  return suite.errors().map((error) => `${suite.fullName}: ${error.stack ?? error.message}`);
}
