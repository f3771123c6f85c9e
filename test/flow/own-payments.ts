import { expect } from 'vitest';
import { intentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, signIn, type User } from './flow.ts';
import { AT_STRIPE, manualBody } from './holders.ts';
import type { RequestOptions, TestAnswer, TestHost } from './host.ts';
import { asMerchant, createKey, newAdmin } from './keys.ts';
import { addMember, newOrganization } from './organization-steps.ts';
import { plan } from './plan-changes.ts';

/** Steps of tests about merchants who decide on their own payments; a refused step fails the test. */
type Fields = Readonly<Record<string, unknown>>;

export const DECIDERS = [
  ...(['finance', 'operations', 'support', 'platform admin'] as const),
  ...(['own key', 'another’s key'] as const),
] as const;
export type DecidingParty = (typeof DECIDERS)[number];

/** The payer, relative to the deciding person or to the creator of the deciding key. */
export const PAYING = [
  ...(['the person', 'the person as a guest', 'an organization of the person'] as const),
  ...(['an organization with the person as a member', 'another person'] as const),
] as const;
export type PayingParty = (typeof PAYING)[number];

export interface DecidingPerson extends User {
  readonly email: string;
}

let people = 0;

/** Signs in a person. The e-mail address has capitals, because a guest's address is compared without case. */
export const newDecider = async (service: TestHost, fields: Fields = {}): Promise<DecidingPerson> => {
  people += 1;
  const email = `DecidingParty.${people}@Example.com`;
  return { ...(await signIn(service, { email, expires_in: YEAR_SECONDS, ...fields })), email };
};

const made = async (answer: Promise<TestAnswer>) => {
  const { status, body } = await answer;
  expect({ isMade: status === 200 || status === 201, body }).toEqual({ isMade: true, body });
  return body;
};

/** A paying caller, and the owner fields of the caller's records. */
interface PayingCaller {
  readonly options: RequestOptions;
  readonly fields: Fields;
}

const payerOf = async (service: TestHost, person: DecidingPerson, payer: PayingParty): Promise<PayingCaller> => {
  if (payer === 'the person') return { options: person.options, fields: {} };
  if (payer === 'the person as a guest') {
    return { options: {}, fields: { guest_data: { email: person.email.toLowerCase(), name: 'Gina' } } };
  }
  const other = await newDecider(service);
  if (payer === 'another person') return { options: other.options, fields: {} };
  const isOwned = payer === 'an organization of the person';
  const [owner, member] = isOwned ? [person, other] : [other, person];
  const organization_id = await newOrganization(service, owner);
  const role = isOwned ? 'admin' : 'member';
  await addMember(service, owner, { organizationId: organization_id, email: member.email, role });
  return { options: other.options, fields: { organization_id } };
};

const pay = async (service: TestHost, { options, fields }: PayingCaller, body: Fields): Promise<string> => {
  const intent = await made(service.post('/payments/intents', intentBody({ ...body, ...fields }), options));
  const payer = intent.guest_token === undefined ? options : { guestToken: intent.guest_token };
  await made(confirm(service, intent.id, payer));
  return intent.id;
};

const subscribeTo = async (service: TestHost, { options, fields }: PayingCaller, product_id: string) => {
  const method = await made(service.post('/payment-methods', methodBody(fields), options));
  const payer = method.guest_token === undefined ? options : { guestToken: method.guest_token };
  const { guest_data: _, ...owner } = fields;
  const body = { customer_id: method.customer_id, payment_method_id: method.id, product_id, ...owner };
  return (await made(service.post('/subscriptions', body, payer))).id;
};

/** The payer's records, one per action of the decider. */
export interface Paid {
  readonly refundable: string;
  readonly captured: string;
  readonly released: string;
  readonly subscription: string;
}

/** A paid payment, two holds and a subscription to a product of 49.00. */
export const paidBy = async (service: TestHost, person: DecidingPerson, payer: PayingParty): Promise<Paid> => {
  const paying = await payerOf(service, person, payer);
  const [paid, held] = [{ provider_id: 'provider_a', payment_method_id: 'pm_card_visa' }, manualBody(AT_STRIPE)];
  return {
    refundable: await pay(service, paying, paid),
    captured: await pay(service, paying, held),
    released: await pay(service, paying, held),
    subscription: await subscribeTo(service, paying, await plan(service, 4_900)),
  };
};

interface Deciding {
  readonly person: DecidingPerson;
  readonly options: RequestOptions;
}

const STAFF: readonly DecidingParty[] = ['finance', 'operations', 'support'];

/** Signs in a person with the role of the decider. @returns the person, and the decider's request options */
export const deciding = async (service: TestHost, decider: DecidingParty): Promise<Deciding> => {
  const isStaff = STAFF.includes(decider);
  const person = await newDecider(service, isStaff ? { staff_role: decider } : { is_admin: true });
  if (isStaff || decider === 'platform admin') return { person, options: person.options };
  const key = await createKey(service, decider === 'own key' ? person : await newAdmin(service));
  return { person, options: asMerchant(key) };
};
