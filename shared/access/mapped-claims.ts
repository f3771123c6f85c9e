/** @module Reads a user's fields from the claims of a bearer token, as the setting IDENTITY_CLAIMS maps them. */

import type { ClaimSource, ClaimSources } from '../core/setting.ts';
import { STAFF_ROLES } from './scopes.ts';

/** Sets each mapped field from its source. A mapped field ignores the claim with its own name. */
export const mappedClaims = (claims: unknown, sources: ClaimSources): unknown => {
  if (!isObject(claims)) return claims;
  const read = Object.entries(sources).map(([field, source]) => [field, valueFrom(claims, source)]);
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(read);
  return {
    ...claims,
    ...fields,
    ...(Array.isArray(fields['staff_role']) && { staff_role: roleIn(fields['staff_role']) }),
  };
};

/** The staff role in a list, such as a user's groups. If the list has several, the first in STAFF_ROLES counts. */
const roleIn = (words: readonly unknown[]): string | undefined => STAFF_ROLES.find((role) => words.includes(role));

const valueFrom = (claims: object, { claim, word }: ClaimSource): unknown => {
  const value = claimAt(claims, claim);
  if (word === undefined) return value;
  return Array.isArray(value) ? value.includes(word) : value === word;
};

/** The claim with exactly this name, else the claim at this dotted path. */
const claimAt = (claims: unknown, name: string): unknown => {
  if (!isObject(claims)) return undefined;
  if (Object.hasOwn(claims, name)) return claims[name];
  const dot = name.indexOf('.');
  const first = name.slice(0, dot);
  return dot > 0 && Object.hasOwn(claims, first) ? claimAt(claims[first], name.slice(dot + 1)) : undefined;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
