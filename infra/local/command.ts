/** @module The command behind `npm start`. Runs the local host until a signal ends it. */

import { argv } from 'node:process';
import { Command } from 'commander';
import { parseSettings, SettingsError } from '../../shared/core/settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { disabledParts } from './control/disabled-parts.ts';
import { DEMO_DAYS, makeDemoData } from './demo/demo-data.ts';
import { type Host, startHost } from './host/host.ts';
import { DEMO_KEY_SECRET } from './host/seed.ts';
import { DEMO_SESSIONS } from './identity/identity.ts';
import { begin, clearDataFolder, finish, isNewFolder, isUnfinished } from './machine/data-folder.ts';
import {
  defaultWebhookUrl,
  functionEnvironment,
  LOCAL_SECRETS,
  operatorEnvironment,
  PUBLISHABLE_KEY,
  readHostSettings,
} from './machine/environment.ts';
import { slotStates, takesDemoData, unusedKeys } from './machine/slots.ts';
import { StartError } from './machine/start-error.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

interface Given {
  readonly fresh?: true;
  readonly logs?: true;
}

const given = new Command('npm start --')
  .description('Runs the whole service on this machine.')
  .option('--fresh', 'begins with an empty data folder')
  .option('--logs', 'prints the logs of the functions')
  .parse(argv)
  .opts<Given>();

const main = async (): Promise<void> => {
  const operator = operatorEnvironment();
  const { port, dataDir, basePath, demoData, logLevel } = readHostSettings(operator);
  clear(dataDir);
  const isOwn = !takesDemoData(functionEnvironment(operator, NOWHERE), NOWHERE.baseUrl);
  const first = demoData === 'demo' && !isOwn && isNewFolder(dataDir);
  const onLoss = (line: string): never => {
    complain(line);
    process.exit(1);
  };
  const host = await startHost({
    ...{ port, dataDir, log: complainUnlessStopping, onLoss },
    env: { LOG_LEVEL: given.logs && logLevel === 'silent' ? 'info' : logLevel },
    ...(first && { daysAgo: DEMO_DAYS, onHeld: () => begin(dataDir) }),
  });
  stopOnSignal(host);
  const serviceUrl = `${host.baseUrl}${basePath}`;
  introduce(host, serviceUrl);
  for (const line of unusedKeys(host.env, host.baseUrl)) print(line);
  for (const { reason } of await disabledParts(host.env)) print(reason);
  if (demoData === 'demo' && isOwn) print('No demo data: they need the simulator behind every slot.');
  if (first) await showDemoData(host, serviceUrl);
  if (stopping) return;
  // Remove the mark before the first outside request, because the next start deletes all data of a marked folder.
  if (first) finish(dataDir);
  host.door?.open();
  print(`\nConsole                ${serviceUrl}/console`);
  await host.warm();
};

/**
 * Clears the data folder with --fresh, or after an interrupted start. The data of an interrupted start are incomplete
 * and contain no outside request.
 */
const clear = (dataDir: string): void => {
  if (!given.fresh && !isUnfinished(dataDir)) return;
  clearDataFolder(dataDir);
  if (!given.fresh) print('Unfinished demo data of an earlier start were cleared.');
};

/**
 * Makes the demo data. If this fails, the command ends, because the service would accept payments and the next start
 * would delete them. The data stay marked as unfinished, so the next start clears them.
 */
const showDemoData = async (host: Host, serviceUrl: string): Promise<void> => {
  const { baseUrl, clock, door } = host;
  const startedAt = performance.now();
  print(
    'Making demo data of the last 30 days. Requests wait until the data is complete (DEMO_DATA=none starts without demo data).',
  );
  try {
    await makeDemoData({ baseUrl, serviceUrl, pass: door?.pass ?? {}, now: clock.now });
    const seconds = (performance.now() - startedAt) / SECOND_MS;
    print(`Demo data              made in ${seconds.toFixed(1)} s`);
  } catch (error) {
    if (stopping) return;
    complain(`The demo data could not be made: ${firstLineOf(error)} (DEMO_DATA=none starts without demo data)`);
    stopping = true;
    await host.stop();
    process.exit(1);
  }
};

const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1).join('');

const introduce = (host: Host, serviceUrl: string): void => {
  print(`
The service listens on ${serviceUrl}
Reference              ${serviceUrl}/docs
Client                 npm install ${serviceUrl}/client.tgz
Stage                  ${stageOf(host)}
Providers              ${providersOf(host)}
Data                   ${host.folder}${given.fresh ? ', empty at the start' : ''}${timeOf(host)}
${sessionsOf(host)}
Local secrets, for this machine only
  provider_a           webhook secret ${LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET}, publishable key ${PUBLISHABLE_KEY}
  provider_c           signature key ${LOCAL_SECRETS.PROVIDER_C_SIGNATURE_KEY}, over ${serviceUrl}/webhooks/provider_c
  demo backend         service key ${DEMO_KEY_SECRET}, sent as Authorization: Bearer;
                       X-Act-For: user:user_demo_owner names a payer
  guest tokens         ${LOCAL_SECRETS.GUEST_TOKEN_SECRET}
${ownTargetOf(host)}
Create a payment, then pay it:
PAYMENT=$(${post(host, `${serviceUrl}/payments/intents`, FIRST_PAYMENT)} | grep -o 'pay_[0-9a-f]*' | head -1)
${post(host, `${serviceUrl}/payments/confirm/$PAYMENT`, {})}
`);
};

