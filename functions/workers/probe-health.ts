import { probeDeps } from '../../shared/host.ts';
import { probeHealth } from '../../shared/workers/probe-health.ts';

export const handler = (): Promise<void> => probeHealth(probeDeps());
