import type { Person } from '../model/history.ts';

/** The cast of every run has few people, so that their records meet often. */
const user = (name: string): Person => ({
  name,
  kind: 'user',
  email: `${name}@shop.example.com`,
  userId: `user_${name}`,
});
const guest = (name: string): Person => ({ name, kind: 'guest', email: `${name}@guest.example.com`, userId: '' });

export const ADA = user('ada');
export const BEN = user('ben');
const CLEO = user('cleo');
const DAN = user('dan');
/** Belongs to no organization at first, and tries what is not hers. */
const EVE = user('eve');
export const ROOT: Person = { ...user('root'), kind: 'admin' };
export const GUS = guest('gus');
const GIA = guest('gia');

export const USERS: readonly Person[] = [ADA, BEN, CLEO, DAN, EVE];
export const GUESTS: readonly Person[] = [GUS, GIA];
export const PEOPLE: readonly Person[] = [...USERS, ROOT, ...GUESTS];

export const WORLD_PROVIDERS = ['provider_a', 'provider_b', 'provider_c'] as const;
export type WorldProvider = (typeof WORLD_PROVIDERS)[number];

/** Sells `course`, and belongs to Ada. */
export const PROJECT = 'proj_ada';
/** Reference records that the platform admin writes before the first operation. */
export const TIERS = { gold: 'tier_gold' } as const;
export const PRODUCTS = {
  /** Monthly, links to a membership. */
  monthly: { id: 'prod_monthly', total_cents: 1_900, billing_interval: 'monthly', trial_days: 0 },
  trial: { id: 'prod_trial', total_cents: 2_900, billing_interval: 'monthly', trial_days: 5 },
  weekly: { id: 'prod_weekly', total_cents: 500, billing_interval: 'weekly', trial_days: 0 },
  course: { id: 'prod_course', total_cents: 1_200, billing_interval: 'monthly', trial_days: 0, project_id: PROJECT },
} as const;
