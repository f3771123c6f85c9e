import { SettingsError } from '../../shared/core/settings.ts';
import { disabledParts } from './control/disabled-parts.ts';
import { type DemoSite, makeDemoData } from './host/demo-data.ts';
import { type Host, startHost } from './host/host.ts';
import { DEMO_SESSIONS } from './identity/identity.ts';
import { isNewFolder } from './machine/data-folder.ts';
import { LOCAL_SECRETS, operatorEnvironment, PUBLISHABLE_KEY, readHostSettings } from './machine/environment.ts';
import { StartError } from './machine/start-error.ts';

/** `npm start`: the local host as a command. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

const main = async (): Promise<void> => {
  const { port, dataDir, basePath, demoData } = readHostSettings(operatorEnvironment());
  const isNew = isNewFolder(dataDir);
  const onLoss = (line: string): never => {
    complain(line);
    process.exit(1);
  };
  const host = await startHost({ port, dataDir, log: complain, onLoss });
  stopOnSignal(host);
  const serviceUrl = `${host.baseUrl}${basePath}`;
  introduce(host, serviceUrl);
  for (const { reason } of await disabledParts(host.env)) print(reason);
  if (demoData === 'demo' && isNew) await showDemoData({ baseUrl: host.baseUrl, serviceUrl });
  await host.warm();
};

/** The host is ready without the demo data: a failure is only reported. */
const showDemoData = async (site: DemoSite): Promise<void> => {
  try {
    print(`Demo data              ${await makeDemoData(site)} payments of demo-owner, with refunds and disputes`);
  } catch (error) {
    if (!stopping) complain(`demo data: ${reasonOf(error)}`);
  }
};

const introduce = (host: Host, serviceUrl: string): void => {
  const payment = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa' };
  const now = new Date(host.clock.now()).toISOString();
  print(`
The service listens on ${serviceUrl}
Reference              ${serviceUrl}/docs
Data                   ${host.folder}
Clock                  ${now}${host.clock.frozen() ? ', frozen' : ''}

Demo sessions, sent as X-Session-ID`);
  for (const { session_id, user_id, email, is_admin } of DEMO_SESSIONS) {
    print(`  ${session_id.padEnd(20)} ${user_id}, ${email}${is_admin ? ', platform admin' : ''}`);
  }
  print(`
Local secrets, good for nothing but this machine
  provider_a           webhook secret ${LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET}, publishable key ${PUBLISHABLE_KEY}
  provider_c           signature key ${LOCAL_SECRETS.PROVIDER_C_SIGNATURE_KEY}, over ${serviceUrl}/webhooks/provider_c
  guest tokens         ${LOCAL_SECRETS.GUEST_TOKEN_SECRET}
  outbound webhook 1   ${LOCAL_SECRETS.WEBHOOK_1_SECRET}

Create a payment:
curl -s -X POST ${serviceUrl}/payments/intents -H 'X-Session-ID: demo-owner' -H 'Content-Type: application/json' -d '${JSON.stringify(payment)}'
`);
};

let stopping = false;

const stopOnSignal = (host: Host): void => {
  const stop = (): void => {
    // The second signal does not wait.
    if (stopping) process.exit(1);
    stopping = true;
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

try {
  await main();
} catch (error) {
  complain(reasonOf(error));
  process.exit(1);
}
