/** @module Operations on saved methods and customers. */
import { drawToken } from './methods-to-try.ts';
import { choose, maybe, type WorldOperation } from './operation.ts';
import { drawOrganization, drawPayer, drawProvider } from './payments.ts';

const save: WorldOperation = {
  name: 'save a method',
  weight: 8,
  plan: (scene) => {
    const { prng } = scene;
    const person = drawPayer(scene);
    const provider = drawProvider(prng);
    const known = choose(scene, {
      kind: 'method',
      person: person.name,
      fits: ({ provider_id }) => provider_id === provider,
    });
    const token = drawToken(prng, provider);
    const named = known && prng.chance(0.15) ? known.fields['provider_payment_method_id'] : token;
    return {
      kind: 'request',
      person,
      method: 'POST',
      path: '/payment-methods',
      body: {
        provider_id: provider,
        provider_payment_method_token: named,
        alias: 'my card',
        ...maybe('is_default', prng.chance(0.4) ? true : undefined),
        ...maybe('organization_id', drawOrganization(scene, person, 0.35)),
        ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
      },
      withoutToken: prng.chance(0.2),
    };
  },
};

const onMethod = (
  name: string,
  weight: number,
  how: { readonly method: 'POST' | 'DELETE'; readonly tail: string },
): WorldOperation => ({
  name,
  weight,
  plan: (scene) => {
    const person = scene.prng.pick(scene.users);
    const method = choose(scene, { kind: 'method', person: person.name });
    return (
      method && {
        kind: 'request',
        person,
        method: how.method,
        path: `/payment-methods/${method.id}${how.tail}`,
        ...(how.method === 'POST' && { body: {} }),
      }
    );
  },
});

const change: WorldOperation = {
  name: 'change a method',
  weight: 1.5,
  plan: (scene) => {
    const person = scene.prng.pick(scene.users);
    const method = choose(scene, { kind: 'method', person: person.name });
    return (
      method && {
        kind: 'request',
        person,
        method: 'PUT',
        path: `/payment-methods/${method.id}`,
        body: { alias: 'changed', ...maybe('is_default', scene.prng.chance(0.5) ? scene.prng.chance(0.7) : undefined) },
      }
    );
  },
};

const createCustomer: WorldOperation = {
  name: 'create a customer',
  weight: 3,
  plan: (scene) => {
    const person = drawPayer(scene);
    return {
      kind: 'request',
      person,
      method: 'POST',
      path: '/customers',
      body: {
        provider_id: scene.prng.chance(0.1) ? 'provider_d' : drawProvider(scene.prng),
        email: person.email,
        ...maybe('organization_id', drawOrganization(scene, person, 0.35)),
        ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
      },
    };
  },
};

const changeCustomer: WorldOperation = {
  name: 'change a customer',
  weight: 3,
  plan: (scene) => {
    const { prng } = scene;
    const person = prng.pick(scene.users);
    const customer = choose(scene, { kind: 'customer', person: person.name });
    const drawn = (values: readonly (string | null)[]): string | null | undefined =>
      prng.chance(0.5) ? prng.pick(values) : undefined;
    return (
      customer && {
        kind: 'request',
        person,
        method: 'PUT',
        path: `/customers/${customer.id}`,
        body: {
          ...maybe('name', drawn([person.name, 'Acme Inc.', null])),
          ...maybe('first_name', drawn(['Augusta', null])),
          ...maybe('last_name', drawn(['King', null])),
          ...maybe('phone', drawn(['+15550100789', '+1 780-459-5656 ext. 725', null])),
          ...maybe('email', prng.chance(0.3) ? prng.pick([person.email, 'another@example.com']) : undefined),
        },
      }
    );
  },
};

const deleteCustomer: WorldOperation = {
  name: 'delete a customer',
  weight: 2,
  plan: (scene) => {
    const person = scene.prng.pick(scene.users);
    const customer = choose(scene, { kind: 'customer', person: person.name });
    return customer && { kind: 'request', person, method: 'DELETE', path: `/customers/${customer.id}` };
  },
};

export const METHOD_OPERATIONS: readonly WorldOperation[] = [
  save,
  onMethod('delete a method', 3, { method: 'DELETE', tail: '' }),
  onMethod('make a method the default', 4, { method: 'POST', tail: '/set-default' }),
  change,
  createCustomer,
  changeCustomer,
  deleteCustomer,
];
