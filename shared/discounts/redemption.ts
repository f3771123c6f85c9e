/**
 * @module A redemption is one use of a discount code by a payment or a subscription. The create's transaction reserves
 * it. Later it is paid or given back, each at most once. A late payment takes a given-back use again. Uses share a
 * counter item only if the code has `max_redemptions`.
 */

import * as z from 'zod';
import {
  canonicalCode,
  type Discount,
  discountCountOf,
  discountKey,
  discountRecordSchema,
} from '../catalog/discount.ts';
import { DomainError } from '../core/errors.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { comparableText } from '../core/text.ts';
import type { Now } from '../core/time.ts';
import { discountCountKey, discountUseKey, emailHash, type Key, type Owner, redemptionKey } from '../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import { waitForAttempt } from '../platform/waits.ts';
import { type CodeUses, discountInvalid, exhaustionOf, fittingTerms } from './discount-terms.ts';

/** The redemption fields of a payment or subscription. */
export const redemptionFields = {
  /** The redemption's id, `rdm_…`. */
  redemption: z.string().optional(),
  /** The payer; for a guest a hash, which is personal data. */
  payer: z.string().optional(),
  /** Set if the code has `max_redemptions`. */
  isCounted: z.literal(true).optional(),
};
const redemptionSchema = z.lazy(() => z.object({ code: z.string(), ...redemptionFields }));
type RedemptionFields = z.infer<typeof redemptionSchema>;

export type Redemption = RedemptionFields & { readonly redemption: string };

/** The payer's key: the paying organization, the user, or a hash of the guest's e-mail address without its `+…` tag. */
export const payerOfDiscount = (owner: Owner): string => {
  switch (owner.kind) {
    case 'organization':
      return `ORG#${owner.organizationId}`;
    case 'user':
      return `USER#${owner.userId}`;
    case 'guest':
      return guestPayer(owner.email);
  }
};

export const guestPayer = (email: string): string => `GUEST#${emailHash(withoutTag(comparableText(email)))}`;

const withoutTag = (email: string): string => {
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  const plus = local.indexOf('+');
  return plus > 0 ? `${local.slice(0, plus)}${email.slice(at)}` : email;
};

/** The keys of a code, of its counter and of the payer's uses, always read together. */
const codeKeys = (code: string, payer: string): readonly Key[] => [
  discountKey(code),
  discountCountKey(code),
  discountUseKey(code, payer),
];

/** The keys for the owner and the code of a create; empty without a code. */
export const codeKeysOf = (owner: Owner, code: string | null | undefined): readonly Key[] =>
  code ? codeKeys(canonicalCode(code), payerOfDiscount(owner)) : [];

export interface ReadCode {
  readonly discount: Discount | undefined;
  readonly uses: CodeUses;
}

const useSchema = z.object({ count: z.int().default(0) });

/** @param items the items of the keys from `codeKeys` */
export const codeOf = ([discount, counter, use]: readonly (Item | undefined)[]): ReadCode => ({
  discount: discount && discountRecordSchema.parse(discount),
  uses: { taken: discountCountOf(counter).taken, used: useSchema.parse(use ?? {}).count },
});

export const readCode = async (table: Table, code: string, payer: string): Promise<ReadCode> =>
  codeOf(await table.getMany(codeKeys(code, payer), { consistent: true }));

const isBelow = (name: string, most: number | null | undefined) =>
  most === null || most === undefined ? [] : [{ any: [{ lacks: name }, { below: [name, most] as const }] }];

/** The write steps that reserve a use, for the transaction that stores its record. */
const reserveSteps = (
  { max_redemptions: most, max_per_payer: mostPerPayer }: Discount,
  { code, payer }: { readonly code: string; readonly payer: string },
): readonly TransactionStep[] => [
  {
    update: discountUseKey(code, payer),
    changes: { add: { count: 1 } },
    if: isBelow('count', mostPerPayer),
  },
  ...(typeof most === 'number'
    ? [{ update: discountCountKey(code), changes: { add: { taken: 1 } }, if: isBelow('taken', most) }]
    : []),
];

/** Changes the payer's count, unless an erasure has removed it. */
const usesOf = ({ code, payer }: Redemption, by: 1 | -1): readonly TransactionStep[] =>
  payer === undefined
    ? []
    : [{ update: discountUseKey(code, payer), changes: { add: { count: by } }, if: [{ exists: true }] }];

