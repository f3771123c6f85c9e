import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countPlace, PLACE_STATES, type PlaceState, readLinkCounts } from '../../shared/payment-links/link-places.ts';
import { linkCountKey } from '../../shared/platform/keys.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const LINK = 'lnk_814fd0524add4278431c499b';

/** The states of one payment that the stream reports, in any order and with any repetitions. */
const reports = fc.array(fc.constantFrom<PlaceState>('open', 'canceled', 'succeeded'), { maxLength: 6 });

const endOf = (states: readonly PlaceState[], first: PlaceState): PlaceState =>
  states.reduce((end, state) => (PLACE_STATES.indexOf(state) > PLACE_STATES.indexOf(end) ? state : end), first);

describe('the counts of a payment link', () => {
  test.each([false, true])(
    'match the payments after any stream records, even repeated ones (places taken by creates: %s)',
    async (isCounted) => {
      await fc.assert(
        fc.asyncProperty(fc.array(reports, { maxLength: 5 }), async (payments) => {
          const { table } = memoryTable({ now: () => NOON });
          const use = { id: LINK, ...(isCounted && { isCounted: true as const }) };
          if (isCounted) {
            for (const _ of payments) await table.update(linkCountKey(LINK), { add: { taken: 1, made: 1 } });
          }
          const turns = payments.flatMap((states, at) => states.map((state) => ({ at, state })));
          for (const { at, state } of turns) await countPlace(table, { paymentId: `pay_${at}`, use }, state);
          const ends = payments.map((states) => endOf(states, isCounted ? 'open' : 'none'));
          expect(await readLinkCounts(table, LINK)).toEqual({
            made: ends.filter((end) => end !== 'none').length,
            taken: ends.filter((end) => end === 'open' || end === 'succeeded').length,
            succeeded: ends.filter((end) => end === 'succeeded').length,
          });
        }),
        { numRuns: 60 },
      );
    },
  );
});
