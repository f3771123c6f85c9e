import { describe, expect, test } from 'vitest';
import { documentedEndpoints as endpoints } from '../../functions/api/catalogue.ts';
import { recorder } from './examples/recorder.ts';
import { MORNING, steadied } from './examples/steadied.ts';
import { story } from './examples/story.ts';
import { withHost } from './host.ts';

/** The examples of the API document equal the answers of the service. `npm run examples` records them again. */
const service = withHost({ frozen: true, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });

/** Its answer is the document itself. */
const WITHOUT = 'api.openapi';

describe('the examples of the API document', () => {
  test('equal the requests and answers of the service, for every route', { timeout: 60_000 }, async () => {
    const { tell, told } = recorder(service);
    await service.moveTo(MORNING);
    await story(service, tell);
    const examples = told();
    expect(Object.keys(examples)).toEqual(endpoints.map(({ id }) => id).filter((id) => id !== WITHOUT));
    const steady = `${JSON.stringify(steadied(examples), null, 2)}\n`;
    await expect(steady).toMatchFileSnapshot('../../functions/api/examples.json');
  });
});
