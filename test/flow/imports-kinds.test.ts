import { describe, test } from 'vitest';
import { withHost } from './host.ts';
import { expectKindsImported } from './imported-kinds.ts';

/** Twelve kinds of customers of another integration; the long test imports a thousand. */
const service = withHost({ frozen: true });

describe('an import of many kinds of customers', () => {
  test('has the same outcomes in a dry run and a run, and a second run knows all adopted records', async () => {
    await expectKindsImported(service, 12);
  }, 60_000);
});
