import { type TestKey, testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import type { TestEngine } from "../e2e/engine.ts";
import { startEngine } from "./engine.ts";
import { Fixture } from "./fixture.ts";
import { startNode, type TestNode } from "./node.ts";
import { type ProviderRequest, startProvider, type TestProvider } from "./provider.ts";
import { TestTenant } from "./tenant.ts";

const FUNDS = 10n ** 15n;

/** A chain and a container engine of the test's own, with a tenant; providers can be added. */
export class TestLocalnet {
  readonly fixture: Fixture;
  readonly node: TestNode;
  readonly engine: TestEngine;
  readonly faucet: TestKey;
  readonly tenant: TestTenant;

  private constructor(
    fixture: Fixture,
    parts: { node: TestNode; engine: TestEngine; faucet: TestKey; tenant: TestKey },
  ) {
    this.fixture = fixture;
    this.node = parts.node;
    this.engine = parts.engine;
    this.faucet = parts.faucet;
    const client = parts.node.client();
    fixture.defer(() => client.close());
    this.tenant = new TestTenant(client, parts.tenant);
  }

  /** `main` is the path of another build of the program, which makes the home of the node and runs first. */
  static async start(blockIntervalMs = 300, main?: string): Promise<TestLocalnet> {
    const fixture = new Fixture();
    try {
      const [faucet, tenant] = [testKey("faucet"), testKey("tenant")];
      const coins = [{ denom: NATIVE_DENOM, amount: FUNDS }];
      const accounts = [faucet, tenant].map(({ address }) => ({ address, coins }));
      const engine = await startEngine(fixture);
      const program = main === undefined ? {} : { main };
      const node = await startNode(fixture, { blockIntervalMs, accounts, ...program });
      return new TestLocalnet(fixture, { node, engine, faucet, tenant });
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  provider(
    request: Pick<ProviderRequest, "name" | "attributes" | "cpuScale" | "flags" | "env" | "main">,
  ): Promise<TestProvider> {
    return startProvider(this.fixture, { ...request, node: this.node, engine: this.engine, faucet: this.faucet });
  }

  close(): Promise<void> {
    return this.fixture.close();
  }
}
