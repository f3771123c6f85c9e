/** @module The command behind `npm run payctl -- <command>`, the operator's tool. */

import { randomUUID } from 'node:crypto';
import { exit, stderr } from 'node:process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { runAs } from '../../shared/core/actor.ts';
import { REFUND_REASONS } from '../../shared/core/money-back.ts';
import { PAYMENT_SLOTS, SettingsError } from '../../shared/core/settings.ts';
import { CHANGE_TIMES } from '../../shared/subscriptions/record/subscription-requests.ts';
import type { Stage } from '../deploy/stage/settings.ts';
import { type AdoptOptions, adopt } from './commands/adopt.ts';
import { askAtTerminal } from './commands/ask.ts';
import { listDeadLetters } from './commands/dead-letters.ts';
import { reportSettingsMistakes, runDoctor } from './commands/doctor.ts';
import { type DriftOptions, findDrift } from './commands/drift.ts';
import { listFailures, type RedoOptions, redoFailures } from './commands/failures.ts';
import { type CaptureOptions, capture, release } from './commands/holds.ts';
import {
  listDemoSessions,
  makeSession,
  parseSeconds,
  type SessionOptions,
  showOrMoveClock,
} from './commands/local-commands.ts';
import { listOrphans } from './commands/orphans.ts';
import { registerPayDomain } from './commands/pay-domain.ts';
import { type PlanOptions, showPreview } from './commands/preview-change.ts';
import { reconcile, reconcileByKey } from './commands/reconcile.ts';
import { redrive } from './commands/redrive.ts';
import { type RefundOptions, refund } from './commands/refund.ts';
import { type ReplayOptions, replay } from './commands/replay.ts';
import { describeError, print, type Report } from './commands/report.ts';
import { showTimeline } from './commands/timeline.ts';
import { readErased, readOwners } from './compare/given-people.ts';
import { parseTime } from './compare/given-time.ts';
import { type Api, openApi } from './installation/api.ts';
import { NotReachable } from './installation/control.ts';
import { type Installation, openInstallation } from './installation/installation.ts';
import { openLocalApi } from './installation/local-host.ts';
import { cancelLost } from './restore/cancel-lost.ts';
import { repeatErasures } from './restore/repeat-erasures.ts';
import { restoreCheck } from './restore/restore-check.ts';
import { restoreDone } from './restore/restore-done.ts';

interface DriftInput extends Pick<DriftOptions, 'since' | 'fix' | 'restoredTo'> {
  readonly owners?: string;
}

interface Given {
  readonly stage?: Stage;
  readonly profile?: string;
  readonly region?: string;
  readonly url: string;
  readonly json?: boolean;
}

/**
 * The environment variable with the service key. The key is not a command-line option, because the process list shows
 * all arguments.
 */
const KEY = 'PAYMENTS_API_KEY';

const payctl = new Command('payctl')
  .description('Checks and repairs the service, on the local host or a deployed stage.')
  .addOption(
    new Option('--stage <stage>', 'a deployed stage; without it, the local host').choices(['dev', 'staging', 'prod']),
  )
  .option('--profile <name>', 'the AWS profile to work with')
  .option('--region <name>', 'the AWS region of the stage')
  .option(
    '--url <url>',
    'the local host, or the address of an API',
    `http://127.0.0.1:${process.env['PORT'] || '3000'}`,
  )
  .option('--json', 'one JSON document on standard output')
  .addHelpText(
    'after',
    `\ntimeline, refund, capture, release, preview-change and adopt call the API at --url with the service key in ${KEY}, on the local host by default with its demo key; so does reconcile if the shell has a key. They need no AWS credentials.`,
  )
  .addHelpText('after', '\nExit codes: 0 all is well; 1 something needs attention; 2 the command could not finish.')
  .exitOverride((error) => exit(error.exitCode === 0 ? 0 : 2));