const hasIdentityService = ({ env }: Host): boolean => parseSettings(env).IDENTITY_LOOKUP === 'on';

const sessionsOf = (host: Host): string => {
  if (!hasIdentityService(host)) return '\nSessions               none, because IDENTITY_LOOKUP is off\n';
  const lines = DEMO_SESSIONS.map(({ session_id, user_id, email, ...rights }) => {
    const role = rights.is_admin ? ', platform admin' : 'staff_role' in rights ? `, ${rights.staff_role}` : '';
    return `  ${session_id.padEnd(20)} ${user_id}, ${email}${role}\n`;
  });
  return `\nDemo sessions, sent as X-Session-ID\n${lines.join('')}`;
};

const FIRST_PAYMENT = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa' };

/** Placeholder addresses, because the choice of demo data comes before the host has an address. */
const NOWHERE = { baseUrl: 'http://127.0.0.1:0', basePath: '', dynamoEndpoint: '', queues: [] };

const providersOf = ({ env, baseUrl }: Host): string =>
  slotStates(env, baseUrl)
    .map(({ slot, adapter, at }) => `${slot} ${adapter} (${at})`)
    .join(', ');

const stageOf = ({ env }: Host): string => {
  const { STAGE, RATE_LIMITS, ALLOW_RAW_CARDS } = parseSettings(env);
  const limits = RATE_LIMITS ? 'requests are limited' : 'no request is limited (RATE_LIMITS=on npm start)';
  return `${STAGE}; ${limits}; raw cards are ${ALLOW_RAW_CARDS ? 'accepted' : 'refused'}`;
};

/**
 * Describes the host's own webhook target, if it is enabled. The host enables only this target. Only the operator
 * enables other targets.
 */
const ownTargetOf = ({ env, baseUrl }: Host): string => {
  const url = defaultWebhookUrl(baseUrl);
  if (env['WEBHOOK_1_URL'] !== url || env['EXTERNAL_WEBHOOKS_ENABLED'] !== 'true') return '';
  return `  outbound webhook 1   ${LOCAL_SECRETS.WEBHOOK_1_SECRET}

Outbound webhooks      to ${url}, for which npm start sets
                       EXTERNAL_WEBHOOKS_ENABLED=true and WEBHOOK_1_ENABLED=true; a target of your own needs both
`;
};

/** A curl command, with a demo session or with the demo backend's key for its first payer. */
const post = (host: Host, url: string, body: unknown): string => {
  const caller = hasIdentityService(host)
    ? `-H 'X-Session-ID: demo-owner'`
    : `-H 'Authorization: Bearer ${DEMO_KEY_SECRET}' -H 'X-Act-For: user:user_demo_owner'`;
  return `curl -s -X POST ${url} ${caller} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
};

/**
 * Describes a moved clock, because the clock keeps its offset after a restart. Says nothing before the demo data are
 * made, while the clock is in the past.
 */
const timeOf = ({ clock, door }: Host): string => {
  const offsetMs = clock.now() - Date.now();
  if (door || (Math.abs(offsetMs) < SECOND_MS && !clock.frozen())) return '';
  const side = offsetMs < 0 ? 'behind' : 'ahead of';
  const offset = `${durationOf(Math.abs(offsetMs))} ${side} real time`;
  const frozen = clock.frozen() ? ', frozen' : '';
  return `\nClock                  ${new Date(clock.now()).toISOString()}, ${offset}${frozen}; npm start -- --fresh resets it`;
};

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const;

const durationOf = (ms: number): string => {
  const [unit, length] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? ['second', SECOND_MS];
  const count = Math.floor(ms / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

let stopping = false;

/** A stop interrupts work, so later errors are expected and not reported. */
const complainUnlessStopping = (line: string): void => {
  if (!stopping) complain(line);
};

/** Within this time, two signals count as one Ctrl-C. The process gets Ctrl-C from the terminal and again from npm. */
const ONE_CTRL_C_MS = 500;

const stopOnSignal = (host: Host): void => {
  let askedAt = 0;
  const stop = (): void => {
    if (stopping) {
      // A second Ctrl-C ends the process immediately.
      if (performance.now() - askedAt > ONE_CTRL_C_MS) process.exit(1);
      return;
    }
    stopping = true;
    askedAt = performance.now();
    void host.stop().then(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
};

const reasonOf = (error: unknown): string => {
  if (error instanceof SettingsError) return error.mistakes.join('\n');
  if (error instanceof StartError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

const fail = (error: unknown): never => {
  complainUnlessStopping(reasonOf(error));
  process.exit(stopping ? 0 : 1);
};

process.on('uncaughtException', fail);
await main().catch(fail);
