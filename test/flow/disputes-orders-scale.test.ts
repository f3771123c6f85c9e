import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { DAY, iso } from '../../shared/core/time.ts';
import { HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { announcedIn, type Disputed, expectShownAs } from './disputers.ts';
import { signIn } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';
import { PAYING_METHODS, paidPayment, signInAdmin } from './refunders.ts';

/**
 * Random lives of disputes, whose events come in random orders, doubled, hours late, or never. After one read the record is the
 * provider's, also if events from before the read come later, and the last word that was announced is the provider's last.
 */
const service = withHost({ frozen: true, env: { PROVIDER_TIMEOUT_MS: '15000' } });

/** 204 orders in `npm test`, and 2,040 in `npm run test:long`, in parts that end within the time limit of a test. */
const PARTS = Array.from({ length: inject('scale') > 1 ? 170 : 17 }, (_, part) => part + 1);
const PER_PROVIDER = 4;
const ROUNDS = 6;

const change = fc.record(
  {
    status: fc.constantFrom('needs_response', 'needs_response', 'under_review', 'won', 'lost', 'closed'),
    amount: fc.integer({ min: 1, max: 2_500 }),
    days: fc.integer({ min: 1, max: 40 }),
    inquiry: fc.boolean(),
  },
  { requiredKeys: ['status'] },
);
const step = fc.record({
  change: fc.option(change),
  webhooks: fc.constantFrom('normal', 'reorder', 'duplicate', 'delay', 'delay', 'drop', 'drop'),
});
const spanSeconds = fc.constantFrom(0, 0, 0.4, 1, MINUTE_SECONDS, HOUR_SECONDS, 30 * HOUR_SECONDS);
const batch = fc.record({
  spans: fc.array(spanSeconds, { minLength: ROUNDS, maxLength: ROUNDS }),
  lives: fc.array(fc.array(step, { minLength: ROUNDS, maxLength: ROUNDS }), {
    minLength: PER_PROVIDER * PAYING_METHODS.length,
    maxLength: PER_PROVIDER * PAYING_METHODS.length,
  }),
});

/** Four at a time: more do not come sooner on two cores. */
const inTurn = async <T, R>(all: readonly T[], work: (one: T, index: number) => Promise<R>): Promise<R[]> => {
  const done: R[] = [];
  for (let at = 0; at < all.length; at += 4) {
    done.push(...(await Promise.all(all.slice(at, at + 4).map((one, index) => work(one, at + index)))));
  }
  return done;
};

const OPEN = ['needs_response', 'under_review'];

const expectLastWord = (announced: readonly ParsedJson[], held: ParsedJson): void => {
  const last = announced.at(-1);
  const isOpen = OPEN.includes(held.status);
  expect({ isOpen: OPEN.includes(last.status), amount: last.amount }).toEqual({ isOpen, amount: held.amount });
  if (isOpen) expect(last.evidence_due_by).toBe(iso(Math.floor(Date.parse(held.evidence_due_by) / 1_000) * 1_000));
  else expect(last.status).toBe(held.status);
};

test.each(PARTS)(
  'a dispute matches its provider after a read, whichever of its events arrived, part %i',
  async (part) => {
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const admin = await signInAdmin(service);
    await fc.assert(
      fc.asyncProperty(batch, async ({ spans, lives }) => {
        const disputed = await inTurn(lives, async (_, index): Promise<Disputed> => {
          const payment = await paidPayment(service, user, { paying: PAYING_METHODS[index % PAYING_METHODS.length] });
          const { id } = await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
          return { user: admin, payment, id };
        });
        await service.settle();
        for (const [round, seconds] of spans.entries()) {
          for (const [index, life] of lives.entries()) {
            const { change: changed, webhooks } = life[round] ?? {};
            if (!changed) continue;
            const { days, ...fields } = changed;
            await service.webhookMode(webhooks ?? 'normal');
            await service.control('POST', `/simulator/disputes/${disputed[index]?.id}`, {
              ...fields,
              ...(days !== undefined && { evidence_due_by: iso(service.now() + days * DAY) }),
            });
          }
          await service.advance(seconds);
        }
        await service.webhookMode('normal');
        await inTurn(disputed, async ({ payment }) => {
          const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, admin.options);
          expect(synced).toMatchObject({ status: 200 });
        });
        // The last of the late events come now.
        await service.advance(2 * HOUR_SECONDS);
        const { disputes } = await service.control('GET', '/simulator/ledger');
        const events = await service.busEvents();
        for (const one of disputed) {
          const held = disputes.find(({ id }: ParsedJson) => id === one.id);
          await expectShownAs(service, one, held);
          expectLastWord(announcedIn(events, one.payment.id), held);
        }
      }),
      { numRuns: 1, endOnFailure: true, seed: part },
    );
  },
);
