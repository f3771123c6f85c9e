import type { Scope } from '../../../shared/access/scopes.ts';
import { hashOfSecret, type StoredKey, secretOf, serviceKeyShape } from '../../../shared/access/service-key.ts';
import { iso, type Now } from '../../../shared/core/time.ts';
import { newMember, newOrganization } from '../../../shared/organizations/organization.ts';
import { insertSteps } from '../../../shared/organizations/organization-store.ts';
import { openTable } from '../../../shared/platform/table.ts';
import { recordItem } from '../../../shared/platform/versioned-record.ts';
import type { Database } from '../dynamodb/database.ts';

/** The organization of the demo sessions. */
const DEMO = { organization: 'org_demo', owner: 'user_demo_owner', member: 'user_demo_member' } as const;

/** The last part of both demo secrets. They are public, so they only give access to local hosts. */
const DEMO_LAST = 'local-demo-key-local-demo-key-local-demo-ke';

interface DemoKey extends Pick<StoredKey, 'id' | 'name'> {
  readonly scopes: readonly Scope[];
}

/** The key of the demo shop's backend. */
const BACKEND: DemoKey = {
  id: 'key_de30de30de30de30de30de30',
  name: 'demo backend',
  scopes: [
    ...(['payments:read', 'payments:write', 'methods:write', 'subscriptions:write'] as const),
    ...(['payments:capture', 'refunds:write'] as const),
  ],
};

/** payctl's key for the API of a local host. */
const OPERATOR: DemoKey = {
  id: 'key_de40de40de40de40de40de40',
  name: 'demo operator',
  scopes: [
    ...(['payments:read', 'subscriptions:read', 'subscriptions:write'] as const),
    ...(['payments:operate', 'payments:capture', 'refunds:write', 'webhooks:read', 'imports:write'] as const),
  ],
};

export const DEMO_KEY_SECRET = secretOf(BACKEND.id, DEMO_LAST);
export const DEMO_OPERATOR_SECRET = secretOf(OPERATOR.id, DEMO_LAST);

const storedKey = ({ scopes, ...named }: DemoKey, at: string): StoredKey => ({
  ...named,
  version: 1,
  scopes: [...scopes],
  allowedIps: [],
  createdBy: 'user_demo_admin',
  createdAt: at,
  updatedAt: at,
  secrets: [{ hash: hashOfSecret(DEMO_LAST) }],
});

/** Creates the demo organization and the demo keys if they are missing. */
export const seedDemo = async (database: Pick<Database, 'connect'>, now: Now): Promise<void> => {
  const table = openTable(database.connect(now), now);
  const at = iso(now());
  const made = newOrganization({ id: DEMO.organization, name: 'Demo organization', ownerUserId: DEMO.owner }, at);
  const member = newMember({ organizationId: made.id, userId: DEMO.member, role: 'member' }, at);
  for (const key of [BACKEND, OPERATOR]) {
    await table.put(recordItem(serviceKeyShape, storedKey(key, at)), [{ absent: true }]);
  }
  await table.transact(insertSteps({ ...made, members: { ...made.members, member: 1 } }, [member]));
};
