/** @module Records that tests of the stranger need before their own request, each made by the fewest fields. */
import {
  DEMO_ADMIN,
  expectError,
  type HttpService,
  type JsonReply,
  recordOf,
  type SignedCaller,
  type SignedPerson,
} from './http.ts';

export const CARD = 'pm_card_visa';
export const HOME = { country: 'DE', line1: 'Main Road 1', city: 'Berlin', postal_code: '10115', name: 'Ada' };

export const recordsIn = (service: HttpService) => {
  let numbers = 0;
  const made = async (path: string, body: unknown, caller: SignedCaller) =>
    recordOf(await service.post(path, body, caller));
  /** Reference records are another system's, and platform admins write them. */
  const reference = async (kind: string, fields: object): Promise<string> => {
    numbers += 1;
    const id = `${kind}_${numbers}`;
    recordOf(await service.put(`/admin/${kind}/${id}`, fields, DEMO_ADMIN));
    return id;
  };
  const customer = ({ caller, email }: SignedPerson, more = {}) =>
    made('/customers', { provider_id: 'provider_a', email, ...more }, caller);
  const method = (caller: SignedCaller, more = {}) =>
    made('/payment-methods', { provider_id: 'provider_a', provider_payment_method_token: CARD, ...more }, caller);
  const organization = (caller: SignedCaller, name = 'Acme') => made('/organizations', { name }, caller);
  const member = async (organizationId: string, owner: SignedCaller, role: string) => {
    const person = await service.person();
    const added = await made(`/organizations/${organizationId}/members`, { email: person.email, role }, owner);
    return { ...person, memberId: added.id };
  };

  return {
    payment: (caller: SignedCaller, more = {}) =>
      made('/payments/intents', { subtotal_cents: 2_500, total_cents: 2_500, currency: 'USD', ...more }, caller),
    confirm: (id: string, caller: SignedCaller, body: unknown = {}) => made(`/payments/confirm/${id}`, body, caller),
    customer,
    method,
    address: (caller: SignedCaller, more = {}) => made('/addresses', { ...HOME, ...more }, caller),
    organization,
    member,
    product: (more = {}) => reference('products', { name: 'Course', total_cents: 4_900, currency: 'USD', ...more }),
    project: (more = {}) =>
      reference('projects', { name: 'Site', slug: 'site', billing_email: 'pay@site.example', ...more }),
    tier: (more = {}) => reference('tiers', { name: 'Gold', slug: 'gold', entity_type: 'user', ...more }),
    /** A monthly subscription without a product. */
    subscription: async (person: SignedPerson, more = {}) => {
      const { id: customer_id } = await customer(person);
      const { id: payment_method_id } = await method(person.caller);
      return made('/subscriptions', { customer_id, payment_method_id, ...MONTHLY, ...more }, person.caller);
    },
  };
};

/** The fields that a subscription without a product requires. */
export const MONTHLY = { subtotal_cents: 1_900, total_cents: 1_900, currency: 'USD', billing_interval: 'monthly' };

/** A record that is gone: 404 on reading it. */
export const expectGone = (answer: JsonReply): void => expectError(answer, 404);
