import { expect } from 'vitest';
import { DAY_SECONDS } from '../../builders/seconds.ts';
import { signIn, type User } from '../flow.ts';
import type { RequestOptions, TestHost } from '../host.ts';
import { saveMethod } from '../payers.ts';
import type { ParsedJson } from '../routes.ts';
import {
  type Holder,
  isGuest,
  isWithoutToken,
  type Payer,
  type Provider,
  SESSION_CALLERS,
  type UseCaller,
  type UseCell,
} from './cells.ts';

/** The people, organizations and saved methods of the usage matrix. */
export interface UseFixtures {
  readonly organizationId: string;
  readonly optionsOf: (caller: UseCell['caller']) => RequestOptions;
  /** The payer fields in a create by this caller. */
  readonly payerFields: (caller: UseCell['caller'], payer: Payer) => Record<string, unknown>;
  /** The user who may store this method or create a record for this payer. */
  readonly makerOf: (cell: UseCell) => RequestOptions;
  readonly methodOf: (cell: Pick<UseCell, 'caller' | 'holder' | 'payer' | 'provider'>) => Promise<Method>;
  /** A method detached by the provider before the cells run. Its live subscription prevents its deletion. */
  readonly detachedOf: (cell: Pick<UseCell, 'caller' | 'payer' | 'provider'>) => Promise<Method>;
  /** A method that can be saved, but declines its charges. */
  readonly failingOf: (cell: Pick<UseCell, 'caller' | 'payer' | 'provider'>) => Promise<Method>;
  readonly meetGuests: () => Promise<void>;
  /** Deletes the `deleted` methods, and removes the former member. */
  readonly end: () => Promise<void>;
}

export interface Method {
  readonly id: string;
  readonly providerMethodId: string;
  readonly customerId: string;
}

const TOKENS: Readonly<Record<Provider, { readonly pays: string; readonly fails: string }>> = {
  provider_a: { pays: 'pm_card_visa', fails: 'pm_card_chargeCustomerFail' },
  provider_b: { pays: 'SIM-OK', fails: 'SIM-FAIL-LATER' },
  provider_c: { pays: 'cnon:card-nonce-ok', fails: 'cnon:card-nonce-sim-fail-on-charge' },
};

export const createUseFixtures = async (service: TestHost): Promise<UseFixtures> => {
  const people = await peopleOf(service);
  const organizationId = await createOrganizationWith(service, people.owner, {
    admin: 'admin',
    billing: 'billing',
    member: 'member',
    removed: 'billing',
    lender: 'billing',
    'in both': 'billing',
  });
  const otherId = await createOrganizationWith(service, people['other owner'], { 'in both': 'billing' });
  const known = new Map<string, Promise<Method>>();
  /** Saves each method when the first cell needs the method. */
  const save = (key: string, provider: Provider, { options, fields }: Saver): Promise<Method> => {
    const { pays, fails } = TOKENS[provider];
    const token = key.startsWith('failing') ? fails : pays;
    const sent = { provider_id: provider, provider_payment_method_token: token, ...fields };
    const method = known.get(`${key} ${provider}`) ?? saveMethod(service, options, sent).then(methodFrom);
    known.set(`${key} ${provider}`, method);
    return method;
  };
  const saverOf = (key: string): Saver => {
    const who = key.replace(/^(deleted|detached|failing) /, '');
    if (who === 'guest') return { options: guest, fields: {} };
    if (who === 'another guest') return { options: anotherGuest, fields: {} };
    if (who === 'organization') return { options: people.owner.options, fields: { organization_id: organizationId } };
    if (who !== 'another organization') return { options: people[personNamed(who)].options, fields: PERSONAL };
    return { options: people['other owner'].options, fields: { organization_id: otherId } };
  };
  const found = (key: string, provider: Provider): Promise<Method> => save(key, provider, saverOf(key));

  let guest: RequestOptions = {};
  let anotherGuest: RequestOptions = {};
  const payerKey = ({ caller, payer }: Pick<UseCell, 'caller' | 'payer'>): string =>
    payer === 'organization' ? 'organization' : isGuest(caller) ? 'owner' : caller;
  const keyOf = ({ caller, holder, payer }: Pick<UseCell, 'caller' | 'holder' | 'payer'>): string => {
    const keys: Record<Holder, string> = {
      user: caller,
      'another user': 'lender',
      guest: 'guest',
      'another guest': 'another guest',
      organization: 'organization',
      'another organization': 'another organization',
      'former member': 'removed',
      deleted: `deleted ${payerKey({ caller, payer })}`,
    };
    return keys[holder];
  };
  const optionsOf = (caller: UseCell['caller']): RequestOptions => {
    if (isWithoutToken(caller)) return {};
    return caller === 'guest' ? guest : people[caller].options;
  };

  return {
    organizationId,
    optionsOf,
    payerFields: (caller, payer) => {
      if (payer === 'organization') return { organization_id: organizationId, ...guestDataOf(caller) };
      return guestDataOf(caller) ?? { organization_id: null };
    },
    makerOf: ({ caller, holder, naming, payer }) => {
      if (payer === 'person') return isGuest(caller) ? guest : optionsOf(caller);
      if (naming !== 'stored') return people.owner.options;
      if (holder === 'user') return optionsOf(caller);
      if (holder === 'another user') return people.lender.options;
      return holder === 'former member' ? people.removed.options : people.owner.options;
    },
    methodOf: (cell) => found(keyOf(cell), cell.provider),
    detachedOf: (cell) => found(`detached ${payerKey(cell)}`, cell.provider),
    failingOf: (cell) => found(`failing ${payerKey(cell)}`, cell.provider),
    meetGuests: async () => {
      guest = { guestToken: await guestTokenOf(service, GUEST_DATA.guest_data.email) };
      anotherGuest = { guestToken: await guestTokenOf(service, 'otto@example.com') };
    },
    end: async () => {
      for (const [key, method] of known) {
        const [, ending, who = '', provider] = /^(deleted|detached) (.+) (provider_.)$/.exec(key) ?? [];
        const { id, providerMethodId } = await method;
        if (ending === 'deleted') {
          const { status } = await service.request('DELETE', `/payment-methods/${id}`, saverOf(who).options);
          expect(status).toBe(204);
        }
        if (ending === 'detached' && provider) {
          const event = { provider, type: 'payment_method.detached', object: { id: providerMethodId } };
          expect((await service.sendEvent(event)).status).toBe(200);
        }
      }
      await service.settle();
      await remove(service, organizationId, people);
    },
  };
};

