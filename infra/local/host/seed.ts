import { iso, type Now } from '../../../shared/core/time.ts';
import { newMember, newOrganization } from '../../../shared/organizations/organization.ts';
import { insertSteps } from '../../../shared/organizations/store.ts';
import { openTable } from '../../../shared/table/table.ts';
import { localCredentials } from '../dynamodb/database.ts';
import { REGION } from '../machine/environment.ts';

/** The organization of the demo sessions. */
const DEMO = { organization: 'org_demo', owner: 'user_demo_owner', member: 'user_demo_member' } as const;

/** Creates the demo organization unless it exists. */
export const seedOrganization = async (options: {
  readonly endpoint: string;
  readonly tableName: string;
  readonly now: Now;
}): Promise<void> => {
  const { endpoint, tableName, now } = options;
  const table = openTable({ endpoint, region: REGION, credentials: localCredentials }, tableName, now);
  const at = iso(now());
  const made = newOrganization({ id: DEMO.organization, name: 'Demo organization', ownerUserId: DEMO.owner }, at);
  const member = newMember({ organizationId: made.id, userId: DEMO.member, role: 'member' }, at);
  await table.transact(insertSteps({ ...made, members: { ...made.members, member: 1 } }, [member]));
};
