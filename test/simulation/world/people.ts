/** @module The people of a run. They are few, so that their records meet often. */
import type { Person } from '../model/history.ts';

const user = (name: string): Person => ({
  name,
  kind: 'user',
  email: `${name}@shop.example.com`,
  userId: `user_${name}`,
});
const guest = (name: string): Person => ({ name, kind: 'guest', email: `${name}@guest.example.com`, userId: '' });

export const ADA = user('ada');
export const BEN = user('ben');
export const CLEO = user('cleo');
export const DAN = user('dan');
/** Eve belongs to no organization at first, and tries the records of others. */
const EVE = user('eve');
export const ROOT: Person = { ...user('root'), kind: 'admin' };
export const FAY: Person = { ...user('fay'), staffRole: 'finance' };
export const OLI: Person = { ...user('oli'), staffRole: 'operations' };
export const GUS = guest('gus');
const GIA = guest('gia');
/** Fay, who pays without a session. */
export const FAY_AS_GUEST: Person = { ...guest('fay-guest'), email: FAY.email };

/** Sam has no records, and tries the guests' records. */
export const STRANGER = guest('sam');

export const USERS: readonly Person[] = [ADA, BEN, CLEO, DAN, EVE];
/** The people of the merchant. In some runs they also pay, and belong to organizations. */
export const MERCHANTS: readonly Person[] = [ROOT, FAY, OLI];
/** Everyone with a session. */
export const ACCOUNTS: readonly Person[] = [...USERS, ...MERCHANTS];
export const GUESTS: readonly Person[] = [GUS, GIA, FAY_AS_GUEST];
export const PEOPLE: readonly Person[] = [...ACCOUNTS, ...GUESTS, STRANGER];

export const WORLD_PROVIDERS = ['provider_a', 'provider_b', 'provider_c'] as const;
export type WorldProvider = (typeof WORLD_PROVIDERS)[number];

/** Ada's project, which sells `course`. */
export const PROJECT = 'proj_ada';
/** Reference records that the platform admin writes before the first operation. */
export const TIERS = { gold: 'tier_gold' } as const;
export const PRODUCTS = {
  /** A monthly product with a membership. */
  monthly: { id: 'prod_monthly', total_cents: 1_900, billing_interval: 'monthly', trial_days: 0 },
  trial: { id: 'prod_trial', total_cents: 2_900, billing_interval: 'monthly', trial_days: 5 },
  weekly: { id: 'prod_weekly', total_cents: 500, billing_interval: 'weekly', trial_days: 0 },
  course: {
    ...{ id: 'prod_course', total_cents: 1_200, subtotal_cents: 1_000, tax_cents: 200 },
    ...{ billing_interval: 'monthly', trial_days: 0, project_id: PROJECT },
  },
} as const;
/** Discount codes, which stay unchanged during a run. People compete for the few uses of the first code. */
export const CODES = [
  { id: 'FEW', percent_bp: 3_333, max_redemptions: 3, duration: 'once' },
  { id: 'TWICE', percent_bp: 5_000, max_redemptions: 40, max_per_payer: 1, duration: 'repeating', duration_periods: 2 },
  { id: 'LASTING', amounts: { USD: 350 }, max_redemptions: 500, duration: 'forever' },
] as const;
/** The number of days before a monthly renewal at which the payer gets a notice. */
export const NOTICE_DAYS = 2;
/** An unknown code. */
const NO_CODE = 'NONE';
/** A code in upper or lower case, and sometimes an unknown code. */
export const CODE_WORDS = [...CODES.map(({ id }) => id), 'few', 'Lasting', NO_CODE] as const;