interface Saver {
  readonly options: RequestOptions;
  readonly fields: Readonly<Record<string, unknown>>;
}

const PERSONAL = { organization_id: null } as const;
const GUEST_DATA = { guest_data: { email: 'gina@example.com', name: 'Gina' } } as const;

const guestDataOf = (caller: UseCaller): Record<string, unknown> | undefined => {
  if (!isWithoutToken(caller)) return undefined;
  return caller === 'guest without token' ? GUEST_DATA : { guest_data: { email: 'eve@example.com', name: 'Eve' } };
};

const PEOPLE = [...SESSION_CALLERS, 'lender', 'other owner'] as const;
type PersonName = (typeof PEOPLE)[number];

const personNamed = (name: string): PersonName => {
  const person = PEOPLE.find((one) => one === name);
  if (!person) throw new Error(`no person is called ${name}`);
  return person;
};

type Person = User & { readonly email: string };
type People = Readonly<Record<PersonName, Person>>;

const peopleOf = async (service: TestHost): Promise<People> => {
  const named = await Promise.all(
    PEOPLE.map(async (name) => {
      const email = `${name.replaceAll(' ', '.')}@example.com`;
      return [name, { ...(await signIn(service, { email, expires_in: 366 * DAY_SECONDS })), email }] as const;
    }),
  );
  return Object.fromEntries(named) as unknown as People;
};

const emailOf = (name: string): string => `${name.replaceAll(' ', '.')}@example.com`;

const createOrganizationWith = async (
  service: TestHost,
  owner: User,
  roles: Readonly<Partial<Record<PersonName, string>>>,
): Promise<string> => {
  const made = await service.post('/organizations', { name: 'Acme' }, owner.options);
  expect(made.status).toBe(201);
  const { id } = made.body.data;
  for (const [name, role] of Object.entries(roles)) {
    const body = { email: emailOf(name), role };
    expect((await service.post(`/organizations/${id}/members`, body, owner.options)).status).toBe(201);
  }
  return id;
};

const remove = async (service: TestHost, organizationId: string, people: People): Promise<void> => {
  const path = `/organizations/${organizationId}/members`;
  const { body } = await service.get(`${path}?limit=100`, people.owner.options);
  const member = body.data.find((one: ParsedJson) => one.user_id === people.removed.userId);
  expect((await service.request('DELETE', `${path}/${member.id}`, people.owner.options)).status).toBe(200);
};

const guestTokenOf = async (service: TestHost, email: string): Promise<string> => {
  const body = { total_cents: 100, currency: 'USD', guest_data: { email, name: 'Guest' } };
  const made = await service.post('/payments/intents', body);
  expect(made.status).toBe(201);
  return made.body.guest_token;
};

const methodFrom = (body: ParsedJson): Method => ({
  id: body.id,
  providerMethodId: body.provider_payment_method_id,
  customerId: body.customer_id,
});
