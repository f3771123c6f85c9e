/**
 * @module One use of a discount code by a payment or a subscription. It is reserved in the transaction of the create, and
 * later paid or given back, once each. Only a code with `max_redemptions` writes an item that all its uses share.
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

/** What a record keeps of its redemption. */
export const redemptionFields = {
  /** Names the redemption, `rdm_…`. */
  redemption: z.string().optional(),
  /** Who uses the code. Of a guest a hash, which is a person field. */
  payer: z.string().optional(),
  /** Set if the code has `max_redemptions`. */
  isCounted: z.literal(true).optional(),
};
const redemptionSchema = z.lazy(() => z.object({ code: z.string(), ...redemptionFields }));
type RedemptionFields = z.infer<typeof redemptionSchema>;

export type Redemption = RedemptionFields & { readonly redemption: string };

/** The payer of a use, which is the paying organization, the user, or a hash of the guest's address without `+…`. */
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

/** A code with its counter and the payer's uses. All are read, whether the code exists or not. */
const codeKeys = (code: string, payer: string): readonly Key[] => [
  discountKey(code),
  discountCountKey(code),
  discountUseKey(code, payer),
];

/** The same for the owner and the body of a create. Without a code nothing is read. */
export const codeKeysOf = (owner: Owner, code: string | null | undefined): readonly Key[] =>
  code ? codeKeys(canonicalCode(code), payerOfDiscount(owner)) : [];

export interface ReadCode {
  readonly discount: Discount | undefined;
  readonly uses: CodeUses;
}

const useSchema = z.object({ count: z.int().default(0) });

/** @param items those of `codeKeys` */
export const codeOf = ([discount, counter, use]: readonly (Item | undefined)[]): ReadCode => ({
  discount: discount && discountRecordSchema.parse(discount),
  uses: { taken: discountCountOf(counter).taken, used: useSchema.parse(use ?? {}).count },
});

export const readCode = async (table: Table, code: string, payer: string): Promise<ReadCode> =>
  codeOf(await table.getMany(codeKeys(code, payer), { consistent: true }));

const isBelow = (name: string, most: number | null | undefined) =>
  most === null || most === undefined ? [] : [{ any: [{ lacks: name }, { below: [name, most] as const }] }];

/** The steps that reserve a use, beside the record that holds it. */
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

/** An erasure may have removed the item, which then stays removed. */
const usesOf = ({ code, payer }: Redemption, by: 1 | -1): readonly TransactionStep[] =>
  payer === undefined
    ? []
    : [{ update: discountUseKey(code, payer), changes: { add: { count: by } }, if: [{ exists: true }] }];

const countOf = ({ code, isCounted }: Redemption, add: Readonly<Record<string, number>>): readonly TransactionStep[] =>
  isCounted ? [{ update: discountCountKey(code), changes: { add } }] : [];

/** The steps that give a reserved use back. The first fails if the redemption is paid or given back already. */
export const giveBackSteps = (held: Redemption): readonly TransactionStep[] => [
  { put: { ...redemptionKey(held.redemption), state: 'given back' }, if: [{ absent: true }] },
  ...usesOf(held, -1),
  ...countOf(held, { taken: -1 }),
];

/** Releases a reserved use once. A paid use stays taken. */
export const giveBackUse = (table: Table, held: Redemption): Promise<void> => settle(table, held, giveBackSteps);

/** An erasure may have removed the payer's uses. Only the code's counter changes then. */
const settle = async (
  table: Table,
  held: Redemption,
  stepsOf: (held: Redemption) => readonly TransactionStep[],
): Promise<void> => {
  const written = await table.transact(stepsOf(held));
  if (written.ok || written.failed.includes(0)) return;
  await table.transact(stepsOf({ ...held, payer: undefined }));
};

/** Counts a use as paid once. Money that moved after the use was given back takes the use again, beyond any limit. */
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

/** A use that a create or an update reserves. */
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

/** A new use, with what its record keeps of it. @throws DomainError DISCOUNT_INVALID */
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
/** A condition that fails so often, although the code has room, is another one, such as the caller's right. */
const UNMET_TRIES = 3;
const RETRY_AFTER_SECONDS = 2;

interface Reserving {
  readonly table: Table;
  readonly code: string;
  readonly payer: string;
}

/**
 * Runs a write that includes `reserveSteps`. If only they refuse the write, the code is read again.
 * @throws DomainError DISCOUNT_INVALID exhausted or used; STORAGE_UNAVAILABLE if other creates were always faster
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

/** Returns after a wait, if the write may succeed now. @throws the reason, or the error itself */
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
