import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { templatesOf } from './stage-templates.ts';
import { parametersReadBy, parametersWrittenBy } from './update-problems.ts';

/** A few endpoints, because these properties of the templates do not need all of them. */
const served = endpoints.filter(({ id }) => id.startsWith('webhooks.'));

/** The logical ids of the triggers that are off, without their hashes. */
const offIn = (env: Readonly<Record<string, string>>): readonly string[] =>
  templatesOf({ env, endpoints: served })
    .flatMap(({ template }) => Object.entries(template.Resources))
    .filter(([, { Properties = {} }]) => Properties['Enabled'] === false || Properties['State'] === 'DISABLED')
    .map(([id]) => id.replace(/(?:Source|Schedule)\w*$/, ''))
    .toSorted();

describe('DUE_WORK', () => {
  test('stops only the sweep and already queued work if it is off', () => {
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
  ])('include the stage %s, so stages share no value', (stage, env) => {
    const templates = templatesOf({ env, endpoints: served }).map(({ template }) => template);
    for (const namesOf of [parametersWrittenBy, parametersReadBy]) {
      const names = templates.flatMap(namesOf);
      expect(names.length).toBeGreaterThan(10);
      expect(names.filter((name) => !name.startsWith(`/payments/${stage}/`))).toEqual([]);
    }
  });
});
