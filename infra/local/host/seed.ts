import { iso, type Now } from '../../../shared/core/time.ts';
import { newMember, newOrganization } from '../../../shared/organizations/organization.ts';
import { insertSteps } from '../../../shared/organizations/organization-store.ts';
import { openTable } from '../../../shared/platform/table.ts';
import type { Database } from '../dynamodb/database.ts';

/** The organization of the demo sessions. */
const DEMO = { organization: 'org_demo', owner: 'user_demo_owner', member: 'user_demo_member' } as const;

/** Creates the demo organization unless it exists. */
export const seedOrganization = async (database: Pick<Database, 'connect'>, now: Now): Promise<void> => {
  const table = openTable(database.connect(now), now);
  const at = iso(now());
  const made = newOrganization({ id: DEMO.organization, name: 'Demo organization', ownerUserId: DEMO.owner }, at);
  const member = newMember({ organizationId: made.id, userId: DEMO.member, role: 'member' }, at);
  await table.transact(insertSteps({ ...made, members: { ...made.members, member: 1 } }, [member]));
};
