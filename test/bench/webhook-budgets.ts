/** @module Budgets of webhook logs, tests and replays, all missing in the design. */
import { type Budget, MEMBERSHIP, oneMore } from './budget.ts';

const nothingWritten = { writeUnits: 0, dueUnits: 0 };
const logs = {
  of: 'webhooks.list-logs',
  requests: 9,
  levels: 2,
  ...nothingWritten,
  because: 'four partitions a status, side by side, BatchGet',
};
const webhookTest = { of: 'webhooks.send-test', requests: 1, levels: 1, writeUnits: 3, dueUnits: 0, windows: 1 };
const replay = { of: 'webhooks.replay-log', requests: 2, levels: 2, ...nothingWritten, windows: 1 };

export const WEBHOOK_BUDGETS = {
  'webhook logs': logs,
  'webhook logs by status': { ...logs, requests: 5, because: 'four partitions' },
  'webhook logs of an organization': oneMore(logs, MEMBERSHIP),
  'webhook logs, all there are': {
    ...logs,
    requests: 33,
    because: 'sixteen partitions a status, side by side, BatchGet',
  },
  'one webhook log': { of: 'webhooks.get-log', requests: 1, levels: 1, ...nothingWritten, because: 'as get' },
  'webhook test': { ...webhookTest, because: 'an entry a target: its item and two index rows' },
  'webhook test by an owner': oneMore(webhookTest, 'the membership, read consistently'),
  'webhook sent again': { ...replay, because: 'the entry, then what it tells of' },
  'webhook sent again by an owner': {
    ...replay,
    requests: 4,
    levels: 4,
    because: 'the membership twice: to see the entry, to send',
  },
} as const satisfies Readonly<Record<string, Budget>>;

export type WebhookRow = keyof typeof WEBHOOK_BUDGETS;
