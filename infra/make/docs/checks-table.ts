/** @module Generates the table of pre-deployment checks in docs/deployment.md. */
import { CHECKS } from '../../deploy/stage/checks.ts';

export const checksTable = (): Readonly<Record<string, string>> => ({
  checks: [
    '| Check | Applies | Asks | A finding stops |',
    '|---|---|---|---|',
    ...CHECKS.map(({ name, applies, asks, refuses }) => `| ${name} | ${applies} | ${asks}? | ${stopsOf(refuses)} |`),
  ].join('\n'),
});

const stopsOf = (refuses: readonly string[]): string =>
  refuses.length === 0 ? 'none: a warning' : refuses.length === 3 ? 'every stage' : refuses.join(', ');
