import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { templatesOf } from './stage-templates.ts';
import { parametersReadBy, parametersWrittenBy } from './update-problems.ts';

/** Properties of a stage's templates that few endpoints show as well as all. */
const served = endpoints.filter(({ id }) => id.startsWith('webhooks.'));

/** The logical ids of the triggers that are off, without their hashes. */
const offIn = (env: Readonly<Record<string, string>>): readonly string[] =>
  templatesOf({ env, endpoints: served })
    .flatMap(({ template }) => Object.entries(template.Resources))
    .filter(([, { Properties = {} }]) => Properties['Enabled'] === false || Properties['State'] === 'DISABLED')
    .map(([id]) => id.replace(/(?:Source|Schedule)\w*$/, ''))
    .toSorted();

describe('DUE_WORK', () => {
  test('stops the sweep and the work that is queued already if it is off, and nothing else', () => {
    expect(offIn({ DUE_WORK: 'off' })).toEqual(['WorkersRunDue', 'WorkersSweepDue']);
  });

  test('stops nothing if it is on', () => {
    expect(offIn({})).toEqual([]);
  });
});

describe('the names of shared values in SSM', () => {
  const PROD = { STAGE: 'prod', IDENTITY_URL: 'https://id.example.com' };

  test.each([
    ['dev', {}],
    ['staging', { ...PROD, STAGE: 'staging' }],
    ['prod', PROD],
  ])('hold the stage %s, so no stage reads or overwrites the values of another', (stage, env) => {
    const templates = templatesOf({ env, endpoints: served }).map(({ template }) => template);
    for (const namesOf of [parametersWrittenBy, parametersReadBy]) {
      const names = templates.flatMap(namesOf);
      expect(names.length).toBeGreaterThan(10);
      expect(names.filter((name) => !name.startsWith(`/payments/${stage}/`))).toEqual([]);
    }
  });
});
