import * as z from 'zod';
import { instant, iso, MINUTE } from '../core/time.ts';
import { organizationKey } from '../table/keys.ts';
import { type RemovalDeps, removeSlice } from './children.ts';

/** Longer than a function runs: whoever was let in before the deletion is done by then. */
const LAST_WRITES_MS = MINUTE;
const RETRY_MS = 5 * MINUTE;

const deletedSchema = z.object({
  deletedAt: z.string().optional(),
  createdAt: z.string(),
  requestHash: z.string().optional(),
});

/**
 * Removes what belonged to a deleted organization, a bounded slice at a time, until a pass that began a minute or more
 * after the deletion finds nothing. It may be stopped anywhere and is safe to repeat: the appointment goes last.
 */
export const keepOrganizationAppointment = async (deps: RemovalDeps, organizationId: string): Promise<string> => {
  const key = organizationKey(organizationId);
  const item = await deps.table.get(key);
  if (!item) return 'gone';
  const { deletedAt, createdAt, requestHash } = deletedSchema.parse(item);
  if (deletedAt === undefined) throw new Error('an organization with an appointment that is not deleted');
  const startedAt = deps.now();
  const { removed, failed, more } = await removeSlice(deps, organizationId);
  if (!more && removed === 0 && failed === 0 && instant(deletedAt) + LAST_WRITES_MS <= startedAt) {
    await leaveBehind(deps, organizationId, { deletedAt, createdAt, requestHash });
    return 'removed';
  }
  const wait = more ? 0 : failed > 0 ? RETRY_MS : LAST_WRITES_MS;
  await deps.table.update(key, { set: { due_at: iso(deps.now() + wait) } }, [{ exists: true }, { has: 'deletedAt' }]);
  return failed > 0 ? 'some could not be removed' : 'goes on';
};

/** An id that follows from an Idempotency-Key must never come back: who knows the key would see the old payments. */
const leaveBehind = async (
  { table }: RemovalDeps,
  id: string,
  { requestHash, ...deleted }: z.infer<typeof deletedSchema>,
): Promise<void> => {
  const key = organizationKey(id);
  const guard = [{ exists: true }, { has: 'deletedAt' }] as const;
  if (requestHash === undefined) await table.remove(key, guard);
  else await table.put({ ...key, id, ...deleted, requestHash }, guard);
};
