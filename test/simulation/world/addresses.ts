/** @module Operations on addresses, and on the billing addresses of methods and subscriptions. */
import { choose, maybe, type WorldOperation } from './operation.ts';
import { drawOrganization, drawPayer } from './payments.ts';

const TYPES = ['billing', 'billing', 'shipping'] as const;
const COUNTRIES = ['DE', 'US', 'JP'] as const;

const create: WorldOperation = {
  name: 'create an address',
  weight: 2,
  plan: (scene) => {
    const { prng } = scene;
    const person = drawPayer(scene);
    return {
      kind: 'request',
      person,
      method: 'POST',
      path: '/addresses',
      body: {
        ...{ country: prng.pick(COUNTRIES), is_partial: true, type: prng.pick(TYPES) },
        ...maybe('is_default', prng.chance(0.5) ? true : undefined),
        ...maybe('organization_id', drawOrganization(scene, person, 0.35)),
        ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
      },
    };
  },
};

const onAddress = (
  name: string,
  weight: number,
  how: { readonly method: 'POST' | 'PUT' | 'DELETE'; readonly tail?: string },
): WorldOperation => ({
  name,
  weight,
  plan: (scene) => {
    const { prng } = scene;
    const person = prng.pick(scene.users);
    const address = choose(scene, { kind: 'address', person: person.name });
    if (!address) return undefined;
    const change = { alias: 'changed', ...maybe('type', prng.chance(0.4) ? prng.pick(TYPES) : undefined) };
    const { method, tail = '' } = how;
    return {
      ...{ kind: 'request', person, method, path: `/addresses/${address.id}${tail}` },
      ...(method !== 'DELETE' && { body: method === 'PUT' ? change : {} }),
    };
  },
});

const link: WorldOperation = {
  name: 'link a billing address',
  weight: 1,
  plan: (scene) => {
    const { prng } = scene;
    const person = prng.pick(scene.users);
    const [kind, base] = prng.pick([
      ['method', '/payment-methods'],
      ['subscription', '/subscriptions'],
    ] as const);
    const record = choose(scene, { kind, person: person.name });
    const address = choose(scene, { kind: 'address', person: person.name });
    if (!record || !address) return undefined;
    const body = { billing_address_id: prng.chance(0.85) ? address.id : null };
    return { kind: 'request', person, method: 'PATCH', path: `${base}/${record.id}/billing-address`, body };
  },
};

export const ADDRESS_OPERATIONS: readonly WorldOperation[] = [
  create,
  onAddress('change an address', 0.7, { method: 'PUT' }),
  onAddress('make an address the default', 1, { method: 'POST', tail: '/set-default' }),
  onAddress('delete an address', 0.7, { method: 'DELETE' }),
  link,
];
