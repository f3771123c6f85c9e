/** @module The ids of queue messages, which the ids of webhook logs derive from. */
import { describe, expect, test } from 'vitest';
import { demoMessageIds } from '../../infra/local/messaging/message-ids.ts';

const delivery = (id: string, more: object = {}): string => JSON.stringify({ id, target: 'WEBHOOK_1', ...more });

describe('the id of a queue message', () => {
  test('is the same at every start for a delivery of the demo data, for any order and times', () => {
    const [one, other] = [demoMessageIds(() => true), demoMessageIds(() => true)];
    const [first, second] = [one(delivery('msg_1', { sent: 1 })), one(delivery('msg_2'))];
    expect([other(delivery('msg_2')), other(delivery('msg_1', { sent: 2 }))]).toEqual([second, first]);
    expect(first).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(second).not.toBe(first);
  });

  test('is new for each repeated delivery, for other messages and after the demo data exist', () => {
    let isDemo = true;
    const next = demoMessageIds(() => isDemo);
    const made = [next(delivery('msg_1')), next(delivery('msg_1')), next('{"pk":"PAY#1"}'), next('{"pk":"PAY#1"}')];
    isDemo = false;
    made.push(next(delivery('msg_1')), next(delivery('msg_1')));
    expect(new Set(made).size).toBe(made.length);
    expect(made).not.toContain(demoMessageIds(() => true)(delivery('msg_2')));
  });
});
