import * as z from 'zod';
import { idSchema } from '../http/fields.ts';
import { offsetQuery } from '../http/paging.ts';
import { ENTITY_TYPES } from '../table/keys.ts';

/** An entity's memberships; without one, the caller's own. */
export const listMembershipsQuery = z
  .object({ ...offsetQuery, entity_type: z.enum(ENTITY_TYPES).default('user'), entity_id: idSchema.optional() })
  .refine(({ entity_type, entity_id }) => entity_type === 'user' || entity_id !== undefined, {
    path: ['entity_id'],
    message: 'is required',
    params: { rule: 'required' },
  });
export type ListMembershipsQuery = z.output<typeof listMembershipsQuery>;
