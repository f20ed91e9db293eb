import { bytesToUint64 } from "../../../util/index.ts";
import {
  DeploymentSchema,
  type Group,
  GroupSchema,
  type GroupSpec,
  GroupSpecSchema,
  ParamsSchema,
} from "../../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query } from "../../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { type Account, AccountSchema } from "../../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import {
  type AccountKey,
  type DeploymentKey,
  deploymentErrors,
  formatDeploymentId,
  formatGroupId,
  type GroupKey,
} from "../../../wire/index.ts";
import { deploymentPart, escrowPart, groupPart, PARAMS_KEY, recordKey } from "../keys.ts";
import type { ProvenState } from "../state.ts";
import { findRecord, type ProvenAnswer, provenAnswer } from "./answer.ts";

const STORE = "deployment";
/** Groups read at once. Their numbers have no gaps, so the first that is absent is the end. */
const GROUPS_AT_ONCE = 3;
const NO_ID: GroupKey = { owner: "", dseq: 0n, gseq: 0 };

/** Deployments with their groups. */
export const answers: readonly ProvenAnswer[] = [
  provenAnswer(Query.method.deployment, async (state, { id = NO_ID }) => {
    const key = recordKey(0x01, deploymentPart(id));
    const [deployment, groups, escrowAccount] = await Promise.all([
      findRecord(state, DeploymentSchema, { store: STORE, key }),
      allGroups(state, id),
      findAccount(state, { scope: "deployment", xid: formatDeploymentId(id) }),
    ]);
    if (deployment === undefined) throw deploymentErrors.notFound(formatDeploymentId(id));
    return { deployment, groups: [...groups], ...(escrowAccount === undefined ? {} : { escrowAccount }) };
  }),
  provenAnswer(Query.method.group, async (state, { id = NO_ID }) => {
    const group = await findGroup(state, id);
    if (group === undefined) throw deploymentErrors.groupNotFound(formatGroupId(id));
    return { group };
  }),
  provenAnswer(Query.method.params, async (state) => {
    const [params, base] = await Promise.all([
      findRecord(state, ParamsSchema, { store: STORE, key: PARAMS_KEY }),
      state.get(STORE, recordKey(0x0a)),
    ]);
    const numberBase = base === undefined ? 0n : bytesToUint64(base);
    return { ...(params === undefined ? {} : { params }), numberBase };
  }),
];

async function allGroups(state: ProvenState, id: DeploymentKey): Promise<readonly Group[]> {
  const found: Group[] = [];
  for (;;) {
    const first = found.length + 1;
    const numbers = Array.from({ length: GROUPS_AT_ONCE }, (_, i) => first + i);
    const groups = await Promise.all(numbers.map((gseq) => findGroup(state, { owner: id.owner, dseq: id.dseq, gseq })));
    for (const group of groups) {
      if (group === undefined) return found;
      found.push(group);
    }
  }
}

async function findGroup(state: ProvenState, id: GroupKey): Promise<Group | undefined> {
  const [group, groupSpec] = await Promise.all([
    findRecord(state, GroupSchema, { store: STORE, key: recordKey(0x05, groupPart(id)) }),
    findSpec(state, id),
  ]);
  if (group === undefined || groupSpec === undefined) return undefined;
  return { ...group, groupSpec };
}

/** The requirements of a group, which are stored once for the group and its orders. */
export function findSpec(state: ProvenState, id: GroupKey): Promise<GroupSpec | undefined> {
  return findRecord(state, GroupSpecSchema, { store: STORE, key: recordKey(0x06, groupPart(id)) });
}

export function findAccount(state: ProvenState, id: AccountKey): Promise<Account | undefined> {
  return findRecord(state, AccountSchema, { store: "escrow", key: recordKey(0x01, escrowPart(id)) });
}