/** Runs a command that needs the table, the queues or the providers. */
const run = (
  command: (installation: Installation) => Promise<Report>,
  onSettings?: (mistakes: readonly string[]) => Report,
): Promise<never> => finish((given) => runAs(OPERATOR, async () => command(await openInstallation(given))), onSettings);

/**
 * Runs a command through the API. The service key comes from the shell. Without it, the local host's demo key applies.
 */
const call = (command: (api: Api) => Promise<Report>): Promise<never> =>
  finish(async (given) => command(await openApiOf(given)));

const finish = async (
  command: (given: Given) => Promise<Report>,
  onSettings?: (mistakes: readonly string[]) => Report,
): Promise<never> => {
  const given = payctl.opts<Given>();
  useProfile(given);
  const report = await command(given).catch((error: unknown) => {
    if (error instanceof SettingsError && onSettings) return onSettings(error.mistakes);
    const isOurs = error instanceof NotReachable || error instanceof SettingsError;
    stderr.write(`${isOurs ? error.message : describeError(error)}\n`);
    return exit(2);
  });
  print(report, given.json === true);
  exit(report.exitCode);
};

/** Sets the AWS profile and the region as environment variables for the SDK. */
const useProfile = ({ profile, region }: Given): void => {
  if (profile !== undefined) process.env['AWS_PROFILE'] = profile;
  if (region !== undefined) process.env['AWS_REGION'] = region;
};

/** The history names this actor for every change by a command. */
const OPERATOR = { requestId: randomUUID(), actor: { type: 'system', id: 'payctl' } } as const;

/**
 * @throws NotReachable if the command names a stage, if the API needs a service key, or if the key would travel over
 * plain http
 */
const openApiOf = async ({ stage, url }: Given): Promise<Api> => {
  const key = process.env[KEY];
  if (stage !== undefined || (!key && URL.parse(url)?.protocol === 'https:')) {
    throw new NotReachable(
      `this command calls the API: name its address with --url, not a stage, and set a service key in ${KEY}`,
    );
  }
  if (!key) return openLocalApi(url);
  if (!isSafeForKeys(url)) throw new NotReachable(`with ${KEY}, the address of the API must begin with https://`);
  return openApi(url, key);
};

/** True if the URL uses https or names this machine. */
const isSafeForKeys = (url: string): boolean => {
  const { protocol, hostname } = URL.parse(url) ?? {};
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname ?? '');
};

const parseWhole =
  (advice: string) =>
  (text: string): number => {
    const whole = Number(text);
    if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(whole)) return whole;
    throw new InvalidArgumentError(advice);
  };
const parseAmount = parseWhole('use a whole number of minor units: 1250 is 12.50 USD, and 1250 JPY');
const parseQuantity = parseWhole('use a whole number from 1');

payctl
  .command('doctor')
  .description('checks settings, table, queues, webhooks, keys, providers and clock; shows why a part is closed')
  .action(() => run(runDoctor, reportSettingsMistakes));

payctl
  .command('timeline <record>')
  .description(
    'a payment with its refunds and disputes, or a subscription, and its history: changes, events, deliveries',
  )
  .action((id: string) => call((api) => showTimeline(api, id)));

payctl
  .command('drift')
  .description('compares every payment, its refunds and its disputes with its provider')
  .option('--since <time>', 'only payments that changed since then')
  .option('--fix', 'store the provider’s status, refunds and disputes if they differ')
  .addOption(
    new Option('--restored-to <time>', 'also find payments that only the providers have, made since then').conflicts(
      'since',
    ),
  )
  .option('--owners <file>', 'the owners of payments to restore, one per line: pay_… user:<id>')
  .action(({ since, fix, restoredTo, owners }: DriftInput) =>
    run((installation) => {
      if (owners !== undefined && restoredTo === undefined) throw new NotReachable('--owners needs --restored-to');
      return findDrift(installation, {
        since: since === undefined ? undefined : parseTime(since),
        restoredTo: restoredTo === undefined ? undefined : parseTime(restoredTo),
        owners: owners === undefined ? undefined : readOwners(owners),
        fix,
      });
    }),
  );

