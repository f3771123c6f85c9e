/** @module Counts each side's requests to DynamoDB and to the provider. */
import { openMeter, type Run } from '../meter.ts';
import { say, sheet } from '../sheet.ts';
import { trailOf } from '../tally.ts';
import { createdId, REQUESTS } from './payment-requests.ts';
import { MEASURED, type Measured } from './reference-functions.ts';
import { CONTEXT, handlersOf, SIDES, type Side, send } from './sides.ts';

/**
 * @param env the environment of the functions. @returns whether both sides send the same number of requests in the
 * same number of levels
 */
export const doSameWork = async (folder: string, env: Readonly<Record<string, string>>): Promise<boolean> => {
  const meter = await openMeter(() => env['AWS_ENDPOINT_URL_DYNAMODB'] ?? '');
  try {
    // biome-ignore lint/style/noProcessEnv: a function as it is deployed reads it when it is imported.
    Object.assign(process.env, { ...env, AWS_ENDPOINT_URL_DYNAMODB: meter.endpoint });
    for (const side of SIDES) {
      const handlers = await handlersOf(folder, side);
      const run = async (name: Measured, id: string): Promise<unknown> => {
        const load = meter.measured(async () => () => send(handlers, name, REQUESTS[name](id)));
        return (await load(idOf(side, name)))(undefined, CONTEXT);
      };
      const id = createdId(await run('create', ''));
      await run('get', id);
      await run('confirm', id);
    }
    return print(meter.take());
  } finally {
    meter.close();
  }
};

const idOf = (side: Side, name: Measured): string => `${side} ${name}`;

const print = (runs: readonly Run[]): boolean => {
  const rows = MEASURED.flatMap((name) => SIDES.map((side) => [side, name, runOf(runs, side, name)] as const));
  say('What a request asks of the table, level by level, and how often it asks the provider\n');
  sheet(
    ['request', 'of', 'table', 'provider'],
    rows.map(([side, name, { levels, providerCalls }]) => [
      name,
      side === 'ours' ? 'this service' : 'the reference',
      trailOf(levels),
      String(providerCalls),
    ]),
  );
  const other = MEASURED.filter((name) => workOf(runOf(runs, 'ours', name)) !== workOf(runOf(runs, 'theirs', name)));
  if (other.length > 0) say(`\nNOT THE SAME WORK: ${other.join(', ')}`);
  return other.length === 0;
};

const runOf = (runs: readonly Run[], side: Side, name: Measured): Run => {
  const run = runs.find(({ functionId }) => functionId === idOf(side, name));
  if (!run) throw new Error(`${idOf(side, name)} did not run`);
  return run;
};

/**
 * The operations of each level. Replacing an item and updating it count as the same operation. Omits this service's
 * read of the session cache epoch, which happens once in five seconds.
 */
const workOf = ({ levels, providerCalls }: Run): string =>
  JSON.stringify([
    levels
      .filter((level) => !level.every(({ about }) => about === 'CACHE'))
      .map((level) => level.map(({ operation }) => operation.replace('PutItem', 'UpdateItem')).sort()),
    providerCalls,
  ]);