const countOf = ({ code, isCounted }: Redemption, add: Readonly<Record<string, number>>): readonly TransactionStep[] =>
  isCounted ? [{ update: discountCountKey(code), changes: { add } }] : [];

/** The write steps that give a reserved use back. The first fails if the redemption was already paid or given back. */
export const giveBackSteps = (held: Redemption): readonly TransactionStep[] => [
  { put: { ...redemptionKey(held.redemption), state: 'given back' }, if: [{ absent: true }] },
  ...usesOf(held, -1),
  ...countOf(held, { taken: -1 }),
];

/** Releases a reserved use once. A paid use stays taken. */
export const giveBackUse = (table: Table, held: Redemption): Promise<void> => settle(table, held, giveBackSteps);

/** Runs the steps. If an erasure has removed the payer's uses, only the code's counter changes. */
const settle = async (
  table: Table,
  held: Redemption,
  stepsOf: (held: Redemption) => readonly TransactionStep[],
): Promise<void> => {
  const written = await table.transact(stepsOf(held));
  if (written.ok || written.failed.includes(0)) return;
  await table.transact(stepsOf({ ...held, payer: undefined }));
};

/** Counts a use as paid, once. A late payment takes a given-back use again, even beyond a limit. */
export const redeem = async (table: Table, held: Redemption): Promise<void> => {
  const paid = { ...redemptionKey(held.redemption), state: 'redeemed' };
  const first = await table.transact([{ put: paid, if: [{ absent: true }] }, ...countOf(held, { redeemed: 1 })]);
  if (first.ok || first.found[0]?.['state'] !== 'given back') return;
  await settle(table, held, (one) => [
    { put: paid, if: [{ equals: ['state', 'given back'] }] },
    ...usesOf(one, 1),
    ...countOf(one, { taken: 1, redeemed: 1 }),
  ]);
};

/** A use to reserve with a create or an update. */
export interface NewUse {
  readonly code: string;
  readonly payer: string;
  readonly steps: readonly TransactionStep[];
}

interface Bought {
  readonly payer: string;
  readonly productId: string | undefined;
  readonly currency: string;
}

/** A new use, with the redemption fields for its record. @throws DomainError DISCOUNT_INVALID */
export const newUse = (
  { newId, now }: Pick<IdDeps, 'newId'> & { readonly now: Now },
  { discount: found, uses }: ReadCode,
  { payer, productId, currency }: Bought,
) => {
  const { discount, terms } = fittingTerms(found, { productId, currency, now: now() }, uses);
  const isCounted = typeof discount.max_redemptions === 'number';
  const redemption = { payer, redemption: newId('redemption'), ...(isCounted && { isCounted: true as const }) };
  const { code } = terms;
  const reserving: NewUse = { code, payer, steps: reserveSteps(discount, { code, payer }) };
  const isLimited = isCounted || typeof discount.max_per_payer === 'number';
  return { discount, terms, redemption, isLimited, reserving };
};

const CONFLICT_WAITS = { attempts: 12, firstMs: 50 };
/**
 * If the write fails this often although the code has room, another condition must be the cause, such as the caller's
 * right.
 */
const UNMET_TRIES = 3;
const RETRY_AFTER_SECONDS = 2;

interface Reserving {
  readonly table: Table;
  readonly code: string;
  readonly payer: string;
}

/**
 * Runs a write that includes `reserveSteps`, and retries it after a conflict while the code still has room.
 * @throws DomainError DISCOUNT_INVALID exhausted or used; STORAGE_UNAVAILABLE after too many conflicts
 */
export const reserving = async <T>(use: Reserving, write: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      await requireRoom(use, error, tries);
    }
  }
};

/** Waits, then returns if a retry may succeed. @throws why the code is refused, or the write's own error */
const requireRoom = async ({ table, code, payer }: Reserving, error: unknown, tries: number): Promise<void> => {
  if (!(error instanceof DomainError && error.code === 'VERSION_CONFLICT')) throw error;
  const { discount, uses } = await readCode(table, code, payer);
  const reason = discount && exhaustionOf(discount, uses);
  if (reason) throw discountInvalid(reason);
  if (error.cause === undefined && tries >= UNMET_TRIES) throw error;
  if (await waitForAttempt(tries, CONFLICT_WAITS)) return;
  throw new DomainError('STORAGE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
};

export const isRedemption = <R extends RedemptionFields>(record: R | undefined): record is R & Redemption =>
  record?.redemption !== undefined;