interface RestoreInput {
  readonly restoredTo?: string;
  readonly erased?: string;
}

const restoreOptions = ({ restoredTo, erased }: RestoreInput) => ({
  restoredTo: restoredTo === undefined ? undefined : parseTime(restoredTo),
  erased: erased === undefined ? undefined : readErased(erased),
});

/** Adds the options that `restoreOptions` reads. */
const afterRestore = (command: Command): Command =>
  command
    .option('--restored-to <time>', 'the time that the table was restored to; without it the check fails')
    .option('--erased <file>', 'the people erased since then, one per line: user:<id> or email:<address>');

afterRestore(payctl.command('restore-check'))
  .description('checks a restored table: lost and missing records, and the steps before due work is on again')
  .action((given: RestoreInput) => run((installation) => restoreCheck(installation, restoreOptions(given))));

afterRestore(payctl.command('restore-done'))
  .description('lets due work run on a restored table, if restore-check finds nothing that needs attention')
  .option('--anyway', 'even if it finds something')
  .action(({ anyway, ...given }: RestoreInput & { readonly anyway?: boolean }) =>
    run((installation) => restoreDone(installation, { ...restoreOptions(given), anyway })),
  );

payctl
  .command('cancel-lost [subscription...]')
  .description(
    'cancels provider-billed subscriptions that no record here follows, by the provider’s id; asks about each',
  )
  .requiredOption('--restored-to <time>', 'the time that the table was restored to')
  .option('--yes', 'cancel without asking')
  .action((only: readonly string[], { restoredTo, yes }: { readonly restoredTo: string; readonly yes?: boolean }) =>
    run((installation) =>
      cancelLost(installation, {
        ...{ restoredTo: parseTime(restoredTo), only },
        ask: yes ? async () => true : askAtTerminal(),
      }),
    ),
  );

payctl
  .command('orphans')
  .description('lists the payments that were restored without their owner')
  .action(() => run(listOrphans));

payctl
  .command('repeat-erasures <file>')
  .description('repeats the erasures that a restore has undone, one per line: user:<id> or email:<address>')
  .requiredOption('--restored-to <time>', 'the time that the table was restored to')
  .action((file: string, { restoredTo }: { readonly restoredTo: string }) =>
    run((installation) =>
      repeatErasures(installation, { people: readErased(file), restoredTo: parseTime(restoredTo) }),
    ),
  );

payctl
  .command('reconcile <payment>')
  .description('compares one payment, by our id or its provider’s, and stores its status, refunds and disputes')
  .action((payment: string) =>
    process.env[KEY]
      ? call((api) => reconcileByKey(api, payment))
      : run((installation) => reconcile(installation, payment)),
  );

payctl
  .command('refund <payment>')
  .description('refunds a payment, by our id or its provider’s, in whole or in part')
  .option(
    '--amount <minor units>',
    'only this much: 1250 is 12.50 USD, and 1250 JPY; default: what is left',
    parseAmount,
  )
  .addOption(new Option('--reason <reason>').choices(REFUND_REASONS))
  .option('--despite-dispute', 'also while a dispute of the payment is open')
  .option('--dry-run', 'only show what would be refunded')
  .action((payment: string, options: RefundOptions) => call((api) => refund(api, payment, options)));

payctl
  .command('capture <payment>')
  .description('captures a held payment, by our id or its provider’s, once, in whole or in part')
  .option('--amount <minor units>', 'only this much; the rest is released; default: all that is held', parseAmount)
  .action((payment: string, options: CaptureOptions) => call((api) => capture(api, payment, options)));

payctl
  .command('release <payment>')
  .description('releases a held payment, by our id or its provider’s, and captures nothing')
  .action((payment: string) => call((api) => release(api, payment)));

payctl
  .command('preview-change <subscription>')
  .description('previews the cost of another product or quantity; changes nothing')
  .option('--product <id>', 'default: the current product')
  .option('--quantity <number>', 'default: the current quantity', parseQuantity)
  .addOption(new Option('--when <time>', 'default: as the settings PLAN_CHANGE_… say').choices(CHANGE_TIMES))
  .action((id: string, options: PlanOptions) => call((api) => showPreview(api, id, options)));

