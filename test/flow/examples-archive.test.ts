import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { matchesPattern } from '../../infra/local/messaging/bus-pattern.ts';
import { withHost } from './host.ts';

const templateSchema = z.object({
  Parameters: z.record(z.string(), z.unknown()),
  Resources: z.looseObject({
    Rule: z.object({
      Type: z.literal('AWS::Events::Rule'),
      Properties: z.looseObject({ EventPattern: z.unknown(), Targets: z.array(z.looseObject({})).length(1) }),
    }),
  }),
});
const file = new URL('../../docs/examples/archive/template.json', import.meta.url);
const template = templateSchema.parse(JSON.parse(readFileSync(file, 'utf8')));

const namesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref') return [String(inner)];
    if (key === 'Fn::GetAtt') return [String(Array.isArray(inner) ? inner[0] : inner)];
    if (key === 'Fn::Sub') return [...String(inner).matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
    return namesIn(inner);
  });
};

describe('the archive template of docs/examples', () => {
  const service = withHost();

  test('refers only to its own resources and parameters', () => {
    const known = [...Object.keys(template.Resources), ...Object.keys(template.Parameters)];
    expect(namesIn(template.Resources).filter((name) => !known.includes(name))).toEqual([]);
  });

  test('has a rule that matches every canonical event of the bus, and no other event', async () => {
    const intent = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa' };
    const { id } = (await service.post('/payments/intents', intent, { session: 'demo-owner' })).body;
    await service.post(`/payments/confirm/${id}`, {}, { session: 'demo-owner' });
    const events = await service.busEvents();
    const matched = events.filter((event) => matchesPattern(template.Resources.Rule.Properties.EventPattern, event));
    const canonical = events.filter(({ source }) => source === 'payments');
    expect(matched).toEqual(canonical);
    expect(matched.map((event) => event['detail-type'])).toEqual(['payment.created', 'payment.succeeded']);
    expect(events.length).toBeGreaterThan(matched.length);
    expect(z.object({ id: z.string() }).parse(matched[0]?.detail).id).toContain(id);
  });
});
