/** @module The claims of bearer tokens from which the fields of a user are read (the setting IDENTITY_CLAIMS). */

import { checked, listSetting, mapped, type Setting } from './setting.ts';

const CLAIM_FIELDS = ['email', 'organization_id', 'is_admin', 'staff_role'] as const;
type ClaimField = (typeof CLAIM_FIELDS)[number];

export interface ClaimSource {
  /** The claim's name, or a path with dots. */
  readonly claim: string;
  /** Of `is_admin` only: the claim must be this word, or a list that holds it. */
  readonly word?: string | undefined;
}
/** A field without a source is read from the claim of its own name. */
export type ClaimSources = Readonly<Partial<Record<ClaimField, ClaimSource>>>;

interface ReadPart extends ClaimSource {
  readonly field: string;
}

const readPart = (part: string): ReadPart => {
  const [field = '', ...after] = part.split('=');
  const text = after.join('=').trim();
  const at = text.lastIndexOf('~');
  return at < 0
    ? { field: field.trim(), claim: text }
    : { field: field.trim(), claim: text.slice(0, at), word: text.slice(at + 1) };
};

const areRight = (parts: readonly ReadPart[]): boolean =>
  new Set(parts.map(({ field }) => field)).size === parts.length &&
  parts.every(
    ({ field, claim, word }) =>
      CLAIM_FIELDS.some((known) => known === field) &&
      claim !== '' &&
      (word === undefined || (word !== '' && field === 'is_admin')),
  );

/** Pairs such as `is_admin=cognito:groups~admins,email=mail`, separated by commas. */
export const claimsSetting = (): Setting<ClaimSources> =>
  mapped(
    checked(
      mapped(listSetting(), (parts) => parts.map(readPart)),
      areRight,
      `must be pairs <field>=<claim>, each field once, of ${CLAIM_FIELDS.join(', ')}; is_admin=<claim>~<word>`,
    ),
    (parts) => Object.fromEntries(parts.map(({ field, ...source }) => [field, source])),
  );
