import { describe, test } from 'vitest';
import { withHost } from './host.ts';
import { expectKindsImported } from './imported-kinds.ts';

const service = withHost({ frozen: true });
const MINUTES = 60_000;

describe('an import of a thousand customers', () => {
  test(
    'returns the outcomes in the table of twelve kinds, in a dry run, a run and a second run',
    async () => {
      // The events of thousands of new records at Stripe would only delay the imports.
      await service.webhookMode('drop');
      await expectKindsImported(service, 1_000);
    },
    30 * MINUTES,
  );
});
