/** @module The Braintree adapter. It supports only customers, not payments, saved methods or events. */

import * as z from 'zod';
import { CAPABILITIES_OF } from '../../core/capabilities.ts';
import type { Outcome } from '../../core/outcome.ts';
import { type AdapterOptions, notOffered } from '../adapter.ts';
import type {
  ContactField,
  CreateCustomer,
  CustomerDetails,
  ProviderCustomer,
  UpdateCustomer,
} from '../customer-port.ts';
import { ASCII, type ContactLimits, fittedContact, fittedUpdate, inOurFields, partsOfName } from '../fitted-contact.ts';
import type { PaymentProvider } from '../provider.ts';
import { customerGateway } from './gateway.ts';
import { BRAINTREE_NOT_FOUND, type BraintreeCall, braintreeCalls } from './outcome.ts';

/** @returns undefined if one of the keys is missing; the slot is then closed */
export const openBraintree = (options: AdapterOptions): PaymentProvider | undefined => {
  const { settings, slot, timeoutMs } = options;
  const { MERCHANT_ID: merchantId, PUBLIC_KEY: publicKey, PRIVATE_KEY: privateKey, BASE_URL: baseUrl } = settings;
  if (merchantId === '' || publicKey === '' || privateKey === '') return undefined;
  const customers = customerGateway({ merchantId, publicKey, privateKey, baseUrl, timeoutMs });
  return {
    slot,
    adapter: 'braintree',
    can: CAPABILITIES_OF.braintree,
    ...braintreeCustomers(customers, braintreeCalls(options)),
    isStoredMethod: () => true,
    checkAmount: async () => ({ kind: 'currency' }),
    createIntent: notOffered,
    updateIntent: notOffered,
    confirmIntent: notOffered,
    cancelIntent: notOffered,
    findPayment: notOffered,
    keepMethod: notOffered,
    tokenizeCard: notOffered,
    attachMethod: notOffered,
    findMethod: notOffered,
    detachMethod: notOffered,
    updateBilling: notOffered,
    readEvent: () => undefined,
  };
};

const answered = z.looseObject({ customer: z.looseObject({ id: z.string().check(z.minLength(1)) }) });

/**
 * From errors 81604, 81605, 81608, 81613 and 81614 in
 * developer.paypal.com/braintree/docs/reference/general/validation-errors/all. E-mail addresses must be ASCII.
 */
const LIMITS: ContactLimits = {
  name: { most: 255, inParts: true },
  phone: { most: 255 },
  email: { most: 255, form: ASCII },
  fields: { first_name: 'name', last_name: 'name', firstName: 'name', lastName: 'name' },
};

/** Error "Customer ID has already been taken". */
const ID_TAKEN = '91609';

const braintreeCustomers = (customers: ReturnType<typeof customerGateway>, call: BraintreeCall) => ({
  /** Braintree has no idempotency keys, but accepts our id. If the id is taken, an earlier try created the customer. */
  createCustomer: async (input: CreateCustomer): Promise<Outcome<ProviderCustomer>> => {
    const customerId = input.ourCustomerId;
    const outcome = await call(() => customers.create({ id: customerId, ...fieldsOf(fittedContact(LIMITS, input)) }));
    const isMade = outcome.kind === 'refused' && outcome.reason === ID_TAKEN;
    return isMade ? { kind: 'done', value: { customerId } } : reported(outcome);
  },

  updateCustomer: async (input: UpdateCustomer): Promise<Outcome<ProviderCustomer>> => {
    const fitted = fittedUpdate(LIMITS, input);
    const fields = { ...clearedFields(fitted), ...fieldsOf(fitted) };
    return reported(await call(() => customers.update(input.customerId, fields)));
  },

  deleteCustomer: async (customerId: string): Promise<Outcome<ProviderCustomer>> => {
    const outcome = await call(() => customers.delete(customerId));
    const isGone = outcome.kind === 'refused' && outcome.reason === BRAINTREE_NOT_FOUND;
    if (outcome.kind === 'done' || isGone) return { kind: 'done', value: { customerId } };
    return outcome;
  },

  keptContact: (ours: CustomerDetails): CustomerDetails => fittedContact(LIMITS, ours),

  /** Braintree sends no customer events, so the service never needs this read. */
  findCustomer: notOffered,
});

const reported = (outcome: Outcome<unknown>): Outcome<ProviderCustomer> => {
  if (outcome.kind !== 'done') return inOurFields(LIMITS, outcome);
  const answer = answered.safeParse(outcome.value);
  if (!answer.success) return { kind: 'unknown', reason: 'error' };
  return { kind: 'done', value: { customerId: answer.data.customer.id } };
};

type Fields = Readonly<Record<string, string>>;

const fieldsOf = ({ email, phone, ...named }: CustomerDetails): Fields => {
  const { given = '', family = '' } = partsOfName(named);
  return {
    ...((given || family) && { firstName: given, lastName: family }),
    ...(email && { email }),
    ...(phone && { phone }),
  };
};

const clearedFields = ({ cleared }: UpdateCustomer): Fields =>
  Object.fromEntries(cleared.flatMap((field) => Object.entries(CLEARED[field])));

const CLEARED: Readonly<Record<ContactField, Fields>> = {
  email: { email: '' },
  name: { firstName: '', lastName: '' },
  phone: { phone: '' },
};
