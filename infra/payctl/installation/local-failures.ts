import * as z from 'zod';
import { type Control, NotReachable } from './control.ts';
import type { FailedChange, FailureStore } from './failure-store.ts';

const listSchema = z.array(
  z.object({ id: z.string(), trigger: z.string(), failed_at: z.string(), about: z.array(z.string()) }),
);
const redoneSchema = z.object({ reason: z.string().nullable() });

/** Changes that the local host's stream readers gave up on. */
export const localFailures = (control: Control): FailureStore => {
  const known = new Map<string, FailedChange>();
  return {
    ids: async function* () {
      for (const { id, trigger, failed_at, about } of listSchema.parse(await control('GET', '/failures'))) {
        known.set(id, { id, reader: trigger, failedAt: failed_at, about });
      }
      yield* known.keys();
    },
    read: async (id) => {
      const found = known.get(id);
      if (found) return found;
      throw new NotReachable(`${id} no longer exists`);
    },
    redo: async (id) => {
      const answer = await control('POST', `/failures/${encodeURIComponent(id)}/redo`);
      return redoneSchema.parse(answer).reason ?? undefined;
    },
  };
};
