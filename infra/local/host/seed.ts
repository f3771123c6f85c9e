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

/** A key of every local host. Its secret is public, so it is worth nothing elsewhere. */
const DEMO_KEY = 'key_de30de30de30de30de30de30';
const DEMO_KEY_LAST = 'local-demo-key-local-demo-key-local-demo-ke';
export const DEMO_KEY_SECRET = secretOf(DEMO_KEY, DEMO_KEY_LAST);
const DEMO_KEY_SCOPES: readonly Scope[] = [
  'payments:read',
  'payments:write',
  'methods:write',
  'subscriptions:write',
  'payments:capture',
  'refunds:write',
];

const demoKey = (at: string): StoredKey => ({
  id: DEMO_KEY,
  version: 1,
  name: 'demo backend',
  scopes: [...DEMO_KEY_SCOPES],
  allowedIps: [],
  createdBy: 'user_demo_admin',
  createdAt: at,
  updatedAt: at,
  secrets: [{ hash: hashOfSecret(DEMO_KEY_LAST) }],
});

/** Creates the demo organization and the demo key unless they exist. */
export const seedDemo = async (database: Pick<Database, 'connect'>, now: Now): Promise<void> => {
  const table = openTable(database.connect(now), now);
  const at = iso(now());
  const made = newOrganization({ id: DEMO.organization, name: 'Demo organization', ownerUserId: DEMO.owner }, at);
  const member = newMember({ organizationId: made.id, userId: DEMO.member, role: 'member' }, at);
  await table.put(recordItem(serviceKeyShape, demoKey(at)), [{ absent: true }]);
  await table.transact(insertSteps({ ...made, members: { ...made.members, member: 1 } }, [member]));
};
