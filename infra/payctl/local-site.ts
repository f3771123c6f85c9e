import * as z from 'zod';
import { functionEnvironment, operatorEnvironment, queueUrl } from '../local/environment.ts';
import { controlOf } from './control.ts';
import type { Site } from './site.ts';

const hostSchema = z.object({ base_path: z.string(), dynamodb_endpoint: z.string(), queues: z.array(z.string()) });
const clockSchema = z.object({ now: z.string() });
const DEAD_LETTER = '-dlq';

/** The local host as it runs: it says where its engine is; settings are the operator's own, as it was started with. */
export const localSite = async (baseUrl: string): Promise<Site> => {
  const control = controlOf(baseUrl);
  const {
    base_path: basePath,
    dynamodb_endpoint: dynamoEndpoint,
    queues,
  } = hostSchema.parse(await control('GET', '/host'));
  const { now } = clockSchema.parse(await control('GET', '/clock'));
  const aheadMs = Date.parse(now) - Date.now();
  return {
    name: baseUrl,
    env: functionEnvironment(operatorEnvironment(), { baseUrl, basePath, dynamoEndpoint, queues }),
    queueUrls: queues.map((queue) => ({
      queue,
      url: queueUrl(baseUrl, queue),
      deadLetterUrl: queueUrl(baseUrl, `${queue}${DEAD_LETTER}`),
    })),
    now: () => Date.now() + aheadMs,
    control,
  };
};
