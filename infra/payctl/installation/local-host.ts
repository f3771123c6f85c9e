import * as z from 'zod';
import { type ClosedPart, type OutboundState, PARTS } from '../../local/control/disabled-parts.ts';
import { isSecretSetting } from '../../local/control/start-report.ts';
import { DEMO_OPERATOR_SECRET } from '../../local/host/seed.ts';
import { functionEnvironment, operatorEnvironment, queueUrl } from '../../local/machine/environment.ts';
import { type Api, openApi } from './api.ts';
import { openControl } from './control.ts';
import type { InstallationFacts } from './facts.ts';
import { localFailures } from './local-failures.ts';

const hostSchema = z.object({
  base_path: z.string(),
  dynamodb_endpoint: z.string(),
  queues: z.array(z.string()),
  settings: z.record(z.string(), z.string()),
  closed: z.array(z.object({ part: z.enum(PARTS), reason: z.string() })),
  targets: z.array(z.string()),
  switches_off: z.array(z.string()),
});
const clockSchema = z.object({ now: z.string() });
const DEAD_LETTER = '-dlq';

/** Reads the running local host's own report. Secrets come from this shell or the local defaults. */
export const readLocalHost = async (baseUrl: string): Promise<InstallationFacts> => {
  const control = openControl(baseUrl);
  const host = hostSchema.parse(await control('GET', '/host'));
  const { base_path: basePath, dynamodb_endpoint: dynamoEndpoint, queues, closed } = host;
  const { now } = clockSchema.parse(await control('GET', '/clock'));
  const aheadMs = Date.parse(now) - Date.now();
  const whyClosed = (part: ClosedPart['part']) => closed.find((one) => one.part === part)?.reason;
  const outbound: OutboundState = {
    targets: host.targets,
    closed: whyClosed('outbound webhooks'),
    switchesOff: host.switches_off,
  };
  return {
    name: baseUrl,
    env: {
      ...functionEnvironment(secretsOf(operatorEnvironment()), {
        baseUrl,
        basePath,
        dynamoEndpoint,
        queues,
      }),
      ...host.settings,
    },
    queueUrls: queues.map((queue) => ({
      queue,
      url: queueUrl(baseUrl, queue),
      deadLetterUrl: queueUrl(baseUrl, `${queue}${DEAD_LETTER}`),
    })),
    outbound: async () => outbound,
    whyNoGuestTokens: async () => whyClosed('guest tokens'),
    signatureSecretArn: async () => '',
    alarmSubscriptions: undefined,
    wiring: undefined,
    closed,
    failures: localFailures(control),
    now: () => Date.now() + aheadMs,
    control,
  };
};

/** The local host's API, with the operator key of every local host. @throws NotReachable */
export const openLocalApi = async (baseUrl: string): Promise<Api> => {
  const { base_path: basePath } = hostSchema.parse(await openControl(baseUrl)('GET', '/host'));
  return openApi(`${baseUrl}${basePath}`, DEMO_OPERATOR_SECRET);
};

const secretsOf = (env: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isSecretSetting(name)));