payctl
  .command('adopt')
  .description('imports the customers of another integration with their methods and subscriptions; charges nothing')
  .addOption(new Option('--slot <slot>', 'the provider slot').choices(PAYMENT_SLOTS).makeOptionMandatory())
  .requiredOption('--map <file>', 'CSV with the header provider_customer_id,owner')
  .option('--products <file>', 'CSV with the header stripe_price_id,product_id')
  .option('--overwrite-metadata', 'take over subscriptions whose metadata names another subscription_id')
  .option('--report <file>', 'default: adopt-report.csv, or adopt-dry-run.csv; a later run continues it')
  .option('--dry-run', 'only show what would be imported')
  .action((options: AdoptOptions) => call((api) => adopt(api, options)));

payctl
  .command('pay-domain')
  .description('registers the host of the hosted pages for Apple Pay at Stripe; safe to repeat')
  .action(() => run(registerPayDomain));

const dlq = payctl.command('dlq').description('messages that exhausted their retries');
dlq
  .command('list [queue]')
  .description('count and contents in short')
  .action((queue?: string) => run((installation) => listDeadLetters(installation, queue)));
dlq
  .command('redrive [queue]')
  .description('moves dead letters back to their queue, and waits until all are moved')
  .action((queue?: string) => run((installation) => redrive(installation, queue)));

const failures = payctl.command('failures').description('changes that readers of the table’s stream gave up on');
failures
  .command('list')
  .description('count and contents in short')
  .action(() => run(listFailures));
failures
  .command('redo')
  .description('sends the changes to the same reader again')
  .option('--dry-run', 'only count, and change nothing')
  .action((options: RedoOptions) => run((installation) => redoFailures(installation, options)));

payctl
  .command('replay')
  .description('sends webhooks again, each event once per target, with its original id')
  .requiredOption('--from <time>', 'attempts from this time on')
  .option('--to <time>', 'attempts up to this time; default: now')
  .requiredOption('--event <pattern>', 'all, a name, or a pattern such as payment.*')
  .option('--target <name>', 'only to this target')
  .option('--dry-run', 'only count, and change nothing')
  .action(({ from, to, ...options }: Omit<ReplayOptions, 'to'> & { readonly to?: string }) =>
    run((installation) => {
      const until = to === undefined ? new Date(installation.now()).toISOString() : parseTime(to);
      return replay(installation, { ...options, from: parseTime(from), to: until });
    }),
  );

const sessions = payctl.command('sessions').description('sessions of the local host');
sessions
  .command('list', { isDefault: true })
  .description('the demo sessions')
  .action(() => run(listDemoSessions));
sessions
  .command('new')
  .description('a new session, for a new user unless --user-id names one')
  .requiredOption('--email <address>')
  .option('--user-id <id>')
  .option('--organization-id <id>')
  .addOption(new Option('--admin', 'a platform admin'))
  .action((options: SessionOptions) => run((installation) => makeSession(installation, options)));

const clocks = payctl.command('clock').description('the clock of the local host');
clocks.command('show', { isDefault: true }).action(() => run((installation) => showOrMoveClock(installation)));
clocks
  .command('advance <duration>')
  .description('90 (seconds), 15m, 3h, 2d or 1w: runs everything that falls due')
  .action((duration: string) =>
    run((installation) => showOrMoveClock(installation, { advance: parseSeconds(duration) })),
  );
clocks
  .command('set <time>')
  .description('forward only')
  .action((time: string) => run((installation) => showOrMoveClock(installation, { set: parseTime(time) })));
clocks.command('freeze').action(() => run((installation) => showOrMoveClock(installation, { freeze: true })));
clocks.command('unfreeze').action(() => run((installation) => showOrMoveClock(installation, { freeze: false })));

await payctl.parseAsync();
