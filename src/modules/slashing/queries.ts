import { type BoundService, bindService } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { type SlashingKeeper, store } from "./keeper.ts";

export function slashingQueries(keeper: SlashingKeeper): BoundService {
  return bindService(Query, {
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
    signingInfo: (ctx, { consAddress }) => {
      const valSigningInfo = keeper.info(ctx, decodeAddress(consAddress, "valcons"));
      if (valSigningInfo !== undefined) return { valSigningInfo };
      throw sdkErrors.keyNotFound(`SigningInfo not found for validator ${consAddress}`);
    },
    signingInfos: (ctx, { pagination: page }) => {
      const { items, pagination } = keeper.infos.paginate(store(ctx), page);
      return { info: items.map(([, info]) => info), pagination };
    },
  });
}
