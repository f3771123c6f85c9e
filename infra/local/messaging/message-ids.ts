/**
 * @module Ids of queue messages. SQS uses random ids. For the demo data, a webhook delivery's id derives from its event
 * and target, because the id of the delivery's log entry derives from the message id. Demo ids are therefore the same
 * at every start, and the API document can name a log entry.
 */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';

export type NewMessageId = (body: string) => string;

const deliverySchema = z.object({ id: z.string(), target: z.string() });

/** @param isDemo true while the demo data are made */
export const demoMessageIds = (isDemo: () => boolean): NewMessageId => {
  const counts = new Map<string, number>();
  return (body) => {
    const { data } = isDemo() ? deliverySchema.safeParse(JSON.parse(body)) : {};
    if (!data) return randomUUID();
    const name = `${data.id} ${data.target}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const hash = createHash('sha256').update(`${name} ${count}`).digest('hex');
    return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
  };
};
