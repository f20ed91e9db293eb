/**
 * Shared parts of tests with containers besides `index.ts`. Importing it fails with CI=true where no container can run.
 */
export { describeWithEngine, startEngine } from "./engine.ts";
export { TestLocalnet } from "./localnet.ts";
export { type ProviderRequest, startProvider, TestProvider } from "./provider.ts";
export { type Ordered, TestTenant } from "./tenant.ts";
