import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withTable } from './engines.ts';
import { answerOf, anyTableOperation, clear, everything, type TableOperation } from './operations.ts';

const RUNS = 2_000;
const OPERATIONS = 50;

describe('the embedded table compared with another engine', () => {
  const embedded = withTable('embedded');
  const dynoxide = withTable('dynoxide');

  test('returns, refuses and stores the same for any operations', async () => {
    const run = async (operations: readonly TableOperation[]): Promise<void> => {
      const [ours, theirs] = [embedded().connection, dynoxide().connection];
      await Promise.all([clear(ours), clear(theirs)]);
      for (const asked of operations) {
        const [our, their] = await Promise.all([answerOf(ours, asked), answerOf(theirs, asked)]);
        expect(our, JSON.stringify(asked)).toEqual(their);
      }
      expect(await everything(ours)).toEqual(await everything(theirs));
    };
    const operations = fc.array(anyTableOperation, { minLength: OPERATIONS, maxLength: OPERATIONS });
    await fc.assert(fc.asyncProperty(operations, run), { numRuns: RUNS, endOnFailure: true });
  });
});
