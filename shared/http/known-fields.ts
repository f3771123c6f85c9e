/**
 * @module Refuses unknown fields of a body and names the nearest known field. If a misspelt field counted as absent, a
 * request could mean something else, such as a full refund instead of a partial refund.
 */

import * as z from 'zod';
import { holdsCardNumber } from '../core/card-number.ts';
import { MAX_PROBLEMS, type Problem } from '../core/errors.ts';
import { rowOf } from '../core/rows.ts';
import { innerOf, type Schema } from './parse.ts';

interface KnownFields {
  /** Known fields outside the schema, such as read-only fields of an update. */
  isAlsoKnown(name: string, value: unknown): boolean;
}

/** Returns one problem per unknown field, at every depth. Free objects, such as metadata, accept every field. */
export const unknownFields = (
  schema: Schema,
  json: unknown,
  { isAlsoKnown }: KnownFields = { isAlsoKnown: () => false },
): readonly Problem[] => {
  const problems: Problem[] = [];
  const visit = (inner: Schema, value: unknown, path: string): void => {
    if (problems.length >= MAX_PROBLEMS || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) visitList(inner, value, path);
    else if (inner instanceof z.ZodObject && inner._zod.def.catchall === undefined) visitFields(inner, value, path);
  };
  const visitList = (inner: Schema, list: readonly unknown[], path: string): void => {
    if (!(inner instanceof z.ZodArray)) return;
    const element = innerOf(inner._zod.def.element);
    for (const [at, value] of list.entries()) visit(element, value, pathOf(path, String(at)));
  };
  const visitFields = ({ _zod: { def } }: z.ZodObject, body: object, path: string): void => {
    for (const [name, value] of Object.entries(body)) {
      const field = rowOf(def.shape, name);
      if (field) visit(innerOf(field), value, pathOf(path, name));
      else if (path !== '' || !isAlsoKnown(name, value))
        problems.push(unknownField(path, name, Object.keys(def.shape)));
      if (problems.length >= MAX_PROBLEMS) return;
    }
  };
  visit(innerOf(schema), json, '');
  return problems;
};

/** The top-level names of a schema of an object. */
export const namesOf = (schema: Schema): readonly string[] => {
  const inner = innerOf(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner._zod.def.shape) : [];
};

const pathOf = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const LONGEST_NAME = 64;

/** The path omits a name that contains a card number. */
const unknownField = (path: string, name: string, known: readonly string[]): Problem => {
  const isShort = name.length <= LONGEST_NAME;
  const nearest = isShort ? nearestField(name, known) : undefined;
  return {
    path: isShort && !holdsCardNumber(name) ? pathOf(path, name) : path,
    rule: 'unknown_field',
    message: nearest === undefined ? 'is not a known field' : `is not a known field; did you mean ${nearest}?`,
  };
};

/** The known field probably meant by a name; undefined if no known field is similar. */
export const nearestField = (name: string, known: readonly string[]): string | undefined => {
  const plain = plainName(name);
  const written = known.find((one) => plainName(one) === plain);
  const vendors = Object.entries(VENDORS_NAMES).find(([its]) => plainName(its) === plain)?.[1] ?? [];
  const suffixed = known.find((one) => plainName(one) === `${plain}cents` || plainName(one) === `${plain}id`);
  return (
    written ??
    vendors.find((one) => known.includes(one)) ??
    suffixed ??
    nearestSpelling(plain, known) ??
    wholeOf(plain, known)
  );
};

const LEAST_PART = 4;

/** The only known field that begins or ends with the name, such as `is_default` for `default`. */
const wholeOf = (plain: string, known: readonly string[]): string | undefined => {
  const longer = known.filter((one) => plainName(one).startsWith(plain) || plainName(one).endsWith(plain));
  return plain.length >= LEAST_PART && longer.length === 1 ? longer[0] : undefined;
};

/** The name without case, underscores and hyphens. */
const plainName = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** Field names of Stripe, PayPal, Square and common forms, with our names. */
const VENDORS_NAMES: Readonly<Record<string, readonly string[]>> = {
  amount: ['amount_cents', 'total_cents'],
  amount_money: ['amount_cents', 'total_cents'],
  amount_to_capture: ['amount_cents', 'total_cents'],
  capture: ['capture_method'],
  coupon: ['discount_code'],
  coupon_code: ['discount_code'],
  promo_code: ['discount_code'],
  promotion_code: ['discount_code'],
  customer: ['customer_id'],
  source: ['payment_method_id', 'provider_payment_method_token'],
  source_id: ['payment_method_id', 'provider_payment_method_token'],
  payment_method: ['payment_method_id', 'provider_payment_method_token'],
  default_payment_method: ['payment_method_id'],
  token: ['provider_payment_method_token', 'payment_method_id'],
  trial_period_days: ['trial_days'],
  price: ['product_id', 'total_cents'],
  plan: ['product_id'],
  plan_id: ['product_id'],
  plan_variation_id: ['product_id'],
  proration_behavior: ['proration'],
  proration_date: ['proration_at'],
  interval: ['billing_interval'],
  interval_count: ['interval_multiplier'],
  reference_id: ['reference_code'],
  custom_id: ['reference_code'],
  note: ['description'],
  zip: ['postal_code'],
  street: ['line1'],
};

/**
 * The known field with the nearest spelling. A name of up to 7 characters may differ by one edit, and a longer name by
 * two.
 */
const nearestSpelling = (plain: string, known: readonly string[]): string | undefined => {
  const most = plain.length < 8 ? 1 : 2;
  const near = known
    .map((one) => ({ one, edits: editsBetween(plain, plainName(one), most) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.one;
};

/** The Levenshtein distance. Texts whose lengths differ by more than `most` are not compared. */
const editsBetween = (from: string, to: string, most: number): number => {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (let other = 0; other < to.length; other += 1) {
      const replaced = (row[other] ?? 0) + (to[other] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};
