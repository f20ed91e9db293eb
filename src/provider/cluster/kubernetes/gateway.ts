import { chosenOptions, DEFAULT_HTTP_OPTIONS, type HttpOptions } from "../../../sdl/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import { ApiFailure } from "./api/failure.ts";
import type { ApiObject } from "./api/objects.ts";
import { KIND } from "./objects/index.ts";
import type { GatewayName } from "./settings.ts";

/** The part of a tenant's `http_options` that a route of the Gateway API can hold, and the part that it cannot. */

interface ApiGateway extends ApiObject {
  readonly spec?: { readonly gatewayClassName?: string };
}

interface ApiGatewayClass extends ApiObject {
  readonly status?: { readonly supportedFeatures?: readonly { readonly name?: string }[] };
}

/** The API's word for limits on the time of whole answers. */
const REQUEST_TIMEOUT = "HTTPRouteRequestTimeout";

/**
 * Whether the controller of the Gateway says that it follows limits on the time of whole answers. Some that do not refuse
 * routes with such a field.
 */
export async function followsTimeouts(api: KubernetesApi, gateway: GatewayName): Promise<boolean> {
  try {
    const { spec } = (await api.find<ApiGateway>(KIND.gateway, gateway)) ?? {};
    const name = spec?.gatewayClassName ?? "";
    const found = name === "" ? undefined : await api.find<ApiGatewayClass>(KIND.gatewayClass, { name });
    return found?.status?.supportedFeatures?.some((feature) => feature.name === REQUEST_TIMEOUT) === true;
  } catch (error) {
    if (error instanceof ApiFailure && error.kind !== "unreachable") return false;
    throw error;
  }
}

/** Options of the tenant's own choice that a route cannot hold, by their names in the deployment file. */
export function unheldOptions(options: HttpOptions): string[] {
  // Who writes a larger one wants room, and gateways have no limit.
  const isLarger = options.maxBodySize > DEFAULT_HTTP_OPTIONS.maxBodySize;
  return chosenOptions(options).filter((name) => !(name === "max_body_size" && isLarger));
}
