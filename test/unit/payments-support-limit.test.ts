import { describe, expect, test } from 'vitest';
import type { Caller } from '../../shared/access/caller.ts';
import { refundLimitsOf } from '../../shared/access/refund-limits.ts';
import { STAFF_ROLES } from '../../shared/access/scopes.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { createRefund } from '../../shared/payments/refund-payment.ts';
import { apiRequest, guest, session } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON, payment } from '../builders/payment.ts';

/** Support may refund up to a sum per payment and currency. Other roles have no limit. */
const LIMITS = { USD: 1_000, EUR: 500 };
const staff = (staffRole: (typeof STAFF_ROLES)[number], isAdmin = false): Caller =>
  session({ userId: 'user_staff', email: 'staff@example.com', staffRole, isAdmin });

describe('refundLimitsOf', () => {
  test.each(STAFF_ROLES)('limits only support, and no admin: %s', (role) => {
    expect(refundLimitsOf(staff(role), LIMITS)).toBe(role === 'support' ? LIMITS : undefined);
    expect(refundLimitsOf(staff(role, true), LIMITS)).toBeUndefined();
  });

  test('gives no limit to callers without a role', () => {
    const key = { id: 'key_1', scopes: ['refunds:write'], holders: ['user_1'] } as const;
    for (const caller of [session(), guest(), { kind: 'key', key } as const]) {
      expect(refundLimitsOf(caller, LIMITS)).toBeUndefined();
    }
  });
});

/** The service asks the provider only after its check of the limit, so this error shows that the limit permits it. */
const REACHED = 'the limit permits it';

/** @returns the reason of the refusal */
const refusalOf = async (caller: Caller, fields: Partial<VisiblePayment>, amount: number): Promise<string> => {
  const { table } = memoryTable({ now: () => NOON });
  const reached = (): never => {
    throw new Error(REACHED);
  };
  const provider = { slot: 'provider_a', refunds: {}, checkAmount: reached };
  const deps = {
    ...{ table, now: () => NOON, newId: () => 'ref_1', supportRefundLimits: LIMITS },
    providers: { require: async () => provider },
  };
  const record = payment({ status: 'succeeded', totalCents: 5_000, ...fields });
  const request = apiRequest({ caller, record, body: { amount_cents: amount } });
  const refused = await createRefund(
    deps as unknown as Parameters<typeof createRefund>[0],
    request as unknown as Parameters<typeof createRefund>[1],
  ).catch((error: unknown) => error);
  const { message, code } = refused as { readonly message: string; readonly code?: string };
  return code ?? message;
};

describe('a refund by support', () => {
  test.each<[string, Partial<VisiblePayment>, number]>([
    ['without other refunds', {}, 1_000],
    ['after other refunds', { refundedCents: 400 }, 600],
    ['beside a refund that is under way', { refundingCents: 400 }, 600],
    ['after and beside other refunds', { refundedCents: 300, refundingCents: 300 }, 400],
    ['in a currency with a limit of its own', { currency: 'EUR' }, 500],
    ['in a currency that has no limit, and so no refunds', { currency: 'GBP' }, 0],
  ])('is refused only beyond the limit of its payment: %s', async (_, fields, most) => {
    if (most > 0) expect(await refusalOf(staff('support'), fields, most)).toBe(REACHED);
    expect(await refusalOf(staff('support'), fields, most + 1)).toBe('INSUFFICIENT_PERMISSIONS');
    expect(await refusalOf(staff('finance'), fields, most + 1)).toBe(REACHED);
  });
});
