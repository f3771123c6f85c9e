import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';

const none = z.object({});

export const listTiers = endpoint({
  id: 'memberships.list-tiers',
  method: 'GET',
  path: '/memberships/tiers',
  summary: 'List the active membership tiers',
  auth: 'public',
  params: none,
  query: none,
  body: null,
  response: z.array(z.looseObject({ id: z.string(), name: z.string(), slug: z.string(), rank: z.int() })),
  status: 200,
  form: 'envelope',
  uses: ['table:read'],
});

export const membershipEndpoints = [listTiers];
