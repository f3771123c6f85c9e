import { expect } from 'vitest';
import { confirm, createIntent, read, type User } from './flow.ts';
import type { ParsedJson, TestHost } from './host.ts';

/** A payment of 25.00 USD whose amount is held, as its payer reads it. */
export const heldPayment = async (
  service: TestHost,
  payer: User,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ParsedJson> => {
  const terms = { capture_method: 'manual', payment_method_id: 'pm_card_visa', ...fields };
  const { id } = await createIntent(service, payer, terms);
  const { status, body } = await confirm(service, id, payer.options);
  expect({ status, body }).toMatchObject({ status: 200, body: { status: 'requires_capture' } });
  return read(service, id, payer.options);
};
