import { formatDecCoin } from "../../util/index.ts";
import { Service } from "../../wire/gen/sdk/base/node/v1beta1/query_pb.js";
import { fromNanos } from "../../wire/index.ts";
import { bindNodeService } from "./bind.ts";

/** Wallets read this to set fees, and monitors to notice a node that stands still. */
export const nodeService = bindNodeService(Service, {
  config({ nodeInfo: { minGasPrices, haltHeight, pruning } }) {
    return {
      minimumGasPrice: minGasPrices.map(formatDecCoin).join(","),
      pruningKeepRecent: `${pruning.keepRecent}`,
      pruningInterval: `${pruning.interval}`,
      haltHeight,
    };
  },

  async status({ chain }) {
    const { base, height, latest } = await chain.status();
    if (latest === undefined) return { earliestStoreHeight: base, height };
    const { time, appHash, validatorsHash } = latest.header;
    return { earliestStoreHeight: base, height, timestamp: fromNanos(time), appHash, validatorHash: validatorsHash };
  },
});
