/** @module Changes metadata. A request merges its keys into the stored metadata, or replaces the metadata. */

import * as z from 'zod';
import { invalid } from '../core/errors.ts';
import { metadataSchema } from './fields.ts';

export const metadataModeField = /* @__PURE__ */ z
  .enum(['merge', 'replace'])
  .default('merge')
  .describe(
    '`merge` keeps the keys that are not sent, and a null value deletes its key; `replace` stores exactly what is sent.',
  );

export type Metadata = z.output<typeof metadataSchema>;

interface SentMetadata {
  readonly metadata?: Metadata | undefined;
  readonly metadata_mode: 'merge' | 'replace';
}

/** @throws DomainError VALIDATION_ERROR if stored and sent metadata together exceed a limit */
export const nextMetadata = (
  { metadata: stored = {} }: { readonly metadata?: Metadata | undefined },
  { metadata: sent, metadata_mode: mode }: SentMetadata,
): Metadata => {
  if (!sent) return stored;
  return mode === 'replace' ? sent : mergeMetadata(stored, sent);
};

/** A null value deletes its key. */
const mergeMetadata = (stored: Metadata, sent: Metadata): Metadata => {
  const kept = Object.entries({ ...stored, ...sent }).filter(([, value]) => value !== null);
  const checked = metadataSchema.safeParse(Object.fromEntries(kept));
  if (checked.success) return checked.data;
  throw invalid(checked.error.issues.map(({ message }) => ({ path: 'metadata', rule: 'too_big', message })));
};
