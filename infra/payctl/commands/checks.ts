/** @module The checks of an installation and their report. */

import { columns, describeError, type Report } from './report.ts';

export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'closed' | 'fail';
  readonly detail: string;
}

export const reportChecks = (checks: readonly Check[]): Report => {
  const count = (wanted: Check['state']): number => checks.filter(({ state }) => state === wanted).length;
  const [failed, closed] = [count('fail'), count('closed')];
  return {
    json: { healthy: failed === 0, closed, checks },
    lines: [...columns(checks.map(({ check, state, detail }) => [state, check, detail])), verdictOf(checks)],
    exitCode: failed === 0 ? 0 : 1,
  };
};

/** The result of all checks in one sentence, with the number of checks per state. */
const verdictOf = (checks: readonly Check[]): string => {
  const named = (wanted: Check['state']) => checks.filter(({ state }) => state === wanted).map(({ check }) => check);
  const [ok, closed, failed] = [named('ok'), named('closed'), named('fail')];
  if (ok.length === checks.length) return `All ${checks.length} checks are ok.`;
  const parts = [
    ...(failed.length > 0 ? [`${failed.length} need attention (${failed.join(', ')})`] : []),
    `${ok.length} are ok`,
    ...(closed.length > 0 ? [`${closed.length} are closed (${closed.join(', ')})`] : []),
  ];
  return `Of ${checks.length} checks, ${parts.join('; ')}.`;
};

export const runCheck = async (check: string, look: () => Promise<Check>): Promise<Check> => {
  try {
    return await look();
  } catch (error) {
    return { check, state: 'fail', detail: describeError(error) };
  }
};
