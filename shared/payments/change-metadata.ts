/**
 * @module Changes the metadata of a final payment, for the merchant only. Nothing is sent to the provider. Refuses an
 * erased payment, because a later erasure would not find the new metadata.
 */

import * as z from 'zod';
import { audienceOf } from '../access/audience.ts';
import { merchantScopeOn } from '../access/caller.ts';
import { requireOthersPayment } from '../access/own-payment.ts';
import { underRight } from '../access/right.ts';
import { scopesOfRoute } from '../access/scopes.ts';
import { DomainError } from '../core/errors.ts';
import type { Now } from '../core/time.ts';
import { metadataSchema } from '../http/fields.ts';
import { canonicalJson } from '../http/idempotency.ts';
import { metadataModeField, nextMetadata } from '../http/metadata.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Table } from '../platform/table.ts';
import type { VisiblePayment } from './payment.ts';
import { versionAfter } from './payment-fields.ts';
import { isSettled } from './payment-states.ts';
import { paymentStore } from './payment-store.ts';
import { paymentView } from './payment-view.ts';

export const changeMetadataBody = z
  .object({
    metadata: metadataSchema.describe('Your own data, under the limits of the create request.'),
    metadata_mode: metadataModeField,
  })
  .meta({
    id: 'ChangeMetadata',
    description: 'The metadata to merge into the stored metadata, or to replace it with.',
  });
type ChangeMetadataBody = z.output<typeof changeMetadataBody>;

export const CHANGE_METADATA = 'payments.change-metadata';

interface MetadataDeps {
  readonly table: Table;
  readonly now: Now;
}

/** Unchanged metadata creates no version and no event. */
export const changeMetadata = async (
  { table, now }: MetadataDeps,
  { body, caller, record }: ApiRequest<unknown, unknown, ChangeMetadataBody, VisiblePayment>,
): Promise<Reply> => {
  const scope = merchantScopeOn(caller, scopesOfRoute(CHANGE_METADATA));
  if (scope === undefined) throw new Error('the route has no scope of the merchant');
  const right = await requireOthersPayment(table, { caller, record, scope });
  const changed = await underRight(right, async () => {
    const written = await paymentStore(table, now).change(record, (current) => {
      requireFinal(current);
      const metadata = nextMetadata(current, body);
      if (canonicalJson(metadata) === canonicalJson(current.metadata ?? {})) return undefined;
      return { next: { ...current, metadata, ...versionAfter(current, 'metadata', now()) }, onlyIf: right.onlyIf };
    });
    if (written.unmet) throw new DomainError('VERSION_CONFLICT');
    return written;
  });
  return { data: paymentView(changed.record, audienceOf(caller)) };
};

/** @throws DomainError INVALID_STATE if the payment is not final or its payer was erased */
const requireFinal = ({ status, erasedAt }: VisiblePayment): void => {
  if (!isSettled(status)) {
    const message = 'The payment is not final; use PUT /payments/intents/{id}';
    throw new DomainError('INVALID_STATE', { message, details: { status } });
  }
  if (erasedAt === undefined) return;
  throw new DomainError('INVALID_STATE', { message: 'The payer was erased', details: { reason: 'erased' } });
};
